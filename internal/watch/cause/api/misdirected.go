package api

import (
	"bytes"
	"slices"
	"strings"

	rbac "k8s.io/api/rbac/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// bindings returns the bindings that would apply to the request if they were for the account. The result is nil if not
// all are known.
func (r *request) bindings() []neighbor.Neighbor {
	bindings, isComplete := subject.AllOf(r.Subject, bindingKinds[1], "", maxBindings)
	var local []neighbor.Neighbor
	if r.namespace != "" {
		var ok bool
		local, ok = subject.AllOf(r.Subject, bindingKinds[0], r.namespace, maxBindings)
		isComplete = isComplete && ok
	}
	if !isComplete {
		return nil
	}
	return slices.DeleteFunc(append(bindings, local...), func(n neighbor.Neighbor) bool { return !r.isKnown(&n) })
}

// misdirected returns the only one of the bindings that names a missing account of the same name in another namespace.
// It ignores the account name "default", because each namespace has an account with this name.
func (r *request) misdirected(bindings []neighbor.Neighbor) (n *neighbor.Neighbor, detail string) {
	if r.account.Name() == "default" {
		return nil, ""
	}
	var missing neighbor.Neighbor
	for _, binding := range bindings {
		uses, _ := r.References(binding.ID)
		for _, use := range uses {
			if use.Target.Kind != r.account.Kind || use.Target.Name() != r.account.Name() {
				continue
			}
			other := r.Find(use.Target)
			subject.Follow(r.Subject, &other)
			switch {
			case other.Presence != neighbor.Missing:
			case n != nil && n.ID != binding.ID:
				return nil, ""
			default:
				n, missing = &binding, other
			}
		}
	}
	if n == nil {
		return nil, ""
	}
	r.AddSource(missing.Resource, missing.ID.Namespace())
	return n, n.String() + " is for ServiceAccount " + missing.ID.Namespace() + "/" + missing.ID.Name() +
		", which does not exist"
}

// abandoned returns the only RoleBinding in the namespace of the request that is for all accounts of a missing
// namespace. The content of its role is not known, so the names of the binding and the account must start with the same
// word, which the missing namespace must contain. For example, the binding flag-readers for the accounts of the
// namespace feature-flags is meant for the account flag-sync.
func (r *request) abandoned(bindings []neighbor.Neighbor) (n *neighbor.Neighbor, detail string) {
	word, _, _ := strings.Cut(r.account.Name(), "-")
	var missing *neighbor.Neighbor
	for _, binding := range bindings {
		first, _, _ := strings.Cut(binding.ID.Name(), "-")
		if binding.ID.Kind != bindingKinds[0] || first != word || word == "default" {
			continue
		}
		namespace := missingNamespace(r.Subject, &binding)
		switch {
		case namespace == nil || !strings.Contains(namespace.ID.Name(), word):
		case n != nil:
			return nil, ""
		default:
			n, missing = &binding, namespace
		}
	}
	if n == nil {
		return nil, ""
	}
	r.AddSource(missing.Resource, "")
	return n, n.String() + " is for the service accounts of " + missing.String() +
		", but this namespace does not exist"
}

// missingNamespace returns the namespace to whose service accounts a binding grants permissions, if the binding has no
// other subject, and the namespace does not exist. Otherwise, it returns nil.
func missingNamespace(s *subject.Subject, binding *neighbor.Neighbor) *neighbor.Neighbor {
	subjects := neighbor.Decode[rbac.RoleBinding](binding.Object).Subjects
	if len(subjects) != 1 {
		return nil
	}
	name, ok := strings.CutPrefix(subjects[0].Name, "system:serviceaccounts:")
	if !ok || subjects[0].Kind != rbac.GroupKind {
		return nil
	}
	n := s.Find(graph.NewID(graph.Kind{Kind: "Namespace"}, "", name))
	if subject.Follow(s, &n); n.Presence != neighbor.Missing {
		return nil
	}
	return &n
}

// misnamed returns the only one of the bindings whose only subject is a user with the name of the account. The service
// account was probably meant: users are from another system, and rarely have such a name. A name without a namespace
// counts only in the namespace of the account. The result is nil if another binding already applies to the account:
// its subject is the user or a group with which Kubernetes identifies the account.
func (r *request) misnamed(bindings []neighbor.Neighbor) (n *neighbor.Neighbor, detail string) {
	namespace, name := r.account.Namespace(), r.account.Name()
	if name == "default" || name == "admin" {
		return nil, ""
	}
	qualified := []string{namespace + ":" + name, namespace + "/" + name}
	local := []string{name, "system:serviceaccount:" + name}
	for at := range bindings {
		binding := &bindings[at]
		of := namedSubjects(binding, name)
		if slices.ContainsFunc(of, r.isOwn) {
			return nil, ""
		}
		if len(of) != 1 || of[0].Kind != rbac.UserKind || !slices.Contains(qualified, of[0].Name) &&
			(binding.ID.Namespace() != namespace || !slices.Contains(local, of[0].Name)) {
			continue
		}
		if n != nil || r.isChanged(binding) {
			return nil, ""
		}
		n, detail = binding, binding.String()+" is for the user "+of[0].Name+", and not for the service account "+name
	}
	return n, detail
}

// namedSubjects returns the subjects of a binding if they possibly include a user with the given name, or a group of
// service accounts. It returns none for the bindings of Kubernetes itself, which permit each account only to read its
// own permissions and the description of the API.
func namedSubjects(binding *neighbor.Neighbor, name string) []rbac.Subject {
	text, _ := binding.Object.JSON()
	isPossible := bytes.Contains(text, []byte(name+`"`)) || bytes.Contains(text, []byte(`"system:serviceaccounts`)) ||
		bytes.Contains(text, []byte(`"system:authenticated"`))
	if !isPossible || strings.HasPrefix(binding.ID.Name(), "system:") {
		return nil // This is so for most bindings, so do not decode them.
	}
	return neighbor.Decode[rbac.RoleBinding](binding.Object).Subjects
}

// isOwn reports whether a subject is the user or a group with which Kubernetes identifies the account.
func (r *request) isOwn(of rbac.Subject) bool {
	namespace := r.account.Namespace()
	return of.Kind == rbac.UserKind && of.Name == "system:serviceaccount:"+namespace+":"+r.account.Name() ||
		of.Kind == rbac.GroupKind && slices.Contains([]string{
			"system:serviceaccounts:" + namespace, "system:serviceaccounts", "system:authenticated",
		}, of.Name)
}
