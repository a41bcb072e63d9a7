package watch

import (
	"context"
	"errors"
	"time"
)

const (
	// rememberedFor is how long the result of checking whether a namespace exists is cached. All readers of an empty
	// namespace need that result.
	rememberedFor = 3 * time.Second
	// maxRemembered limits the number of cached results.
	maxRemembered = 1000
	// maxChecked is how many namespaces of one query are checked whether they exist, one by one.
	maxChecked = 10
	// checkTimeout limits the checks of all these namespaces together, because the rows are not sent before they end.
	checkTimeout = 2 * time.Second
)

// checkNamespaces returns an error if one of the namespaces does not exist. It ignores namespaces that the program
// cannot read, and those of which the viewer must not know. It also ignores namespaces whose check takes too long, and
// those after the first maxChecked.
func (a *Access) checkNamespaces(ctx context.Context, namespaces []string) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	for _, ns := range namespaces[:min(len(namespaces), maxChecked)] {
		if namespaces := (&filter{name: ns}); a.narrow(
			ctx, namespaceResource(), namespaces, toGet, askedOnce(),
		) != nil {
			continue
		}
		young := func(_ error, asked time.Time) bool { return time.Since(asked) < rememberedFor }
		if err, ok := a.cluster.existing.get(ctx, ns, young, func(ctx context.Context) error {
			return a.cluster.checkNamespace(ctx, ns)
		}); ok && err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) checkNamespace(ctx context.Context, ns string) error {
	_, err := c.get(ctx, namespaceResource().gvr(), "", ns)
	if p := new(Problem); err != nil && errors.As(problemOf(err, ns), &p) && p.Cause == Unknown {
		return unknown(
			"Unknown namespace",
			"Namespace %q does not exist. core/v1/namespaces lists those that exist.",
			ns,
		)
	}
	return nil
}
