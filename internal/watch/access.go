package watch

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"glasshouse/internal/watch/authz"
	"glasshouse/internal/watch/cursor"
	"glasshouse/internal/watch/informer"
	"glasshouse/internal/watch/query"
	"glasshouse/internal/watch/resource"
	"glasshouse/internal/watch/status"
	"glasshouse/internal/watch/stream"
)

// Access reads the cluster with the permissions of one Viewer.
type Access struct {
	cluster      *Cluster
	viewer       Viewer
	subject      authz.Subject
	slots        chan struct{}
	fanOut       func() int
	revalidation *Revalidation
	scanLimiter  stream.ScanLimiter
	reserve      stream.Reserve
	grow         func(int64)
}

// For returns an Access that reads the cluster with the permissions of the viewer.
func (c *Cluster) For(viewer Viewer) *Access {
	a := &Access{cluster: c, viewer: viewer}
	if viewer.User != nil {
		a.subject = authz.NewSubject(viewer.User)
	}
	return a
}

// IsGuest reports whether the viewer is a guest, who sees only what a share link shares.
func (a *Access) IsGuest() bool { return a.viewer.Scope != nil }

// WithMaxMessages returns a copy of the access whose subscriptions together have at most n messages in memory.
//
// Read each subscription in its own goroutine: a message counts until the next call of Subscription.Next.
func (a *Access) WithMaxMessages(n int) *Access {
	derived := *a
	derived.slots = make(chan struct{}, n)
	return &derived
}

// WithReserve returns a copy of the access whose subscriptions call reserve before they build a long message.
func (a *Access) WithReserve(reserve stream.Reserve) *Access {
	derived := *a
	derived.reserve = reserve
	return &derived
}

// WithScanLimiter returns a copy of the access that calls limiter before each scan of all rows of a resource.
func (a *Access) WithScanLimiter(limiter stream.ScanLimiter) *Access {
	derived := *a
	derived.scanLimiter = limiter
	return &derived
}

// WithGrow returns a copy of the access that calls grow when a response needs more memory than was estimated. If it
// needs less, bytes is negative.
func (a *Access) WithGrow(grow func(bytes int64)) *Access {
	derived := *a
	derived.grow = grow
	return &derived
}

// Grow reports that a response needs the given number of bytes in addition to its estimate.
func (a *Access) Grow(bytes int64) {
	if a.grow != nil && bytes != 0 {
		a.grow(bytes)
	}
}

// AcquireProcessor waits until the caller may keep a processor busy. The caller must call release when that work has
// ended.
func (a *Access) AcquireProcessor(ctx context.Context) (release func(), err error) {
	return a.acquireScan(ctx)
}

func (a *Access) acquireScan(ctx context.Context) (release func(), err error) {
	if a.scanLimiter == nil {
		return func() {}, nil
	}
	return a.scanLimiter(ctx)
}

// WithFanOut returns a copy of the access that sends changes in batches if size returns many readers.
func (a *Access) WithFanOut(size func() int) *Access {
	derived := *a
	derived.fanOut = size
	return &derived
}

// openedQuery is a query whose permissions were checked. Its informer runs until the function release is called.
type openedQuery struct {
	resource *resource.Resource
	filter   *query.Filter
	informer *stream.SharedInformer
	release  func()
}

// check returns a filter for what the viewer may see, and an error after a refused or failed review.
func (a *Access) check(
	ctx context.Context, q *query.Query, resource *resource.Resource, verb authz.Verb, ttl authz.DecisionTTL,
) (*query.Filter, error) {
	filter, err := query.NewFilter(q, resource)
	if err != nil {
		return nil, err
	}
	if err := a.checkMasked(filter.Fields, resource); err != nil {
		return nil, err
	}
	return filter, a.restrict(ctx, resource, filter, verb, ttl)
}

// open opens the informer from which a query reads. The parameter filter is the result of check.
func (a *Access) open(q *query.Query, resource *resource.Resource, filter *query.Filter) (*openedQuery, error) {
	scope := a.scope(resource, filter.Fields)
	// A query with Watched starts no informer.
	if q.Watched {
		running := a.cluster.find(scope)
		if running == nil {
			return nil, notWatched(resource)
		}
		return &openedQuery{resource, filter, running, func() {}}, nil
	}
	var by informer.Owner
	if scope.Fields != "" {
		by = a.viewer.owner()
	}
	informer, release, err := a.cluster.pool.Acquire(scope, resource, by)
	if err != nil {
		return nil, err
	}
	releaseLeases, err := informer.AcquireLeases(
		slices.Concat(filter.Named, filter.PermittedNamespaces), len(filter.PermittedNamespaces) == 0,
	)
	if err != nil {
		release()
		return nil, err
	}
	releaseAll := sync.OnceFunc(func() { releaseLeases(); release() })
	return &openedQuery{resource, filter, stream.Shared(informer), releaseAll}, nil
}

func notWatched(r *resource.Resource) *status.Problem {
	return &status.Problem{
		Cause:  status.Unavailable,
		Title:  "Not watched",
		Detail: r.Ref() + " has no readers now; subscribe without watched to start a watch.",
	}
}

// cursor returns the encrypted position in the changes from which a subscription can resume after a snapshot.
func (a *Access) cursor(q *query.Query, f *query.Filter, i *stream.SharedInformer, version int, offset uint64) string {
	cipher := a.cursorCipher(q, f, i)
	if f.IsRestricted {
		restricted := cipher.EncryptRestricted(i.EpochOf(version), offset, time.Now())
		return string(restricted.Append(nil))
	}
	return string(cipher.Append(nil, i.EpochOf(version), offset))
}

// cursorCipher returns the key for the viewer's cursors. After a change of permissions, older cursors are invalid.
func (a *Access) cursorCipher(q *query.Query, f *query.Filter, i *stream.SharedInformer) cursor.Cipher {
	return a.cluster.cursors.Cipher(fmt.Sprintf(
		"%q %q %q %t %q %q %q %q %v",
		a.viewer.Key(), q.Resource, f.Namespaces, f.IsRestricted, q.Labels, q.Fields, q.Name, q.Text, i.Scope,
	))
}
