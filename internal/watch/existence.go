package watch

import (
	"context"
	"errors"
	"time"

	"glasshouse/internal/watch/authz"
	"glasshouse/internal/watch/query"
	"glasshouse/internal/watch/resource"
	"glasshouse/internal/watch/status"
)

const (
	// existenceMaxAge is how long the Cluster caches whether a namespace exists.
	existenceMaxAge      = 3 * time.Second
	maxCachedNamespaces  = 1000
	maxCheckedNamespaces = 10
	// checkTimeout is the maximum time of all existence checks of one query, whose result waits for them.
	checkTimeout = 2 * time.Second
)

// checkNamespaces returns an error if one of the namespaces does not exist. It skips namespaces that may not be read.
func (a *Access) checkNamespaces(ctx context.Context, namespaces []string) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	for _, ns := range namespaces[:min(len(namespaces), maxCheckedNamespaces)] {
		if namespaces := (&query.Filter{Name: ns}); a.restrict(
			ctx, resource.Namespaces(), namespaces, authz.VerbGet, authz.TTLRequest(),
		) != nil {
			continue
		}
		isFresh := func(_ error, startedAt time.Time) bool { return time.Since(startedAt) < existenceMaxAge }
		if err, ok := a.cluster.namespaceExistence.Get(ctx, ns, isFresh, func(ctx context.Context) error {
			return a.cluster.checkNamespaceExists(ctx, ns)
		}); ok && err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) checkNamespaceExists(ctx context.Context, ns string) error {
	_, err := c.get(ctx, resource.Namespaces().GVR(), "", ns)
	if p := new(status.Problem); err != nil && errors.As(problemOf(err, ns), &p) && p.Cause == status.Unknown {
		return status.Unknownf(
			"Unknown namespace",
			"Namespace %q does not exist. core/v1/namespaces lists those that exist.",
			ns,
		)
	}
	return nil
}
