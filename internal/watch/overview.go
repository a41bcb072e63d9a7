package watch

import (
	"context"

	"github.com/glasshouse-project/glasshouse/internal/watch/overview"
)

// OverviewQuery is what a reader of an overview requests.
type OverviewQuery = overview.Query

// KeepOverview keeps the data of overviews up to date until release is called.
func (a *Access) KeepOverview() (release func()) { return a.cluster.verdicts.Acquire() }

// OverviewChanged returns a channel that is closed at the next change that possibly affects the result of Overview.
func (a *Access) OverviewChanged() <-chan struct{} { return a.cluster.verdicts.Changed() }

// Overview returns the problems in the namespaces of q, and facts about these namespaces, as far as the viewer may see
// them. It starts the watches that it needs. The member Unexamined lists which data is still missing.
func (a *Access) Overview(ctx context.Context, q OverviewQuery) (*overview.Overview, error) {
	defer a.checker.ReleaseAfterResponse(a.KeepOverview()) //nolint:contextcheck // The engine outlives requests.
	c := a.cluster
	return overview.Build(ctx, &overview.Deps{
		Engine: c.verdicts, Cache: &c.encodedCache, LastChange: c.lastChanges.Of, Timeout: c.timeout,
		APIServer: c.catalog.Health,
	}, &a.checker, q)
}
