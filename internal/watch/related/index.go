// Package related finds the objects that are related to one object, from the index of references and verdicts.
package related

import (
	"context"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/opened"
	"github.com/glasshouse-project/glasshouse/internal/watch/overview"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// An Index reads the index of references and verdicts with the permissions of one viewer. To keep the index of
// references up to date, call Keep.
type Index struct {
	opener    *opened.Opener
	permitted Permitted
}

// Permitted checks whether the viewer may read an object. If not, it returns an error. If yes, it returns a filter: the
// viewer may read the object only if it matches this filter.
type Permitted func(ctx context.Context, ref, namespace, name string) (*query.Filter, error)

// New returns an Index for the viewer of opener. permitted checks which objects this viewer may read.
func New(opener *opened.Opener, permitted Permitted) Index { return Index{opener, permitted} }

// knows reports whether the viewer may use the index (guests may not), and whether the index contains a kind in a
// namespace. Both must be true.
func (i Index) knows(kind graph.Kind, namespace string) bool {
	return i.opener.Verdicts != nil && i.opener.Checker.Viewer.Scope == nil && i.opener.Verdicts.Reads(kind, namespace)
}

// Severity returns the severity of an object, or None if it is not cached. The caller must check permissions.
func (i Index) Severity(r *resource.Resource, namespace, name string) verdict.Severity {
	running := i.opener.Find(i.opener.Checker.Viewer.InformerScope(r, ""))
	if running == nil {
		return verdict.None
	}
	if o, ok, _ := running.Get(informer.Key(namespace, name)); ok {
		return o.Verdict().Severity()
	}
	return verdict.None
}

// Existence is whether an object exists, if the index knows this.
type Existence struct {
	IsKnown bool
	Exists  bool
	UID     string // Empty if the object does not exist.
}

// Existence returns whether an object exists. It returns an error if the viewer may not read the object.
func (i Index) Existence(ctx context.Context, r *resource.Resource, namespace, name string) (Existence, error) {
	o := i.opener
	engine, kind := o.Verdicts, kindOf(r)
	if !i.knows(kind, namespace) {
		return Existence{}, nil
	}
	permitted, err := i.permitted(ctx, r.Ref(), namespace, name)
	if err != nil {
		return Existence{}, err
	}
	o.Checker.RecordObject(r, permitted, authz.VerbList, namespace, name, func() bool {
		return engine.Reads(kind, namespace)
	})
	switch n := engine.Find(graph.NewID(kind, namespace, name)); {
	case n.Object != nil:
		return Existence{IsKnown: true, Exists: true, UID: n.Object.UID()}, nil
	case n.Presence == neighbor.Missing:
		return Existence{IsKnown: true}, nil
	}
	return Existence{}, nil
}

// Keep keeps the index up to date until release is called.
func (i Index) Keep() (release func()) {
	if i.opener.Verdicts == nil {
		return func() {}
	}
	return i.opener.Verdicts.Acquire()
}

// Explanation connects an object with the cause of its verdict, and with the objects that it affects, as far as the
// viewer may see them. Before this call, the caller must call Keep.
func (i Index) Explanation(ctx context.Context, ref, namespace, name string) (*overview.Explanation, error) {
	o := i.opener
	r, err := o.Checker.Resource(ctx, ref)
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
	if o.Verdicts == nil {
		return &overview.Explanation{
			Chain: []overview.Hop{}, Affected: []overview.Affected{},
			Unexamined: []string{"Causes are not examined, because --inherit-verdicts is false."},
		}, nil
	}
	return overview.Explain(ctx, &overview.Deps{Engine: o.Verdicts}, o.Checker, verdict.Object{
		Resource: r.Ref(), Kind: r.Kind, Namespace: namespace, Name: name,
	})
}
