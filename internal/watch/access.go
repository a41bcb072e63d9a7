package watch

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"glasshouse/internal/watch/authz"
	"glasshouse/internal/watch/cursor"
	"glasshouse/internal/watch/resource"
	"glasshouse/internal/watch/status"
)

// Access is everything that one Viewer may read of the cluster. Methods that return a copy set further limits.
type Access struct {
	cluster      *Cluster
	viewer       Viewer
	subject      authz.Subject // The viewer's user, in the form for access reviews; empty if there is none.
	slots        chan struct{} // See WithMaxMessages; nil means no limit.
	fanOut       func() int    // See WithFanOut; nil means that there are no other readers.
	revalidation *Revalidation // See WithRevalidation; nil records no permissions.
	scanLimiter  ScanLimiter   // See WithScanLimiter; nil means that scans do not wait.
	reserve      Reserve       // See WithReserve; nil reserves nothing.
	grow         func(int64)   // See WithGrow; nil does nothing.
}

// A ScanLimiter is a function that waits until the caller may start work that keeps a processor busy. The caller must
// call leave exactly once, when that work is done.
type ScanLimiter func(ctx context.Context) (leave func(), err error)

// For returns access to everything that the viewer may read of the cluster.
func (c *Cluster) For(viewer Viewer) *Access {
	a := &Access{cluster: c, viewer: viewer}
	if viewer.User != nil {
		a.subject = authz.NewSubject(viewer.User)
	}
	return a
}

// IsGuest reports whether the viewer uses a share link and is limited to the parts of its scope.
func (a *Access) IsGuest() bool { return a.viewer.Scope != nil }

// WithMaxMessages returns a copy of the access with a limit: at most n of its subscriptions build a message, or have
// one in memory, at a time. A subscription that waits for a slot has no message. Therefore memory does not grow with
// the number of waiting subscriptions, or with the length of their messages.
//
// Read each subscription in its own goroutine, because a subscription uses its slot until its next message is
// requested.
func (a *Access) WithMaxMessages(n int) *Access {
	derived := *a
	derived.slots = make(chan struct{}, n)
	return &derived
}

// WithReserve returns a copy of the access whose subscriptions call reserve before they build a long message, to
// reserve memory for it.
func (a *Access) WithReserve(reserve Reserve) *Access {
	derived := *a
	derived.reserve = reserve
	return &derived
}

// WithScanLimiter returns a copy of the access that calls limiter before each scan of all rows of a resource. A
// Snapshot, a Search, the start of a Subscription and the computation of a digest are such scans.
func (a *Access) WithScanLimiter(limiter ScanLimiter) *Access {
	derived := *a
	derived.scanLimiter = limiter
	return &derived
}

// WithGrow returns a copy of the access that calls grow before a read allocates memory that the estimate for the reader
// does not include. bytes is negative when such memory is freed.
func (a *Access) WithGrow(grow func(bytes int64)) *Access {
	derived := *a
	derived.grow = grow
	return &derived
}

// Grow reports that the caller is about to allocate memory, in bytes, for data that it has read. See WithGrow.
func (a *Access) Grow(bytes int64) {
	if a.grow != nil && bytes != 0 {
		a.grow(bytes)
	}
}

// AcquireProcessor waits until the caller may start work that keeps a processor busy. The caller must call release when
// the work is done. See WithScanLimiter.
func (a *Access) AcquireProcessor(ctx context.Context) (release func(), err error) {
	return a.acquireScan(ctx)
}

// acquireScan calls the function that was passed to WithScanLimiter, if there is one.
func (a *Access) acquireScan(ctx context.Context) (release func(), err error) {
	if a.scanLimiter == nil {
		return func() {}, nil
	}
	return a.scanLimiter(ctx)
}

// WithFanOut returns a copy of the access whose readers share the processor with other readers. size returns the
// current number of readers.
//
// Even with many readers, each one receives a single change at once. Further changes are sent in batches. With more
// readers, each one receives batches less often, and not all at the same time. This leaves processor time for other
// work.
func (a *Access) WithFanOut(size func() int) *Access {
	derived := *a
	derived.fanOut = size
	return &derived
}

// openedQuery is a checked query with the informer that it reads from. The informer keeps running until release is
// called.
type openedQuery struct {
	resource *resource.Resource
	filter   *filter
	informer *informer
	release  func()
}

// check returns a filter for the objects that the query selects and the viewer may see. It returns the filter even if
// it also returns an error from the access reviews.
func (a *Access) check(
	ctx context.Context, q *Query, resource *resource.Resource, verb authz.Verb, ttl authz.DecisionTTL,
) (*filter, error) {
	filter, err := newFilter(q, resource)
	if err != nil {
		return nil, err
	}
	if err := a.checkMasked(filter.fields, resource); err != nil {
		return nil, err
	}
	return filter, a.restrict(ctx, resource, filter, verb, ttl)
}

// open acquires the informer that a checked query reads from. A query with Watched acquires nothing: it reads only from
// an informer that is already running.
func (a *Access) open(q *Query, resource *resource.Resource, filter *filter) (*openedQuery, error) {
	scope := a.scope(resource, filter.fields)
	if q.Watched {
		running := a.cluster.pool.find(scope)
		if running == nil {
			return nil, notWatched(resource)
		}
		return &openedQuery{resource, filter, running, func() {}}, nil
	}
	var by owner
	if scope.Fields != "" {
		by = a.viewer.owner()
	}
	informer, release, err := a.cluster.pool.acquire(scope, resource, by)
	if err != nil {
		return nil, err
	}
	releaseLeases, err := informer.acquireLeases(
		slices.Concat(filter.named, filter.permittedNamespaces), len(filter.permittedNamespaces) == 0,
	)
	if err != nil {
		release()
		return nil, err
	}
	return &openedQuery{resource, filter, informer, sync.OnceFunc(func() { releaseLeases(); release() })}, nil
}

// notWatched returns the error for a query with Watched if no informer of the resource is running.
func notWatched(r *resource.Resource) *status.Problem {
	return &status.Problem{
		Cause:  status.Unavailable,
		Title:  "Not watched",
		Detail: r.Ref() + " has no readers now; subscribe without watched to start a watch.",
	}
}

// cursor returns the encrypted cursor of a snapshot. version is the version of the columns, and offset is that of the
// newest change in the snapshot.
func (a *Access) cursor(q *Query, f *filter, i *informer, version int, offset uint64) string {
	cipher := a.cursorCipher(q, f, i)
	if f.isRestricted {
		restricted := cipher.EncryptRestricted(i.epochOf(version), offset, time.Now())
		return string(restricted.Append(nil))
	}
	return string(cipher.Append(nil, i.epochOf(version), offset))
}

// cursorCipher returns the key that encrypts the viewer's cursors for one filter. The key changes when the viewer's
// permissions change, so older cursors become invalid.
func (a *Access) cursorCipher(q *Query, f *filter, i *informer) cursor.Cipher {
	return a.cluster.cursors.Cipher(fmt.Sprintf(
		"%q %q %q %t %q %q %q %q %v",
		a.viewer.Key(), q.Resource, f.namespaces, f.isRestricted, q.Labels, q.Fields, q.Name, q.Text, i.scope,
	))
}
