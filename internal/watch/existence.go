package watch

import (
	"context"
	"errors"
	"time"

	"glasshouse/internal/watch/authz"
	"glasshouse/internal/watch/resource"
	"glasshouse/internal/watch/status"
)

const (
	// existenceMaxAge is how long the result of checking whether a namespace exists is cached. All readers of an empty
	// namespace need that result.
	existenceMaxAge = 3 * time.Second
	// maxCachedNamespaces limits the number of cached results.
	maxCachedNamespaces = 1000
	// maxCheckedNamespaces is how many namespaces of one query are checked whether they exist, one by one.
	maxCheckedNamespaces = 10
	// checkTimeout limits the checks of all these namespaces together, because the rows are not sent before they end.
	checkTimeout = 2 * time.Second
)

// checkNamespaces returns an error if one of the namespaces does not exist. It ignores namespaces that the program
// cannot read, and those of which the viewer must not know. It also ignores namespaces whose check takes too long, and
// those after the first maxCheckedNamespaces.
func (a *Access) checkNamespaces(ctx context.Context, namespaces []string) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	for _, ns := range namespaces[:min(len(namespaces), maxCheckedNamespaces)] {
		if namespaces := (&filter{name: ns}); a.restrict(
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
