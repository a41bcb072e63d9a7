package permit

import (
	"context"
	"errors"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/flight"
	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

const (
	forbiddenMaxAge = 2 * time.Minute
	maxForbidden    = 1000 // The maximum number of viewers in a ForbiddenCache.
	// maxListReviews limits the access reviews in single namespaces for one result. If a result needs more of these
	// reviews, none of them is sent, and the result omits namespaced resources.
	maxListReviews = 1000
	maxResources   = 200
)

// ForbiddenCache contains the reasons why viewers may not list resources, by Viewer.Key and ref.
type ForbiddenCache = flight.Cache[string, map[string]string]

// NewForbiddenCache returns an empty cache.
func NewForbiddenCache() *ForbiddenCache {
	return flight.New[string, map[string]string](maxForbidden, forbiddenMaxAge)
}

// Forbidden returns the resources that the viewer may list in no namespace, by ref, with the reasons. It omits
// unknown resources. If canReview is true, the result is at most 2 minutes old; otherwise, it is the last known result.
func (c *Checker) Forbidden(ctx context.Context, resources []*resource.Resource, canReview bool) map[string]string {
	switch {
	case c.Viewer.Scope != nil || c.Viewer.User == nil && !c.Viewer.Program:
		return nil
	case !canReview:
		return c.deps.Forbidden.Last(c.Viewer.Key())
	}
	ctx, cancel := context.WithTimeout(ctx, ReviewsTimeout)
	defer cancel()
	isFresh := func(found map[string]string, at time.Time) bool {
		return found != nil && time.Since(at) < forbiddenMaxAge
	}
	found, _ := c.deps.Forbidden.Get(ctx, c.Viewer.Key(), isFresh, func(ctx context.Context) map[string]string {
		return c.reviewLists(ctx, resources[:min(len(resources), maxResources)])
	})
	return found
}

// reviewLists returns the resources that the viewer may list in no namespace, with the reasons, or nil after an error.
func (c *Checker) reviewLists(ctx context.Context, resources []*resource.Resource) map[string]string {
	all, err := CheckEach(ctx, resources, func(ctx context.Context, r *resource.Resource) (bool, error) {
		return c.mayList(ctx, r, "")
	})
	if err != nil {
		return nil
	}
	forbidden := map[string]string{}
	var namespaced []*resource.Resource
	for n, r := range resources {
		switch {
		case all[n]:
		case r.Namespaced:
			namespaced = append(namespaced, r)
		default:
			forbidden[r.Ref()] = forbiddenText(r)
		}
	}
	if len(namespaced) == 0 {
		return forbidden
	}
	// If the list of namespaces is not available, permissions in single namespaces are unknown: the result omits
	// namespaced resources.
	namespaces, err := c.deps.Namespaces(ctx)
	if err != nil || len(namespaces)*len(namespaced) > maxListReviews {
		return forbidden
	}
	some, err := CheckEach(ctx, namespaced, func(ctx context.Context, r *resource.Resource) (bool, error) {
		for _, ns := range namespaces {
			if may, err := c.mayList(ctx, r, ns); may || err != nil {
				return true, err
			}
		}
		return false, nil
	})
	if err != nil {
		return nil
	}
	for n, r := range namespaced {
		if !some[n] {
			forbidden[r.Ref()] = forbiddenText(r)
		}
	}
	return forbidden
}

func (c *Checker) mayList(ctx context.Context, r *resource.Resource, namespace string) (bool, error) {
	if c.Viewer.User == nil {
		return c.deps.Reviews.Allows(ctx, authz.VerbList, r, namespace, "", authz.TTLRecheck()), ctx.Err()
	}
	return c.deps.Guard.Allowed(ctx, c.subject, authz.VerbList, r, namespace, "", authz.TTLRecheck())
}

func forbiddenText(r *resource.Resource) string {
	var problem *status.Problem
	if !errors.As(Forbidden(r, authz.VerbList, &query.Filter{}), &problem) {
		return ""
	}
	return problem.Detail
}
