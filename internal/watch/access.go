package watch

import (
	"context"

	"github.com/glasshouse-project/glasshouse/internal/watch/messages"
	"github.com/glasshouse-project/glasshouse/internal/watch/permit"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"
)

type (
	// Viewer is the person or program whose permissions apply to a read.
	Viewer = permit.Viewer
	// Scope is what a share link shares.
	Scope = permit.Scope
	// Part is one of the queries in a Scope.
	Part = permit.Part
)

// Access reads the cluster with the permissions of one Viewer.
type Access struct {
	cluster *Cluster
	checker permit.Checker
	options ReadOptions
	slots   chan struct{} // Limits the messages in memory; nil for no limit.
}

// ReadOptions are limits for the reads of an Access, and functions that the reads call. The zero ReadOptions limit
// nothing.
type ReadOptions struct {
	// MaxMessages limits how many messages all subscriptions together have in memory; 0 means no limit. A message
	// counts until the next call of Subscription.Next, so read each subscription in its own goroutine.
	MaxMessages int
	// Reserve is called before a subscription builds a long message. It reserves memory for the message.
	Reserve messages.Reserve
	// ScanLimiter is called before each scan of all rows of a resource.
	ScanLimiter stream.ScanLimiter
	// Grow is called when a response needs more or less memory than was estimated. bytes is the difference, negative
	// for less.
	Grow func(bytes int64)
	// FanOut returns the approximate number of readers. With many readers, changes are sent in batches.
	FanOut func() int
	// Revalidation records the permissions on which a response depends.
	Revalidation *permit.Revalidation
}

// For returns an Access that reads the cluster with the permissions of the viewer.
func (c *Cluster) For(viewer Viewer) *Access {
	return &Access{cluster: c, checker: permit.New(viewer, &c.permit)}
}

// With returns a copy of the access with the options.
func (a *Access) With(options ReadOptions) *Access {
	derived := *a
	derived.options, derived.slots = options, nil
	derived.checker.Revalidation = options.Revalidation
	if options.MaxMessages > 0 {
		derived.slots = make(chan struct{}, options.MaxMessages)
	}
	return &derived
}

// IsGuest reports whether the viewer is a guest, who sees only what a share link shares.
func (a *Access) IsGuest() bool { return a.checker.Viewer.Scope != nil }

// Grow reports that a response needs the given number of bytes in addition to its estimate.
func (a *Access) Grow(bytes int64) {
	if a.options.Grow != nil && bytes != 0 {
		a.options.Grow(bytes)
	}
}

// AcquireProcessor waits until the caller may start work that keeps a processor busy. After this work, the caller
// must call release.
func (a *Access) AcquireProcessor(ctx context.Context) (release func(), err error) {
	if a.options.ScanLimiter == nil {
		return func() {}, nil
	}
	return a.options.ScanLimiter(ctx)
}

// PublicDetail returns the detail of a problem that the viewer of this access is allowed to read.
func (a *Access) PublicDetail(p *status.Problem) string { return a.checker.Viewer.PublicDetail(p) }

// Authorize returns an error if the viewer may not read the result of the query, or one of its namespaces. The error
// contains the reason.
func (a *Access) Authorize(ctx context.Context, q query.Query) error {
	return a.checker.Authorize(ctx, q)
}

// AuthorizeShare returns an error if the scope is invalid, or if the viewer may not read everything in it.
func (a *Access) AuthorizeShare(ctx context.Context, s *Scope) error {
	return a.checker.AuthorizeShare(ctx, s)
}
