//go:build integration

package deploy

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/glasshouse-project/glasshouse/test/deploy/variant"
)

// permission allows one verb on one resource. An empty namespace means all namespaces.
type permission struct{ group, resource, verb, namespace string }

func (p permission) String() string {
	return fmt.Sprintf("%s %s.%s in %q", p.verb, p.resource, p.group, p.namespace)
}

// No variant lets the dashboard read Secrets, or write anything except access reviews and token reviews for logins.
//
// Invariant: I46.
func TestPermissionsOfEachVariant(t *testing.T) {
	c := open(t)
	served := c.servedResources(t)
	defaults := c.permissions(t, "nobody", served)
	for name, reviews := range map[string][]string{
		"cluster": nil, "namespaced": nil, "monitoring": nil, "team": {"subjectaccessreviews", "tokenreviews"},
	} {
		t.Run(name, func(t *testing.T) {
			deploy(t, name)
			eventually(t, "the permissions are effective", func() error {
				allowed, err := c.isAllowed(t.Context(), "glasshouse", authorizationv1.ResourceAttributes{
					Verb: "list", Resource: "pods", Namespace: variant.Namespace,
				})
				if err == nil && !allowed {
					err = fmt.Errorf("%s is not allowed to list pods", account("glasshouse"))
				}
				return err
			})
			granted := c.permissions(t, "glasshouse", served)
			var created []string
			for r := range granted {
				switch {
				case defaults[r]:
				case strings.HasPrefix(r.resource, "secrets"):
					t.Errorf("permission for a Secret: %s", r)
				case name == "namespaced" && r.namespace != variant.Namespace:
					t.Errorf("permission outside the namespace: %s", r)
				case r.verb == "get" && r.resource == "pods/log":
				case r.verb == "create" && r.namespace == "":
					created = append(created, r.resource)
				case r.verb == "create" && slices.Contains(reviews, r.resource):
				case !slices.Contains([]string{"get", "list", "watch"}, r.verb) || strings.Contains(r.resource, "/"):
					t.Errorf("unnecessary permission: %s", r)
				}
			}
			slices.Sort(created)
			if !slices.Equal(created, reviews) {
				t.Errorf("permissions to create are %v, want %v", created, reviews)
			}
			t.Logf("%d of %d checked permissions are granted, in addition to the %d of any service account",
				len(granted)-len(defaults), len(served)*len(verbs())*3, len(defaults))
		})
	}
}

// The dashboard's ClusterRole names every built-in resource except Secrets. A new resource in Kubernetes makes this
// test fail.
//
// Invariant: I46.
func TestBuiltinKindsAreNamed(t *testing.T) {
	c := open(t)
	lists, err := c.Discovery().ServerPreferredResources()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for _, list := range lists {
		group, _, _ := strings.Cut(list.GroupVersion, "/")
		if list.GroupVersion == "v1" {
			group = ""
		}
		if strings.HasSuffix(group, "example.com") || group == "monitoring.coreos.com" {
			continue
		}
		for i := range list.APIResources {
			if r := &list.APIResources[i]; slices.Contains(r.Verbs, "list") && r.Name != "secrets" {
				want[r.Name+"."+group] = true
			}
		}
	}
	got := map[string]bool{}
	for _, rule := range builtInRules(t) {
		for _, resource := range rule.Resources {
			if slices.Contains(rule.Verbs, "list") {
				got[resource+"."+rule.APIGroups[0]] = true
			}
		}
	}
	if got, want := slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)); !slices.Equal(got, want) {
		t.Errorf("resources in deploy/kustomize/cluster/rbac.yaml:\n%s\nresources of the API server:\n%s",
			strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Each example of deploy/kustomize/examples grants the permission that it describes, and no similar one (another verb,
// resource or name). Deleting the example revokes the permission.
//
// Invariant: I46.
func TestExamplesGrantOnlyTheirPermission(t *testing.T) {
	c := open(t)
	deploy(t, "cluster")
	for _, test := range []struct {
		example string
		allowed authorizationv1.ResourceAttributes
		refused []authorizationv1.ResourceAttributes
	}{
		{
			"custom-resources",
			authorizationv1.ResourceAttributes{Verb: "list", Group: "data.example.com", Resource: "backups"},
			[]authorizationv1.ResourceAttributes{
				{Verb: "delete", Group: "data.example.com", Resource: "backups"},
				{Verb: "list", Group: "shop.example.com", Resource: "featureflags"},
			},
		},
		{
			"secret-by-name",
			authorizationv1.ResourceAttributes{
				Verb: "get", Resource: "secrets", Namespace: "shop", Name: "storefront-tls",
			},
			[]authorizationv1.ResourceAttributes{
				{Verb: "get", Resource: "secrets", Namespace: "shop", Name: "storefront-session"},
				{Verb: "get", Resource: "secrets", Namespace: "data", Name: "storefront-tls"},
				{Verb: "list", Resource: "secrets", Namespace: "shop"},
				{Verb: "watch", Resource: "secrets", Namespace: "shop"},
				{Verb: "update", Resource: "secrets", Namespace: "shop", Name: "storefront-tls"},
			},
		},
	} {
		t.Run(test.example, func(t *testing.T) {
			waitUntilAllowed := func(want bool) {
				t.Helper()
				eventually(t, "the permission is effective", func() error {
					allowed, err := c.isAllowed(t.Context(), "glasshouse", test.allowed)
					if err == nil && allowed != want {
						err = fmt.Errorf("permission %v is allowed: %v", test.allowed, allowed)
					}
					return err
				})
			}
			waitUntilAllowed(false)
			folder := root + "/deploy/kustomize/examples/" + test.example
			apply(t, "-k", folder)
			waitUntilAllowed(true)
			for _, attributes := range test.refused {
				if allowed, err := c.isAllowed(t.Context(), "glasshouse", attributes); err != nil || allowed {
					t.Errorf("permission %v: got %v, error %v; want denied", attributes, allowed, err)
				}
			}
			kubectl(t, "delete", "-k", folder)
			waitUntilAllowed(false)
		})
	}
}

// servedResources returns all resources of the API server, the wildcards, and the resources that exist only in RBAC
// rules, such as users.
func (c *cluster) servedResources(t *testing.T) []permission {
	t.Helper()
	_, lists, err := c.Discovery().ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	all := map[permission]bool{
		{group: "*", resource: "*"}: true, {resource: "*"}: true, {resource: "users"}: true, {resource: "groups"}: true,
		{group: "authentication.k8s.io", resource: "uids"}:  true,
		{group: "certificates.k8s.io", resource: "signers"}: true,
	}
	for _, list := range lists {
		group, _, versioned := strings.Cut(list.GroupVersion, "/")
		if !versioned {
			group = ""
		}
		for i := range list.APIResources {
			all[permission{group: group, resource: list.APIResources[i].Name}] = true
		}
	}
	if len(all) < 100 {
		t.Fatalf("the API server serves only %d resources", len(all))
	}
	return slices.Collect(maps.Keys(all))
}

func verbs() []string {
	return []string{
		"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "*",
		"impersonate", "bind", "escalate", "approve", "sign", "attest", "use", "proxy", "associate",
	}
}

// permissions returns what a ServiceAccount may do: in all namespaces, in the dashboard's own one, and in kube-system.
func (c *cluster) permissions(t *testing.T, name string, served []permission) map[permission]bool {
	t.Helper()
	var mu sync.Mutex
	allowed := map[permission]bool{}
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(16)
	for _, resource := range served {
		group.Go(func() error {
			for _, verb := range verbs() {
				for _, namespace := range []string{"", variant.Namespace, metav1.NamespaceSystem} {
					r := permission{resource.group, resource.resource, verb, namespace}
					isAllowed, err := c.hasPermission(ctx, name, r)
					if err != nil {
						return err
					}
					if isAllowed {
						mu.Lock()
						allowed[r] = true
						mu.Unlock()
					}
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	return allowed
}

func (c *cluster) hasPermission(ctx context.Context, name string, r permission) (bool, error) {
	resource, subresource, _ := strings.Cut(r.resource, "/")
	return c.isAllowed(ctx, name, authorizationv1.ResourceAttributes{
		Verb: r.verb, Group: r.group, Resource: resource, Subresource: subresource, Namespace: r.namespace,
	})
}

func builtInRules(t *testing.T) []rbacv1.PolicyRule {
	t.Helper()
	var rules []rbacv1.PolicyRule
	read(t, kustomize(t, "cluster"), "ClusterRole", func(role rbacv1.ClusterRole) {
		rules = append(rules, role.Rules...)
	})
	return rules
}
