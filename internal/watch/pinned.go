package watch

import (
	"context"
	"time"

	"glasshouse/internal/watch/authz"
	"glasshouse/internal/watch/query"
)

// pinnedFirstRetry and pinnedLastRetry are the minimum and maximum time between attempts to watch a pinned resource.
const (
	pinnedFirstRetry = 2 * time.Second
	pinnedLastRetry  = 30 * time.Second
)

// keepWatched watches a pinned resource (--watch) until ctx ends, as soon as the cluster serves it.
func (c *Cluster) keepWatched(ctx context.Context, ref string) {
	var loggedError string
	for wait := pinnedFirstRetry; ctx.Err() == nil; wait = min(2*wait, pinnedLastRetry) {
		open, err := c.openAll(ctx, ref)
		if err == nil {
			<-ctx.Done()
			open.release()
			return
		}
		if loggedError != err.Error() && ctx.Err() == nil {
			loggedError = err.Error()
			c.log.WarnContext(ctx, "cannot watch the resource yet; retrying", "resource", ref, "error", err)
		}
		release, err := c.watchDefinitions() //nolint:contextcheck // An informer outlives the request that starts it.
		c.awaitServed(ctx, ref, wait)
		if err == nil {
			release()
		}
	}
}

// openAll starts to watch all objects of a resource, with this program's permissions. The caller must release the
// result.
func (c *Cluster) openAll(ctx context.Context, ref string) (*openedQuery, error) {
	access, q := c.For(Viewer{Program: true}), &query.Query{Resource: ref}
	resource, err := access.Resource(ctx, q.Resource)
	if err != nil {
		return nil, err
	}
	filter, err := access.check(ctx, q, resource, authz.VerbList, authz.TTLRequest())
	if err != nil {
		return nil, err
	}
	return access.open(q, resource, filter) //nolint:contextcheck // An informer outlives the request that starts it.
}

// awaitServed waits at most timeout until discovery finds a resource. The caller must watch the
// CustomResourceDefinitions meanwhile.
func (c *Cluster) awaitServed(ctx context.Context, ref string, timeout time.Duration) {
	timedOut, before := time.After(timeout), c.catalog.Knows(ref)
	for {
		changed := c.changed.Next()
		// If discovery knew the resource before, wait for the complete timeout.
		if !before && c.catalog.Knows(ref) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-timedOut:
			return
		case <-changed:
		}
	}
}
