package inherit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/inherit/results"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Cuts returns the lists of which the rules for an object have not read all objects.
func (e *Engine) Cuts(id graph.ID) []results.Cut { return e.cuts.Get(id) }

// Users returns objects that use an object (see neighbor.Cluster), and records whether there are more.
func (r *recorder) Users(id graph.ID, limit int) []graph.ID {
	users := r.Engine.Users(id, limit+1)
	if len(users) <= limit {
		return users
	}
	n := neighbor.Neighbor{ID: id}
	r.cut("objects that use "+n.String(), limit, append(users, id)...)
	return users[:limit]
}

// Owned returns objects with an owner (see neighbor.Cluster), and records whether there are more.
func (r *recorder) Owned(uid string, limit int) []graph.ID {
	owned := r.Engine.Owned(uid, limit+1)
	if len(owned) <= limit {
		return owned
	}
	owner := "a related object"
	if self := r.Engine.Find(r.id); self.Object != nil && self.Object.UID() == uid {
		owner = self.String()
	}
	r.cut("objects that "+owner+" owns", limit, owned...)
	return owned[:limit]
}

// Selected returns pods that a selector selects (see neighbor.Cluster), and records whether there are more.
func (r *recorder) Selected(namespace string, s *objectrefs.Selector, limit int) []graph.ID {
	pods := r.Engine.Selected(namespace, s, limit+1)
	if len(pods) <= limit {
		return pods
	}
	r.cut("pods in namespace "+namespace+" that a selector selects", limit, pods...)
	return pods[:limit]
}

// cutAll records that a rule has read only some objects of a kind in a namespace.
func (r *recorder) cutAll(kind graph.Kind, namespace string, limit int) {
	text := kind.Kind + " objects"
	switch namespace {
	case "":
	case neighbor.AnyNamespace:
		text += " in all namespaces"
	default:
		text += " in namespace " + namespace
	}
	r.cut(text, limit, graph.NewID(kind, strings.TrimPrefix(namespace, neighbor.AnyNamespace), ""))
}

// cut records that a rule has read only some of the objects in a list. The IDs are those of objects in the list.
func (r *recorder) cut(list string, limit int, ids ...graph.ID) {
	c := results.Cut{Text: fmt.Sprintf("Only %d of the %s are examined.", limit, list)}
	if slices.ContainsFunc(r.cuts, func(other results.Cut) bool { return other.Text == c.Text }) {
		return
	}
	seen := make(map[verdict.Sources]bool)
	for _, id := range ids {
		ref := ""
		if served := r.resourceOf(id.Kind); served != nil {
			ref = served.Ref()
		}
		if source := verdict.Source(ref, id.Namespace()); !seen[source] {
			seen[source] = true
			c.Sources = c.Sources.With(source)
		}
	}
	r.cuts = append(r.cuts, c)
}
