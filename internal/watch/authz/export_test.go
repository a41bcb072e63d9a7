package authz

import (
	authorization "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/glasshouse-project/glasshouse/internal/watch/listwatch"
)

// RulesAllow reports whether RBAC rules permit a list (list) and a watch (watch) of a resource.
func RulesAllow(rules []authorization.ResourceRule, group, resource string) (list, watch bool) {
	scope := listwatch.Scope{Resource: schema.GroupVersionResource{Group: group, Version: "v1", Resource: resource}}
	p := newResourceRules(rules)
	return p.allows(scope, "list"), p.allows(scope, "watch")
}
