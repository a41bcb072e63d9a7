package watch

import (
	"context"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/overview"
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
		Engine: c.verdicts, Cache: &c.encodedCache, LastChange: c.lastChange, Timeout: c.timeout,
		Discovery: func() error {
			resources, _, err := c.catalog.All()
			if len(resources) > 0 {
				return nil
			}
			return err
		},
	}, &a.checker, q)
}

// lastChange returns the newest change of an object's specification that its managedFields record, or nil.
func (c *Cluster) lastChange(ctx context.Context, o verdict.Object) *overview.Change {
	isFresh := func(_ *overview.Change, readAt time.Time) bool { return time.Since(readAt) < lastChangeAge }
	change, _ := c.lastChanges.Get(ctx, o, isFresh, func(ctx context.Context) *overview.Change {
		r, err := c.catalog.Find(ctx, o.Resource)
		if err != nil {
			return nil
		}
		by, err := c.client.SpecAuthor(ctx, r.GVR(), o.Namespace, o.Name)
		if err != nil || by == nil {
			return nil // The finding is shown without a change.
		}
		return &overview.Change{Object: o, At: by.Time, By: by.Manager}
	})
	return change
}

// lastChangeAge is how long a result of lastChange is used. Newer changes are in the history of the watches.
const lastChangeAge = 5 * time.Minute
