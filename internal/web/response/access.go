package response

import (
	"context"
	"net/http"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/overview"
	"github.com/glasshouse-project/glasshouse/internal/web/quota"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
)

// Reader reads cluster data for responses, within the limits of the server.
type Reader struct{ Limits *quota.Limits }

// Access returns the cluster data that the sender of a request is permitted to read.
func (rd *Reader) Access(r *http.Request) *watch.Access {
	return request.ClusterOf(r).Cluster.For(request.IdentityOf(r).Viewer).With(rd.Options(r))
}

// Overview returns the overview of the given namespaces, or of all if none are given; nil if it takes longer than wait.
func (rd *Reader) Overview(
	r *http.Request, namespaces []string, wait time.Duration,
) (*overview.Overview, error) {
	ctx, cancel := context.WithTimeout(r.Context(), wait)
	defer cancel()
	document, err := rd.Access(r).Overview(ctx, watch.OverviewQuery{Namespaces: namespaces, Wait: wait / 2})
	if err != nil && ctx.Err() != nil && r.Context().Err() == nil {
		return nil, nil //nolint:nilnil // The page works without an overview.
	}
	return document, err
}

// Options returns the options for reads: the permissions to recheck, and functions to reserve memory and a processor.
func (rd *Reader) Options(r *http.Request) watch.ReadOptions {
	acquire := func(ctx context.Context) (release func(), err error) {
		if err := Of(r).reserve(ctx); err != nil {
			return nil, err
		}
		return rd.acquireProcessor(ctx, r)
	}
	return watch.ReadOptions{Revalidation: request.RevalidationOf(r), ScanLimiter: acquire, Grow: Of(r).Grow}
}

// acquireProcessor waits until a processor is available (see quota.Limits.Processors). Call done after the work.
func (rd *Reader) acquireProcessor(ctx context.Context, r *http.Request) (done func(), err error) {
	if out := Of(r); out != nil && out.buildLease != nil {
		return func() {}, nil
	}
	lease, err := rd.Limits.Acquire(ctx, rd.Limits.Processors(r)...)
	return lease.Release, err
}
