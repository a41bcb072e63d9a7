package deploy

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/glasshouse-project/glasshouse/test/deploy/variant"
)

// RBAC rules have no wildcards, permit only reads and reviews, and name each readable Secret.
//
// Invariant: I46.
func TestRulesAreExplicit(t *testing.T) {
	objectsByName := map[string]variant.Objects{
		"helm, with role view and a Secret": chart(t, "team", map[string]any{"rbac": map[string]any{
			"followView": true,
			"secrets":    []any{map[string]any{"namespace": "shop", "names": []any{"storefront-tls"}}},
		}}),
	}
	for _, name := range slices.Concat(variant.Names(), []string{
		"examples/custom-resources", "examples/secret-by-name",
	}) {
		objectsByName[name] = kustomize(t, name)
	}
	for name, objects := range objectsByName {
		t.Run(name, func(t *testing.T) {
			rules := 0
			check := func(role string, rule rbacv1.PolicyRule) {
				rules++
				if slices.Contains(slices.Concat(rule.APIGroups, rule.Resources, rule.Verbs, rule.ResourceNames), "*") ||
					len(rule.NonResourceURLs) > 0 {
					t.Errorf("%s has a wildcard: %v", role, rule)
				}
				for _, resource := range rule.Resources {
					want := []string{"get", "list", "watch"}
					switch resource {
					case "tokenreviews", "subjectaccessreviews":
						want = []string{"create"}
					case "pods/log":
						want = []string{"get"}
					case "secrets":
						want = []string{"get"}
						if len(rule.ResourceNames) == 0 {
							t.Errorf("%s permits Secrets without resourceNames", role)
						}
					}
					if !slices.Equal(rule.Verbs, want) {
						t.Errorf("%s permits %v %s, want %v", role, rule.Verbs, resource, want)
					}
				}
			}
			read(t, objects, "ClusterRole", func(role rbacv1.ClusterRole) {
				for _, rule := range role.Rules {
					check(role.Name, rule)
				}
			})
			read(t, objects, "Role", func(role rbacv1.Role) {
				for _, rule := range role.Rules {
					check(role.Name, rule)
				}
			})
			if rules == 0 {
				t.Error("no rules were checked")
			}
		})
	}
}

// Every argument is a flag of the dashboard. Without a login, the dashboard listens only on loopback.
//
// Invariant: I46.
func TestArgumentsAreFlagsOfTheProgram(t *testing.T) {
	reference, err := os.ReadFile(filepath.Join(root, "docs/reference.md"))
	if err != nil {
		t.Fatal(err)
	}
	missing := map[string]bool{}
	for _, name := range variant.Names() {
		objects := kustomize(t, name)
		read(t, objects, "Deployment", func(deployment appsv1.Deployment) {
			args := deployment.Spec.Template.Spec.Containers[0].Args
			for _, arg := range args {
				flag, _, _ := strings.Cut(arg, "=")
				if !strings.Contains(string(reference), "\n- `"+flag+"`") {
					missing[flag] = true
				}
			}
			loopback := slices.Contains(args, "--listen=127.0.0.1:8080")
			if noAuth := slices.Contains(args, "--auth=none"); noAuth != loopback {
				t.Errorf("%s: arguments are %v; --auth=none requires a loopback address", name, args)
			}
			forwarded := slices.ContainsFunc(args, func(arg string) bool {
				return strings.HasPrefix(arg, "--forwarded-by=")
			})
			if hasIngress := objects["Ingress glasshouse/glasshouse"] != nil; hasIngress != forwarded {
				t.Errorf("%s: has an Ingress: %t; has trusted forwarders: %t", name, hasIngress, forwarded)
			}
		})
	}
	if len(missing) > 0 {
		t.Skipf("skipped until the program has %s", slices.Sorted(maps.Keys(missing)))
	}
}

// The manifests for teams (kustomize/team, helm/team.yaml, helm/oidc.yaml) contain a placeholder for the addresses of
// the trusted proxies. The dashboard does not start until users replace it.
func TestTrustedAddressesArePlaceholders(t *testing.T) {
	for _, file := range []string{"kustomize/team/deployment.yaml", "helm/team.yaml", "helm/oidc.yaml"} {
		t.Run(file, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(root, "deploy", file))
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				if trimmed := strings.TrimSpace(line); strings.HasPrefix(trimmed, "- --forwarded-by=") &&
					!strings.HasPrefix(trimmed, "- --forwarded-by="+variant.Placeholder+" ") ||
					strings.HasPrefix(trimmed, "forwardedBy:") && trimmed != "forwardedBy: ["+variant.Placeholder+"]" {
					t.Errorf("got %s, want a placeholder", trimmed)
				}
			}
			if !strings.Contains(string(text), variant.Placeholder) {
				t.Error("the file contains no placeholder for the addresses")
			}
		})
	}
}

// Only variants with logins configure share admins, who can revoke the share links of other users.
//
// Invariant: I30.
func TestSharesHaveAdmins(t *testing.T) {
	for _, name := range variant.Names() {
		read(t, kustomize(t, name), "Deployment", func(deployment appsv1.Deployment) {
			args := deployment.Spec.Template.Spec.Containers[0].Args
			hasLogin := !slices.Contains(args, "--auth=none") && !slices.Contains(args, "--auth=shared-identity")
			if admins := slices.ContainsFunc(args, func(arg string) bool {
				return strings.HasPrefix(arg, "--share-admins=")
			}); admins != hasLogin {
				t.Errorf("%s: arguments are %v; --share-admins requires a login", name, args)
			}
		})
	}
}

// The pod has more restrictions than the Pod Security Standard requires, for example a read-only root file system.
//
// Invariant: I46.
func TestPodIsRestricted(t *testing.T) {
	for _, name := range variant.Names() {
		read(t, kustomize(t, name), "Deployment", func(deployment appsv1.Deployment) {
			pod := deployment.Spec.Template.Spec
			container := pod.Containers[0]
			if len(pod.Containers) != 1 || len(pod.InitContainers) > 0 ||
				!*container.SecurityContext.ReadOnlyRootFilesystem ||
				*pod.SecurityContext.RunAsUser != 65532 || container.Resources.Limits.Memory().IsZero() ||
				*pod.EnableServiceLinks {
				t.Errorf("%s: pod is %+v", name, pod)
			}
		})
		read(t, kustomize(t, name), "ServiceAccount", func(account corev1.ServiceAccount) {
			if *account.AutomountServiceAccountToken {
				t.Errorf("%s: the service account mounts its token into all pods", name)
			}
		})
	}
}

func TestImageHasTheLabeledVersion(t *testing.T) {
	for _, name := range variant.Names() {
		read(t, kustomize(t, name), "Deployment", func(deployment appsv1.Deployment) {
			version := deployment.Labels["app.kubernetes.io/version"]
			if got := deployment.Spec.Template.Spec.Containers[0].Image; got != "glasshouse:"+version {
				t.Errorf("%s: image is %s, want version %s", name, got, version)
			}
		})
	}
}

// NetworkPolicies allow connections to the pod only from expected namespaces to expected ports.
//
// Invariant: I46.
func TestNetworkPoliciesAllowOnlyExpectedSources(t *testing.T) {
	for name, want := range map[string][]string{
		"cluster": nil, "namespaced": nil, "team": {"ingress-nginx http"}, "monitoring": {"monitoring metrics"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			read(t, kustomize(t, name), "NetworkPolicy", func(policy networkingv1.NetworkPolicy) {
				if len(policy.Spec.PolicyTypes) != 2 {
					t.Errorf("policy types are %v, want two", policy.Spec.PolicyTypes)
				}
				for _, rule := range policy.Spec.Ingress {
					if len(rule.From) != 1 || len(rule.Ports) != 1 || rule.From[0].NamespaceSelector == nil {
						t.Errorf("unexpected ingress rule %v", rule)
						continue
					}
					got = append(got, rule.From[0].NamespaceSelector.MatchLabels["kubernetes.io/metadata.name"]+" "+
						rule.Ports[0].Port.String())
				}
			})
			if !slices.Equal(got, want) {
				t.Errorf("allowed sources are %v, want %v", got, want)
			}
			read(t, kustomize(t, name), "Service", func(service corev1.Service) {
				if service.Spec.Type != "" && service.Spec.Type != corev1.ServiceTypeClusterIP {
					t.Errorf("type of the Service is %s, want ClusterIP", service.Spec.Type)
				}
			})
		})
	}
}

func TestREADMEPathsExist(t *testing.T) {
	for _, file := range []string{"README.md", "deploy/README.md"} {
		t.Run(file, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(root, file))
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range regexp.MustCompile(
				`\bdeploy/(?:kustomize|helm|image)[\w./-]*[\w]`,
			).FindAllString(string(text), -1) {
				if _, err := os.Stat(filepath.Join(root, path)); err != nil {
					t.Errorf("got path %s: %v", path, err)
				}
			}
		})
	}
}

func read[T any](t *testing.T, objects variant.Objects, kind string, each func(T)) {
	t.Helper()
	if err := variant.Decode(objects, kind, each); err != nil {
		t.Fatal(err)
	}
}
