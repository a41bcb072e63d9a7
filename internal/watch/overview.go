package watch

import (
	"context"

	"github.com/glasshouse-project/glasshouse/internal/watch/overview"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// OverviewQuery is what a reader of an overview requests.
type OverviewQuery = overview.Query

// KeepOverview keeps the data of overviews up to date until release is called.
func (a *Access) KeepOverview() (release func()) { return a.cluster.verdicts.Acquire() }

// OverviewChanged returns a channel that is closed when the result of Overview can have changed.
func (a *Access) OverviewChanged() <-chan struct{} { return a.cluster.verdicts.Changed() }

// Overview returns the problems in the namespaces, and facts about them, as far as the viewer may see them. It starts
// the watches that it needs. Unexamined lists which data is still missing.
func (a *Access) Overview(ctx context.Context, q OverviewQuery) (*overview.Overview, error) {
	defer a.checker.ReleaseAfterResponse(a.KeepOverview()) //nolint:contextcheck // The engine outlives requests.
	c := a.cluster
	return overview.Build(ctx, &overview.Deps{
		Engine: c.verdicts, Cache: &c.encodedCache, LastChange: c.lastChanges.Of, Timeout: c.timeout,
		Discovery: func() error {
			resources, _, err := c.catalog.All()
			if len(resources) > 0 {
				return nil
			}
			return err
		},
	}, &a.checker, q)
}

// KeepExplanations keeps the data of explanations up to date until release is called.
func (a *Access) KeepExplanations() (release func()) {
	if !a.cluster.inheritVerdicts {
		return func() {}
	}
	return a.cluster.verdicts.Acquire()
}

// Explanation connects an object with the cause of its verdict, and with the objects that it affects, as far as the
// viewer may see them. The caller must keep the data up to date (see KeepExplanations).
func (a *Access) Explanation(ctx context.Context, ref, namespace, name string) (*overview.Explanation, error) {
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
