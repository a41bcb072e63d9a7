package deploy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/glasshouse-project/glasshouse/test/deploy/variant"
)

// For each authentication mode, the Helm chart grants the permissions and mounts the files that the mode needs.
//
// Invariant: I46.
func TestChartSupportsEachMode(t *testing.T) {
	valuesFor := func(mode, folder string, args ...any) map[string]any {
		return map[string]any{
			"auth": map[string]any{"mode": mode}, "service": map[string]any{"enabled": true}, "extraArgs": args,
			"extraVolumes": []any{map[string]any{
				"name": "files", "secret": map[string]any{"secretName": "files"},
			}},
			"extraVolumeMounts": []any{map[string]any{"name": "files", "mountPath": folder, "readOnly": true}},
		}
	}
	for name, test := range map[string]struct {
		mode    string
		objects variant.Objects
		reviews []string
		files   []string
	}{
		"no login": {"none", chart(t, "cluster", nil), nil, nil},
		"tokens":   {"token", chart(t, "team", nil), []string{"tokenreviews", "subjectaccessreviews"}, nil},
		"provider": {
			"oidc", chart(t, "oidc", nil),
			[]string{"subjectaccessreviews"},
			[]string{"--oidc-client-secret-file", "--oidc-ca"},
		},
		"proxy": {
			"proxy", chart(t, "cluster", valuesFor("proxy", "/etc/proxy", "--proxy-secret-file=/etc/proxy/secret")),
			[]string{"subjectaccessreviews"},
			[]string{"--proxy-secret-file"},
		},
		"no login, on all addresses": {
			"shared-identity",
			chart(
				t, "cluster",
				valuesFor("shared-identity", "/etc/tls", "--tls-cert=/etc/tls/tls.crt", "--tls-key=/etc/tls/tls.key"),
			),
			nil,
			[]string{"--tls-cert", "--tls-key"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var reviews, files []string
			read(t, test.objects, "ClusterRole", func(role rbacv1.ClusterRole) {
				for _, rule := range role.Rules {
					if slices.Equal(rule.Verbs, []string{"create"}) {
						reviews = append(reviews, rule.Resources...)
					}
				}
			})
			read(t, test.objects, "Deployment", func(deployment appsv1.Deployment) {
				pod := deployment.Spec.Template.Spec
				args := pod.Containers[0].Args
				if !slices.Contains(args, "--auth="+test.mode) || !areFlags(t, args) {
					t.Errorf("arguments are %v", args)
				}
				for _, arg := range args {
					if flag, file, _ := strings.Cut(arg, "="); strings.HasPrefix(file, "/etc/") &&
						isMounted(&pod, file) {
						files = append(files, flag)
					}
				}
			})
			if !slices.Equal(reviews, test.reviews) {
				t.Errorf("permitted reviews are %v, want %v", reviews, test.reviews)
			}
			if !slices.Equal(files, test.files) {
				t.Errorf("mounted files are %v, want %v", files, test.files)
			}
		})
	}
}

// areFlags reports whether all arguments are flags of the dashboard itself, not those shared with kubectl.
func areFlags(t *testing.T, args []string) bool {
	t.Helper()
	reference, err := os.ReadFile(filepath.Join(root, "docs/reference.md"))
	if err != nil {
		t.Fatal(err)
	}
	own, _, ok := strings.Cut(string(reference), "<!-- generated: kubectl flags -->")
	if !ok {
		t.Fatal("docs/reference.md has no list of kubectl's flags")
	}
	return !slices.ContainsFunc(args, func(arg string) bool {
		flag, _, _ := strings.Cut(arg, "=")
		return !strings.Contains(own, "\n- `"+flag+"`")
	})
}

func isMounted(pod *corev1.PodSpec, file string) bool {
	return slices.ContainsFunc(pod.Containers[0].VolumeMounts, func(mount corev1.VolumeMount) bool {
		return mount.ReadOnly && mount.MountPath == filepath.Dir(file) &&
			slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool {
				return v.Name == mount.Name && v.Secret != nil
			})
	})
}
