package mention

import (
	"regexp"

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
	// requestScope matches the namespace of a request without a permission, or no namespace for the cluster scope.
	requestScope = regexp.MustCompile(`\b(?:in the namespace \\?"([a-z0-9-]+)|at the cluster scope)`)
)

// permissionCause returns the object because of which a service account has no permission, according to a message of
// the API server, or nil: the role or the binding that should permit the request. If it is not clear which one that is,
// permissionCause returns the service account.
func permissionCause(s *subject.Subject, message string) *verdict.Cause {
	found := accountPermission.FindStringSubmatch(message)
	if found == nil {
		return nil
	}
	account := s.Find(graph.NewID(graph.Kind{Kind: "ServiceAccount"}, found[1], found[2]))
	if account.Object == nil {
		return nil // The ServiceAccount was deleted, or is not in the cache.
	}
	subject.Follow(s, &account)
	if scope := requestScope.FindStringSubmatch(message); scope != nil && knowsBindings(s) {
		if n, detail := insufficient(s, account.ID, scope[1]); n != nil {
			subject.Follow(s, n)
			return &verdict.Cause{Object: neighbor.ObjectOf(n), Sentence: message + ". " + detail}
		}
	}
	return &verdict.Cause{Object: neighbor.ObjectOf(&account), Sentence: message}
}

// bindingKinds are the kinds of bindings. Those of the second kind apply to all namespaces.
var bindingKinds = [2]graph.Kind{ //nolint:gochecknoglobals // Constant.
	{Group: rbacGroup, Kind: "RoleBinding"}, {Group: rbacGroup, Kind: "ClusterRoleBinding"},
}

func knowsBindings(s *subject.Subject) bool {
	return s.Find(graph.NewID(bindingKinds[0], "", "")).Presence == neighbor.Missing &&
		s.Find(graph.NewID(bindingKinds[1], "", "")).Presence == neighbor.Missing
}

// maxBindings limits how many bindings are read.
const maxBindings = 10 * neighbor.Limit

// insufficient returns the role or the binding that should permit a request of an account, but does not, and a sentence
// about it. It returns nil if there are several, or none. The namespace is empty for a request at the cluster scope.
func insufficient(s *subject.Subject, account graph.ID, namespace string) (n *neighbor.Neighbor, detail string) {
	users := s.Users(account, maxBindings)
	if len(users) == maxBindings {
		return nil, ""
	}
	var roles []neighbor.Neighbor // The roles that apply to the request.
	var bound []graph.ID          // The bindings that do not apply to the request.
	for _, id := range users {
		isCluster := id.Kind == bindingKinds[1]
		switch {
		case !isCluster && id.Kind != bindingKinds[0]:
		case isCluster || id.Namespace() == namespace:
			binding := s.Find(id)
			s.AddSource(binding.Resource, id.Namespace())
			roles = append(roles, roleOf(s, id)...)
		default:
			bound = append(bound, id)
		}
	}
	switch {
	case len(roles) > 0:
		if role := only(roles); role != nil && role.Object != nil {
			return role, role.String() + ", which is bound to this account, does not permit this"
		}
	case len(bound) == 0:
		return misdirected(s, account, namespace)
	case len(bound) == 1 && namespace == "":
		binding := s.Find(bound[0])
		return &binding, binding.String() + " permits requests only in namespace " + bound[0].Namespace() +
			", but this request is for all namespaces or for an object without a namespace"
	}
	return nil, ""
}

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

// misdirected returns the only binding that applies to a request, and that names a missing account of the same name in
// another namespace.
func misdirected(s *subject.Subject, account graph.ID, namespace string) (n *neighbor.Neighbor, detail string) {
	bindings := s.All(bindingKinds[1], "", maxBindings)
	if namespace != "" {
		bindings = append(bindings, s.All(bindingKinds[0], namespace, maxBindings)...)
	}
	for i := range bindings {
		uses, _ := s.References(bindings[i].ID)
		for _, use := range uses {
			isOther := use.Target.Kind == account.Kind && use.Target.Name() == account.Name()
			other := s.Find(use.Target)
			if !isOther || other.Presence != neighbor.Missing {
				continue
			}
			s.AddSource(other.Resource, use.Target.Namespace())
			if n != nil && n.ID != bindings[i].ID {
				return nil, ""
			}
			n = &bindings[i]
			detail = n.String() + " is for ServiceAccount " + use.Target.Namespace() + "/" + use.Target.Name() +
				", which does not exist"
		}
	}
	return n, detail
}
