package api

import (
	"regexp"
	"slices"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

const rbacGroup = "rbac.authorization.k8s.io"

var (
	// accountPermission matches a message of the API server about a service account without a permission, such as `User
	// "system:serviceaccount:shop:api" cannot list resource "pods"`.
	accountPermission = regexp.MustCompile(`\bsystem:serviceaccount:([a-z0-9-]+):([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)` +
		`\\?["'` + "`" +
		`]?,? (?:cannot|can't|may not|is not (?:allowed|authorized|permitted)|does not have|is missing|lacks)\b`)
	// requestScope matches the scope of a request without a permission. The group captures the namespace. For the
	// cluster scope, the group is empty.
	requestScope = regexp.MustCompile(`\b(?:in the namespace \\?"([a-z0-9-]+)|at the cluster scope)`)
	// escalation matches the message about a service account that tries to grant permissions which it does not have. The
	// first group is "cluster" if the request is for the cluster scope.
	escalation = regexp.MustCompile(`(?:\b(cluster)role(?:binding)?s\.rbac\.authorization\.k8s\.io .{1,100})?` +
		`\buser \\?"system:serviceaccount:([a-z0-9-]+):([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)\\?" .{0,300}\(?is attempting ` +
		`to grant RBAC permissions not currently`)
)

// Permission returns the cause of a message of the API server about a service account without a permission, or
// nil. The cause is the role or the binding that should permit the request. If it is not clear which role or binding
// that is, Permission returns the service account.
func Permission(s *subject.Subject, message string) *verdict.Cause {
	account, scope := refused(message)
	if account.Name() == "" {
		return nil
	}
	return causeOf(s, account, scope, message)
}

// refused returns the service account that lacks a permission according to a message, and the scope of its request. The
// scope is nil if it is unknown. Otherwise, its second item is the namespace, or empty for the cluster scope.
func refused(message string) (account graph.ID, scope []string) {
	kind := graph.Kind{Kind: "ServiceAccount"}
	if found := escalation.FindStringSubmatch(message); found != nil {
		if found[1] != "" {
			scope = []string{"", ""}
		}
		return graph.NewID(kind, found[2], found[3]), scope
	}
	if found := accountPermission.FindStringSubmatch(message); found != nil {
		return graph.NewID(kind, found[1], found[2]), requestScope.FindStringSubmatch(message)
	}
	return graph.ID{}, nil
}

// causeOf returns why a service account lacks the permission for a request, or nil.
func causeOf(s *subject.Subject, id graph.ID, scope []string, message string) *verdict.Cause {
	account := s.Find(id)
	if account.Object == nil {
		return nil // The ServiceAccount was deleted, or is not in the cache.
	}
	subject.Follow(s, &account)
	if scope != nil && knowsBindings(s) {
		r := request{s, account.ID, scope[1], subject.LastEnd(s)}
		if n, detail := r.insufficient(); n != nil {
			subject.Follow(s, n)
			return &verdict.Cause{Object: neighbor.ObjectOf(n), Sentence: subject.Sentences(message, detail)}
		}
	}
	return &verdict.Cause{Object: neighbor.ObjectOf(&account), Sentence: message}
}

// bindingKinds are the kinds of bindings. Those of the second kind apply to all namespaces.
var bindingKinds = [2]graph.Kind{ //nolint:gochecknoglobals // Constant.
	{Group: rbacGroup, Kind: "RoleBinding"}, {Group: rbacGroup, Kind: "ClusterRoleBinding"},
}

func knowsBindings(s *subject.Subject) bool {
	return subject.KnowsAll(s, bindingKinds[0], "") && subject.KnowsAll(s, bindingKinds[1], "")
}

// maxBindings limits how many bindings are read.
const maxBindings = 10 * neighbor.Limit

// request is a request of a service account that was refused.
type request struct {
	*subject.Subject

	account   graph.ID
	namespace string    // Empty for a request at the cluster scope.
	before    time.Time // The latest possible time of the request. Zero if it is not known.
}

// isKnown reports whether a binding or a role exists, and is older than the request.
func (r *request) isKnown(n *neighbor.Neighbor) bool {
	return n.Object != nil && (r.before.IsZero() || !n.Object.Created().After(r.before))
}

// isChanged reports whether a binding or a role was possibly changed after the request.
func (r *request) isChanged(n *neighbor.Neighbor) bool {
	return !r.before.IsZero() && n.Object.ManagedTime().After(r.before)
}

// insufficient returns the role or the binding that should permit the request, but does not, and a sentence about it.
// It returns nil if there are several, or none, or if a binding of the account was changed after the request.
func (r *request) insufficient() (n *neighbor.Neighbor, detail string) {
	users, isComplete := subject.UsersOf(r.Subject, r.account, maxBindings)
	if !isComplete {
		return nil, ""
	}
	bindings := r.bindings()
	lost, lostDetail := r.misdirected(bindings)
	var roles []neighbor.Neighbor        // The roles that apply to the request.
	var using, bound []neighbor.Neighbor // Bindings that apply; RoleBindings in other namespaces to ClusterRoles.
	for _, id := range users {
		isCluster := id.Kind == bindingKinds[1]
		binding := r.Find(id)
		switch {
		case !isCluster && id.Kind != bindingKinds[0] || !r.isKnown(&binding):
		case r.isChanged(&binding):
			return nil, ""
		case isCluster || id.Namespace() == r.namespace:
			roles, using = append(roles, roleOf(r.Subject, id)...), append(using, binding)
		case slices.ContainsFunc(roleOf(r.Subject, id), isClusterRole): // A Role never permits such a request.
			bound = append(bound, binding)
		}
	}
	switch {
	case lost != nil && len(roles) > 0:
		return nil, ""
	case lost != nil:
		return lost, lostDetail
	case len(roles) == 0:
		return r.unbound(bindings, bound)
	}
	if role := only(roles); role != nil && r.isKnown(role) && !r.isChanged(role) {
		for _, binding := range using {
			r.AddSource(binding.Resource, binding.ID.Namespace())
		}
		return role, role.String() + ", which is bound to this account, does not permit this"
	}
	return nil, ""
}

// unbound returns the binding that should be for the account, but is for others or only for another namespace. The
// parameter bound contains the RoleBindings of the account in other namespaces.
func (r *request) unbound(bindings, bound []neighbor.Neighbor) (n *neighbor.Neighbor, detail string) {
	n, detail = r.misnamed(bindings)
	switch {
	case n != nil && len(bound) > 0:
		return nil, ""
	case n != nil:
		return n, detail
	case len(bound) == 1 && r.namespace == "":
		return &bound[0], bound[0].String() + " permits requests only in namespace " + bound[0].ID.Namespace() +
			", but this request is for all namespaces or for an object without a namespace"
	}
	return r.abandoned(bindings)
}

func isClusterRole(n neighbor.Neighbor) bool { return n.ID.Kind.Kind == "ClusterRole" }

// roleOf returns the role to which a binding refers.
func roleOf(s *subject.Subject, binding graph.ID) (roles []neighbor.Neighbor) {
	uses, _ := s.References(binding)
	for n := range uses {
		if uses[n].Via == "roleRef" {
			roles = append(roles, s.Find(uses[n].Target))
		}
	}
	return roles
}

// only returns the neighbor if all neighbors are the same object. Otherwise, it returns nil.
func only(neighbors []neighbor.Neighbor) *neighbor.Neighbor {
	for n := range neighbors {
		if neighbors[n].ID != neighbors[0].ID {
			return nil
		}
	}
	return &neighbors[0]
}
