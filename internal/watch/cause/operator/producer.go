package operator

import (
	"slices"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Produced replaces the cause of a verdict, if it is a missing object, with the problem of the custom resource for
// which a controller should create this object. For example, a Secret is missing because its Certificate has not been
// issued.
func Produced(s *subject.Subject, v *verdict.Verdict) *verdict.Verdict {
	if v == nil || v.Cause == nil || !v.Cause.Missing || v.Cause.Resource == "" || v.Via != nil {
		return v
	}
	missing := neighbor.IDOf(&v.Cause.Object)
	worst := s.Worst(slices.DeleteFunc(producers(s, missing), func(n neighbor.Neighbor) bool {
		c := n.Object.Verdict().Unpack().Cause
		return c != nil && c.Object == v.Cause.Object // The resource also needs the object, so it does not create it.
	}))
	if worst == nil {
		return v
	}
	s.AddSource(v.Cause.Resource, v.Cause.Namespace) // The sentence still names the missing object.
	produced := s.Inherit(worst, v.Severity, subject.Sentences(v.Sentence, s.Name(worst)+": "))
	produced.Reason, produced.Rule = v.Reason, v.Rule
	return produced
}

// producers returns the custom resources for which a controller creates the object with the given ID.
func producers(s *subject.Subject, id graph.ID) (found []neighbor.Neighbor) {
	add := func(n neighbor.Neighbor) {
		subject.Follow(s, &n)
		if n.Object != nil && n.ID != s.ID {
			found = append(found, n)
		}
	}
	for _, user := range s.Users(id, neighbor.Limit) {
		by := objectrefs.Ref{Group: user.Group, Kind: user.Kind.Kind}
		uses, _ := s.References(user)
		if resource.IsCustom(user.Group) && slices.ContainsFunc(uses, func(u graph.Use) bool {
			return u.Target == id && u.Optional && objectrefs.IsOutput(&by, u.Via)
		}) {
			add(s.Find(user))
		}
	}
	if id.Kind != (graph.Kind{Kind: "Secret"}) {
		return found
	}
	for _, kind := range namesakes {
		n := s.Find(graph.NewID(kind, id.Namespace(), id.Name()))
		target := neighbor.Decode[struct {
			Spec struct {
				Target struct {
					Name string `json:"name"`
				} `json:"target"`
			} `json:"spec"`
		}](n.Object).Spec.Target.Name
		if target == "" || target == id.Name() {
			add(n)
		}
	}
	return found
}

// namesakes are the kinds whose controllers create a Secret with the name of the custom resource.
var namesakes = []graph.Kind{ //nolint:gochecknoglobals // Constant.
	{Group: "external-secrets.io", Kind: "ExternalSecret"}, {Group: "bitnami.com", Kind: "SealedSecret"},
}
