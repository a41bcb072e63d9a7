//go:build integration

package deploy

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/glasshouse-project/glasshouse/test/deploy/variant"
)

// The Pod Security Standard "restricted" accepts the dashboard's pod. It rejects the pod if any required setting is
// missing.
//
// Invariant: I46.
func TestPodSecurityIsEnforced(t *testing.T) {
	c := open(t)
	deploy(t, "cluster")
	for name, test := range map[string]struct {
		remove  func(*corev1.PodSpec)
		wantErr string
	}{
		"unchanged": {func(*corev1.PodSpec) {}, ""},
		"root":      {func(p *corev1.PodSpec) { p.SecurityContext.RunAsNonRoot = nil }, "runAsNonRoot"},
		"user 0":    {func(p *corev1.PodSpec) { p.SecurityContext.RunAsUser = new(int64) }, "runAsUser"},
		"no seccomp profile": {func(p *corev1.PodSpec) {
			p.SecurityContext.SeccompProfile = nil
		}, "seccompProfile"},
		"escalation": {func(p *corev1.PodSpec) {
			p.Containers[0].SecurityContext.AllowPrivilegeEscalation = nil
		}, "allowPrivilegeEscalation"},
		"capabilities": {func(p *corev1.PodSpec) {
			p.Containers[0].SecurityContext.Capabilities = nil
		}, "capabilities"},
		"host network": {func(p *corev1.PodSpec) { p.HostNetwork = true }, "host namespaces"},
	} {
		t.Run(name, func(t *testing.T) {
			read(t, kustomize(t, "cluster"), "Deployment", func(deployment appsv1.Deployment) {
				pod := &corev1.Pod{
					ObjectMeta: metav1.ObjectMeta{Name: "test", Namespace: variant.Namespace},
					Spec:       deployment.Spec.Template.Spec,
				}
				test.remove(&pod.Spec)
				_, err := c.CoreV1().Pods(variant.Namespace).Create(t.Context(), pod, metav1.CreateOptions{
					DryRun: []string{metav1.DryRunAll},
				})
				switch {
				case test.wantErr == "" && err != nil:
					t.Errorf("create the pod: got error %v", err)
				case test.wantErr != "" &&
					(err == nil || !strings.Contains(
						err.Error(), "violates PodSecurity",
					) || !strings.Contains(err.Error(), test.wantErr)):
					t.Errorf("got error %v, want a denial with %s", err, test.wantErr)
				}
			})
		})
	}
}
