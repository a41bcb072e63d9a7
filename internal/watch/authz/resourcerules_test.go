package authz_test

import (
	"testing"

	authorization "k8s.io/api/authorization/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
)

// As in the API server, a rule that is limited to object names or to a subresource does not allow a list of the
// resource.
// Invariant: I20.
func TestLimitedResourceRulesAllowNoList(t *testing.T) {
	rule := func(group, resource, verb string, names ...string) authorization.ResourceRule {
		return authorization.ResourceRule{
			APIGroups:     []string{"a.example", group},
			Resources:     []string{"others", resource},
			Verbs:         []string{"get", verb},
			ResourceNames: names,
		}
	}
	for _, test := range []struct {
		name        string
		rule        authorization.ResourceRule
		list, watch bool
	}{
		{"the verb", rule("apps", "deployments", "list"), true, false},
		{"the other verb", rule("apps", "deployments", "watch"), false, true},
		{"all verbs", rule("apps", "deployments", "*"), true, true},
		{"all resources of the group", rule("apps", "*", "list"), true, false},
		{"the resource in all groups", rule("*", "deployments", "list"), true, false},
		{"another group", rule("", "deployments", "*"), false, false},
		{"another resource", rule("apps", "replicasets", "*"), false, false},
		{"a subresource", rule("apps", "deployments/scale", "*"), false, false},
		{"a subresource of all", rule("apps", "*/scale", "*"), false, false},
		{"another verb", rule("apps", "deployments", "create"), false, false},
		{"rule with resourceNames", rule("apps", "deployments", "*", "web"), false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if list, watch := authz.RulesAllow(
				[]authorization.ResourceRule{test.rule}, "apps", "deployments",
			); list != test.list || watch != test.watch {
				t.Errorf("RulesAllow: got list %t, watch %t; want %t, %t", list, watch, test.list, test.watch)
			}
		})
	}
}
