package watch

import (
	"context"
	"time"
)

// holdFirst and holdLast bound the back-off while a resource that is always to
// be watched is not served.
const (
	holdFirst = 2 * time.Second
	holdLast  = 30 * time.Second
)

// hold watches a resource until ctx ends. One that is not served is waited for.
func (c *Cluster) hold(ctx context.Context, ref string) {
	var said string
	for wait := holdFirst; ctx.Err() == nil; wait = min(2*wait, holdLast) {
		open, err := c.openAll(ctx, ref)
		if err == nil {
			<-ctx.Done()
			open.release()
			return
		}
		if said != err.Error() && ctx.Err() == nil {
			said = err.Error()
			c.log.WarnContext(ctx, "cannot be watched yet", "resource", ref, "error", err)
		}
		letGo, err := c.watchDefinitions() //nolint:contextcheck // An informer outlives who starts it.
		c.awaitServed(ctx, ref, wait)
		if err == nil {
			letGo()
		}
	}
}

// openAll holds the informer of all of a resource.
func (c *Cluster) openAll(ctx context.Context, ref string) (*opened, error) {
	access, q := c.For(Viewer{Program: true}), &Query{Resource: ref}
	resource, err := access.Resource(ctx, q.Resource)
	if err != nil {
		return nil, err
	}
	filter, err := access.check(ctx, q, resource, toList, askedOnce())
	if err != nil {
		return nil, err
	}
	return access.open(q, resource, filter) //nolint:contextcheck // An informer outlives who starts it.
}

// awaitServed returns when discovery comes to know a resource, or after long
// enough. Definitions are watched meanwhile, so that it is seldom asked.
func (c *Cluster) awaitServed(ctx context.Context, ref string, long time.Duration) {
	enough, before := time.After(long), c.catalog.knows(ref)
	for {
		raised := c.changed.next()
		if !before && c.catalog.knows(ref) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-enough:
			return
		case <-raised:
		}
	}
}
