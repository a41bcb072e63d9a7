package watch

import (
	"context"
	"slices"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/overview"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// maxNeighbors limits the objects of each relation of a Neighbors.
const maxNeighbors = 10_000

// Neighbors are the objects that are related to one object, from the index of references. They can include objects
// that the viewer may not read; Snapshot returns only those that the viewer may read.
type Neighbors struct {
	access     *Access
	namespace  string
	keys       map[graph.Kind][]string
	dependents []graph.Kind
}

// An Index reads the index of references and verdicts with the permissions of one viewer. Keep keeps it up to date.
type Index struct{ access *Access }

// IndexOf returns the Index of a cluster for a viewer.
func IndexOf(a *Access) Index { return Index{a} }

// Neighbors returns the objects that are related to an object. ok is false if the index does not contain the object's
// resource, and for guests, because values of custom resources are masked for guests.
func (i Index) Neighbors(r *resource.Resource, namespace, name string) (neighbors *Neighbors, ok bool) {
	a := i.access
	engine, kind := a.cluster.verdicts, kindOf(r)
	if a.IsGuest() || !a.cluster.inheritVerdicts || !engine.Reads(kind, namespace) {
		return nil, false
	}
	related := engine.Related(graph.NewID(kind, namespace, name), maxNeighbors)
	n := &Neighbors{access: a, namespace: namespace, keys: make(map[graph.Kind][]string)}
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

// Covers reports whether Snapshot returns all related objects of a resource.
func (n *Neighbors) Covers(r *resource.Resource) bool {
	namespace := ""
	if r.Namespaced {
		namespace = n.namespace
	}
	return n.access.cluster.verdicts.Indexes(kindOf(r), namespace)
}

// Depend reports whether objects of a resource use the object, or are owned by it.
func (n *Neighbors) Depend(r *resource.Resource) bool {
	return slices.Contains(n.dependents, kindOf(r))
}

// Includes reports whether an object is one of the neighbors, also if it does not exist.
func (n *Neighbors) Includes(r *resource.Resource, namespace, name string) bool {
	return slices.Contains(n.keys[kindOf(r)], informer.Key(namespace, name))
}

// Snapshot returns the neighbors of a resource that match the query and that the viewer may read, by namespace and
// name.
func (n *Neighbors) Snapshot(ctx context.Context, q query.Query) (*Snapshot, error) {
	a := n.access
	open, err := a.open(ctx, &q, authz.VerbList, authz.TTLRequest())
	if err != nil {
		return nil, err
	}
	defer a.checker.ReleaseAfterResponse(open.release)
	now := open.informer.VisibleState(open.filter)
	open.filter.Columns = now.Columns
	s := &Snapshot{
		Resource: open.resource, Columns: now.Columns, Status: now.Status, Synced: now.Synced,
		IsPartial: open.filter.IsPartial,
	}
	if !now.Synced {
		return s, ctx.Err()
	}
	a.checker.RecordRows(open.resource, open.filter, func() bool {
		return open.informer.CurrentState(nil).Version == now.Version
	})
	for _, key := range n.keys[kindOf(open.resource)] {
		if o, ok, _ := open.informer.Get(key); ok && open.filter.Match(o) {
			s.Objects = append(s.Objects, open.filter.Shown(o))
		}
	}
	slices.SortFunc(s.Objects, func(x, y *Item) int {
		return informer.CompareKeys(informer.Key(x.Namespace(), x.Name()), informer.Key(y.Namespace(), y.Name()))
	})
	s.Total = len(s.Objects)
	return s, ctx.Err()
}

// Severity returns the severity of a cached object, or None. The viewer must be permitted to read the object.
func (i Index) Severity(r *resource.Resource, namespace, name string) verdict.Severity {
	running := i.access.cluster.find(i.access.checker.Viewer.InformerScope(r, ""))
	if running == nil {
		return verdict.None
	}
	if o, ok, _ := running.Get(informer.Key(namespace, name)); ok {
		return o.Verdict().Severity()
	}
	return verdict.None
}

// Existence is what the index knows about an object.
type Existence struct {
	IsKnown bool
	Exists  bool
	UID     string // Empty if the object does not exist.
}

// Existence returns whether an object exists. It returns an error if the viewer may not read the object.
func (i Index) Existence(ctx context.Context, r *resource.Resource, namespace, name string) (Existence, error) {
	a := i.access
	engine, kind := a.cluster.verdicts, kindOf(r)
	if a.IsGuest() || !a.cluster.inheritVerdicts || !engine.Reads(kind, namespace) {
		return Existence{}, nil
	}
	o, err := a.readable(ctx, r.Ref(), namespace, name)
	if err != nil {
		return Existence{}, err
	}
	a.checker.RecordObject(r, o.permitted, authz.VerbList, namespace, name, func() bool {
		return engine.Reads(kind, namespace)
	})
	switch n := engine.Find(graph.NewID(kind, namespace, name)); {
	case n.Object != nil:
		return Existence{IsKnown: true, Exists: true, UID: n.Object.UID()}, nil
	case n.Presence == cause.Missing:
		return Existence{IsKnown: true}, nil
	}
	return Existence{}, nil
}

// Keep keeps the index up to date until release is called.
func (i Index) Keep() (release func()) {
	if !i.access.cluster.inheritVerdicts {
		return func() {}
	}
	return i.access.cluster.verdicts.Acquire()
}

// Explanation connects an object with the cause of its verdict, and with the objects that it affects, as far as the
// viewer may see them. The caller must call Keep before.
func (i Index) Explanation(ctx context.Context, ref, namespace, name string) (*overview.Explanation, error) {
	a := i.access
	r, err := a.Resource(ctx, ref)
	if err != nil {
		return nil, err
	}
	if r.Namespaced != (namespace != "") || name == "" {
		return nil, status.Invalidf("Invalid object",
			"The view explanation needs a name, and exactly one namespace in ns if the resource is namespaced.")
	}
	if err := query.CheckName(name); err != nil {
		return nil, err
	}
	if namespace != "" {
		if err := query.CheckNamespace(namespace); err != nil {
			return nil, err
		}
	}
	if !a.cluster.inheritVerdicts {
		return &overview.Explanation{
			Chain: []overview.Hop{}, Affected: []overview.Affected{},
			Unexamined: []string{"Causes are not examined, because --inherit-verdicts is false."},
		}, nil
	}
	return overview.Explain(ctx, &overview.Deps{Engine: a.cluster.verdicts}, &a.checker, verdict.Object{
		Resource: r.Ref(), Kind: r.Kind, Namespace: namespace, Name: name,
	})
}
