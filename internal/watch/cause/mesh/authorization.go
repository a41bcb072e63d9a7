package mesh

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
)

//nolint:gochecknoglobals // Constant.
var authorizationPolicyKind = graph.Kind{Group: "security.istio.io", Kind: "AuthorizationPolicy"}

type authorizationPolicy struct {
	Metadata struct {
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		Selector struct {
			MatchLabels map[string]string `json:"matchLabels"`
		} `json:"selector"`
		TargetRef  any    `json:"targetRef"`
		TargetRefs []any  `json:"targetRefs"`
		Action     string `json:"action"` // Empty for ALLOW.
		Rules      []rule `json:"rules"`  // Without rules, the policy matches no request.
	} `json:"spec"`
}

// rule is a rule of a policy. Without sources, it is for all clients. Its other members can only restrict it further.
type rule struct {
	From []struct {
		Source source `json:"source"`
	} `json:"from"`
}

// source is a set of clients. Its other members can only restrict it further.
type source struct {
	Principals      []string `json:"principals"` // Of the form DOMAIN/ns/NAMESPACE/sa/ACCOUNT.
	Namespaces      []string `json:"namespaces"`
	ServiceAccounts []string `json:"serviceAccounts"` // Of the form NAMESPACE/ACCOUNT or ACCOUNT.
}

// appliedPolicy is a policy with its content.
type appliedPolicy struct {
	neighbor.Neighbor

	content authorizationPolicy
}

// Denying returns the AuthorizationPolicy because of which the sidecars of servers deny the requests of a client, which
// also has a sidecar: the only policy that permits requests to these servers is not for the account of the client. It
// returns nil if another policy possibly denies the requests, or if that is not known. The servers are pods of one
// Service.
func Denying(s *subject.Subject, client *corev1.Pod, servers []corev1.Pod) (by *neighbor.Neighbor) {
	if !hasSidecar(client) || len(servers) == 0 {
		return nil
	}
	all, ok := authorizationPolicies(s, servers[0].Namespace)
	if !ok {
		return nil
	}
	for n := range servers {
		policy := denying(all, client, &servers[n])
		if policy == nil || by != nil && by.ID != policy.ID {
			return nil
		}
		by = policy
	}
	return by
}

// denying returns the only policy that permits requests to a server, if it does not permit those of a client.
func denying(all []appliedPolicy, client, server *corev1.Pod) (by *neighbor.Neighbor) {
	if !hasSidecar(server) || isGateway(server) || isPartlyCaptured(server) {
		return nil
	}
	for n := range all {
		spec := &all[n].content.Spec
		if labels := spec.Selector.MatchLabels; len(labels) > 0 {
			if selector := objectrefs.SelectorOf(labels); selector == nil || !selector.Matches(server.Labels) {
				continue
			}
		}
		isMatch := slices.ContainsFunc(spec.Rules, func(r rule) bool { return r.canBeFor(client) })
		switch action := cmp.Or(spec.Action, "ALLOW"); {
		case action == "AUDIT":
		case isMatch, action == "ALLOW" && by != nil:
			return nil
		case action == "ALLOW":
			by = &all[n].Neighbor
		}
	}
	return by
}

// authorizationPolicies returns the policies that can apply to pods with a sidecar in a namespace. ok is false if not
// all policies are known, or if a waypoint proxy possibly applies policies, too.
func authorizationPolicies(s *subject.Subject, namespace string) (found []appliedPolicy, ok bool) {
	for _, from := range slices.Compact([]string{namespace, istioRoot}) {
		all, isComplete := subject.AllOf(s, authorizationPolicyKind, from, neighbor.Limit)
		if !isComplete {
			return nil, false
		}
		for n := range all {
			policy := appliedPolicy{all[n], neighbor.Decode[authorizationPolicy](all[n].Object)}
			hasTarget := policy.content.Spec.TargetRef != nil || len(policy.content.Spec.TargetRefs) > 0
			switch {
			case policy.content.Metadata.Annotations["istio.io/dry-run"] == "true":
			case hasTarget:
				return nil, false
			default:
				found = append(found, policy)
			}
		}
	}
	return found, true
}

// canBeFor reports whether a rule possibly matches requests of a client.
func (r *rule) canBeFor(client *corev1.Pod) bool {
	if len(r.From) == 0 {
		return true
	}
	namespace, account := client.Namespace, cmp.Or(client.Spec.ServiceAccountName, "default")
	contains := func(all []string, matches func(pattern string) bool) bool {
		return len(all) == 0 || slices.ContainsFunc(all, matches)
	}
	for n := range r.From {
		from := &r.From[n].Source
		isMatch := contains(from.Principals, func(pattern string) bool {
			return canBePrincipal(pattern, "/ns/"+namespace+"/sa/"+account)
		}) && contains(from.Namespaces, func(pattern string) bool {
			return canMatch(pattern, namespace)
		}) && contains(from.ServiceAccounts, func(name string) bool {
			return name == account || name == namespace+"/"+account
		})
		if isMatch {
			return true
		}
	}
	return false
}

// canBePrincipal reports whether a pattern possibly matches a principal that ends with a path. The trust domain, with
// which the principal starts, is unknown.
func canBePrincipal(pattern, path string) bool {
	if end, ok := strings.CutPrefix(pattern, "*"); ok {
		return strings.HasSuffix(path, end) || strings.HasSuffix(end, path)
	}
	_, after, ok := strings.Cut(pattern, "/")
	return canMatch("/"+after, path) || !ok && strings.HasSuffix(pattern, "*")
}

// canMatch reports whether a pattern matches a value. It can start or end with an asterisk.
func canMatch(pattern, value string) bool {
	if end, ok := strings.CutPrefix(pattern, "*"); ok {
		return strings.HasSuffix(value, end)
	}
	if start, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(value, start)
	}
	return pattern == value
}
