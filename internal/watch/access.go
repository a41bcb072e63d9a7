package watch

import (
	"context"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/opened"
	"github.com/glasshouse-project/glasshouse/internal/watch/permit"
	"github.com/glasshouse-project/glasshouse/internal/watch/printer"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

type (
	// Viewer is the person or program whose permissions apply to a read.
	Viewer = permit.Viewer
	// Scope is the data that a share link shares.
	Scope = permit.Scope
	// Part is one of the queries in a Scope.
	Part = permit.Part
	// ReadOptions contain limits for the reads of an Access, and functions that these reads call. The zero ReadOptions
	// limit nothing.
	ReadOptions = opened.Options

	// Item is one object of a Snapshot.
	Item = compact.Object
	// Column is one column of a Snapshot.
	Column = printer.Column
	// Snapshot is the result of a query, with the cursor (position) at which a subscription can resume.
	Snapshot = opened.Snapshot
)

// Access reads the cluster with the permissions of one Viewer.
type Access struct {
	cluster *Cluster
	checker permit.Checker
	options ReadOptions
	slots   chan struct{} // One element per message of this Access in memory. The capacity is the limit; nil: no limit.
}

// For returns an Access that reads the cluster with the permissions of the viewer.
func (c *Cluster) For(viewer Viewer) *Access {
	return &Access{cluster: c, checker: permit.New(viewer, &c.permit)}
}

// With returns a copy of the access that reads with the given options.
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

// opener returns an Opener, which opens queries with the permissions of the viewer and the options of the access.
func (a *Access) opener() *opened.Opener {
	return &opened.Opener{Deps: &a.cluster.opened, Checker: &a.checker, Options: a.options, Slots: a.slots}
}

// Snapshot reads the result of a query once. If the informer has no complete list yet, Snapshot waits for it, but at
// most the duration wait.
func (a *Access) Snapshot(ctx context.Context, q query.Query, wait time.Duration) (*Snapshot, error) {
	return a.opener().Snapshot(ctx, q, wait)
}

// Grow reports that a response needs more or less memory than was estimated. bytes is the difference, negative for
// less.
func (a *Access) Grow(bytes int64) { a.options.AdjustMemory(bytes) }

// AcquireProcessor waits until the caller may start work that keeps a processor busy. After this work, the caller
// must call release.
func (a *Access) AcquireProcessor(ctx context.Context) (release func(), err error) {
	return a.options.AcquireProcessor(ctx)
}

// PublicDetail returns a problem's detail for the viewer of this access. Guests and unknown viewers get only the public
// detail, if the problem has one.
func (a *Access) PublicDetail(p *status.Problem) string { return a.checker.Viewer.PublicDetail(p) }

// Authorize returns an error if the viewer may read nothing of the query's result, or may not read one of the
// namespaces that the query names. The error contains the reason.
func (a *Access) Authorize(ctx context.Context, q query.Query) error {
	return a.checker.Authorize(ctx, q)
}

// AuthorizeShare returns an error if the scope is invalid, or if the viewer may not read everything in it.
func (a *Access) AuthorizeShare(ctx context.Context, s *Scope) error {
	return a.checker.AuthorizeShare(ctx, s)
}
