package related

import (
	"context"
	"slices"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/opened"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
)

// maxNeighbors is the maximum number of related objects in a Neighbors, for each type of relation.
const maxNeighbors = 10_000

// Neighbors are the objects that are related to one object, from the index of references. They can include objects
// that the viewer may not read; Snapshot returns only those that the viewer may read.
type Neighbors struct {
	opener     *opened.Opener
	namespace  string
	keys       map[graph.Kind][]string
	dependents []graph.Kind
}

// Neighbors returns the objects that are related to an object. ok is false if the index does not contain the object's
// resource. ok is also false for guests, because relations can reveal values that are masked for guests.
func (i Index) Neighbors(r *resource.Resource, namespace, name string) (neighbors *Neighbors, ok bool) {
	o := i.opener
	engine, kind := o.Verdicts, kindOf(r)
	if !i.knows(kind, namespace) {
		return nil, false
	}
	related := engine.Related(graph.NewID(kind, namespace, name), maxNeighbors)
	n := &Neighbors{opener: o, namespace: namespace, keys: make(map[graph.Kind][]string)}
	for _, id := range related.All {
		n.keys[id.Kind] = append(n.keys[id.Kind], id.Key)
	}
	for _, id := range related.Dependents {
		if !slices.Contains(n.dependents, id.Kind) {
			n.dependents = append(n.dependents, id.Kind)
		}
	}
	return n, true
}

func kindOf(r *resource.Resource) graph.Kind { return graph.Kind{Group: r.Group, Kind: r.Kind} }

// Covers reports whether the index contains all objects of the resource r, so that Snapshot misses no neighbor.
func (n *Neighbors) Covers(r *resource.Resource) bool {
	namespace := ""
	if r.Namespaced {
		namespace = n.namespace
	}
	return n.opener.Verdicts.Indexes(kindOf(r), namespace)
}

// Depend reports whether objects of the resource r use the object of n, or are owned by this object.
func (n *Neighbors) Depend(r *resource.Resource) bool {
	return slices.Contains(n.dependents, kindOf(r))
}

// Includes reports whether an object is one of the neighbors. A neighbor can be an object that does not exist.
func (n *Neighbors) Includes(r *resource.Resource, namespace, name string) bool {
	return slices.Contains(n.keys[kindOf(r)], informer.Key(namespace, name))
}

// Snapshot returns the neighbors that belong to the resource of the query, match the query, and are readable for the
// viewer. They are sorted by namespace and name.
func (n *Neighbors) Snapshot(ctx context.Context, q query.Query) (*opened.Snapshot, error) {
	opener := n.opener
	open, err := opener.Open(ctx, &q, authz.VerbList, authz.TTLRequest())
	if err != nil {
		return nil, err
	}
	defer opener.Checker.ReleaseAfterResponse(open.Release)
	now := open.Informer.VisibleState(open.Filter)
	open.Filter.Columns = now.Columns
	s := &opened.Snapshot{
		Resource: open.Resource, Columns: now.Columns, Status: now.Status, Synced: now.Synced,
		IsPartial: open.Filter.IsPartial,
	}
	if !now.Synced {
		return s, ctx.Err()
	}
	opener.Checker.RecordRows(open.Resource, open.Filter, func() bool {
		return open.Informer.CurrentState(nil).Version == now.Version
	})
	for _, key := range n.keys[kindOf(open.Resource)] {
		if o, ok, _ := open.Informer.Get(key); ok && open.Filter.Match(o) {
			s.Objects = append(s.Objects, open.Filter.Shown(o))
		}
	}
	slices.SortFunc(s.Objects, func(x, y *compact.Object) int {
		return informer.CompareKeys(informer.Key(x.Namespace(), x.Name()), informer.Key(y.Namespace(), y.Name()))
	})
	s.Total = len(s.Objects)
	return s, ctx.Err()
}
