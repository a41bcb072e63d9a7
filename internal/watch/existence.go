package watch

import (
	"context"
	"errors"
	"time"
)

const (
	// rememberedFor is how long it is remembered whether a namespace exists: all who
	// look at an empty one ask.
	rememberedFor = 3 * time.Second
	// maxRemembered bounds the namespaces of which it is.
	maxRemembered = 1000
	// maxChecked is how many namespaces are asked for, one by one.
	maxChecked = 10
	// checkTimeout bounds all of that: who waits for rows is told no sooner.
	checkTimeout = 2 * time.Second
)

// checkNamespaces tells of a namespace that does not exist. One that may not be
// read, or of which the viewer may not know, passes, and so does what is not answered
// in time, or after the first few.
func (a *Access) checkNamespaces(ctx context.Context, namespaces []string) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	for _, ns := range namespaces[:min(len(namespaces), maxChecked)] {
		if namespaces := (&filter{name: ns}); a.narrow(ctx, namespaceResource(), namespaces, toGet, askedOnce()) != nil {
			continue
		}
		young := func(_ error, asked time.Time) bool { return time.Since(asked) < rememberedFor }
		if err, ok := a.cluster.existing.get(ctx, ns, young, func(ctx context.Context) error { return a.cluster.checkNamespace(ctx, ns) }); ok && err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) checkNamespace(ctx context.Context, ns string) error {
	_, err := c.get(ctx, namespaceResource().gvr(), "", ns)
	if p := new(Problem); err != nil && errors.As(problemOf(err, ns), &p) && p.Cause == Unknown {
		return unknown("Unknown namespace", "The cluster has no namespace %q. Those that it has are the rows of core/v1/namespaces.", ns)
	}
	return nil
}
