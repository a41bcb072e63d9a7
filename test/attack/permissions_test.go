package attack

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Responses to guests (viewers of a share link) must not mention permissions. They also must not reveal whether the
// cluster serves a kind that is not shared.
func TestRelatedHidesUnsharedKindsFromGuests(t *testing.T) {
	t.Parallel()
	runOnEach(t, func(p *probe) {
		s := p.open()
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "related"},
			Spec: corev1.PodSpec{
				NodeSelector: map[string]string{"none": "such"}, ServiceAccountName: "unprivileged",
				Containers: []corev1.Container{{Name: "c", Image: "example.com/c", EnvFrom: []corev1.EnvFromSource{
					{ConfigMapRef: &corev1.ConfigMapEnvSource{
						LocalObjectReference: corev1.LocalObjectReference{Name: "small-0"},
					}},
					{SecretRef: &corev1.SecretEnvSource{
						LocalObjectReference: corev1.LocalObjectReference{Name: "hidden"},
					}},
				}}},
			},
		}
		_, err := s.Core.CoreV1().Pods(s.namespace).Create(p.Context(), pod, metav1.CreateOptions{})
		s.check(ignoreExisting(err))
		ref := "core/v1/pods/" + s.namespace + "/related"
		_, guest := s.share("/o/"+ref, part{
			Resource: "core/v1/pods", Namespaces: []string{s.namespace}, Name: "related",
		})
		a := s.do(get("/api/v1/related/"+ref, guest))
		if a.status != http.StatusOK {
			s.Fatalf("related objects: got %d %s, want 200", a.status, a.body)
		}
		p.Logf("response: %s", a.body)
		wrong := regexp.MustCompile(
			`(?i)serves no|does not serve|not available|you can.?not|you can't|you may not|you are not allowed|`+
				`forbidden: |rbac|permission`,
		).FindAllString(a.body, -1)
		s.require(len(wrong) == 0, "texts in the graph of a guest", "nothing about permissions or the cluster",
			"%d times: %s",
			len(wrong), strings.Join(distinct(wrong), ", "))
	})
}

// If a Role allows the verb get for namespaces, the user can read the Namespace that contains the Role, as with
// kubectl.
func TestNamespacedRoleGetsItsNamespace(t *testing.T) {
	t.Parallel()
	runOnEach(t, func(p *probe) {
		s := p.open()
		namespace := must(s.Namespace(p.Context()))(p)
		rule := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"get"}}
		token := must(s.user(p.Context(), namespace, "reader", rule))(p)
		own := s.do(get("/api/v1/object/core/v1/namespaces/_/"+namespace, bearer(token)))
		other := s.do(get("/api/v1/object/core/v1/namespaces/_/"+s.namespace, bearer(token)))
		absent := s.do(get("/api/v1/object/core/v1/namespaces/_/no-such-namespace", bearer(token)))
		met := own.status == http.StatusOK && other.status == http.StatusForbidden &&
			absent.status == http.StatusForbidden
		s.require(met, "namespaced Role with get namespaces",
			"200 for its namespace, 403 for existing and unknown other namespaces",
			"%d, %d, %d", own.status, other.status, absent.status)
	})
}
