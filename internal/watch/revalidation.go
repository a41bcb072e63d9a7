package watch

import (
	"context"
	"slices"
	"sync"
	"time"

	"glasshouse/internal/watch/authz"
	"glasshouse/internal/watch/query"
	"glasshouse/internal/watch/resource"
	"glasshouse/internal/watch/signal"
	"glasshouse/internal/watch/status"
)

// revalidateEvery is the delay before the first recheck, and the interval of rechecks without a request to the API
// server.
const revalidateEvery = time.Second

// Revalidation contains the permissions that a response depends on. A zero Revalidation is never revoked. Callers
// must call Close.
type Revalidation struct {
	mu       sync.Mutex
	rechecks []*recheck
	releases []func()
}

// recheck is one permission that a response depends on, and how to recheck it.
type recheck struct {
	isValid func(context.Context) bool
	every   time.Duration
	next    time.Time
}

// WithRevalidation returns a copy of the Access that records in g the permissions on which a response depends.
func (a *Access) WithRevalidation(g *Revalidation) *Access {
	derived := *a
	derived.revalidation = g
	return &derived
}

// Revoked waits until a permission is revoked or cannot be rechecked. It returns false when ctx ends.
func (g *Revalidation) Revoked(ctx context.Context) bool {
	for wait := revalidateEvery; ; wait = g.wait() {
		if signal.Sleep(ctx, wait); ctx.Err() != nil {
			return false
		}
		if !g.recheckDue(ctx) && ctx.Err() == nil {
			return true
		}
	}
}

// wait returns the time until the next recheck, but at most revalidateEvery, because a read can add more permissions
// meanwhile.
func (g *Revalidation) wait() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	wait := revalidateEvery
	for _, check := range g.rechecks {
		wait = min(wait, time.Until(check.next))
	}
	return wait
}

func (g *Revalidation) recheckDue(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, authz.RecheckTimeout)
	defer cancel()
	valid, _ := checkEach(ctx, g.due(), func(ctx context.Context, check *recheck) (bool, error) {
		return check.isValid(ctx), nil
	})
	return !slices.Contains(valid, false)
}

func (g *Revalidation) due() (due []*recheck) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	for _, check := range g.rechecks {
		if !now.Before(check.next) {
			check.next = now.Add(check.every)
			due = append(due, check)
		}
	}
	return due
}

func (g *Revalidation) add(every time.Duration, isValid func(context.Context) bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.rechecks = append(g.rechecks, &recheck{isValid: isValid, every: every})
}

func (g *Revalidation) addRelease(release func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.releases = append(g.releases, release)
}

// Close releases the informers from which the response was read.
func (g *Revalidation) Close() {
	g.mu.Lock()
	releases := g.releases
	g.releases = nil
	g.mu.Unlock()
	for _, release := range releases {
		release()
	}
}

// releaseAfterResponse releases an informer after the response was sent, or at once if the access has no
// Revalidation.
func (a *Access) releaseAfterResponse(opened *openedQuery) {
	if a.revalidation == nil {
		opened.release()
		return
	}
	a.revalidation.addRelease(opened.release)
}

// recordFilter records that the response depends on the user's permission for verb in all namespaces of the filter f.
func (a *Access) recordFilter(r *resource.Resource, f *query.Filter, verb authz.Verb) {
	if a.revalidation == nil || a.viewer.User == nil {
		return
	}
	namespaces, name := f.Namespaces, f.Name
	a.revalidation.add(authz.RecheckEvery, func(ctx context.Context) bool {
		current := &query.Filter{Namespaces: namespaces, Name: name}
		err := a.restrictToUser(ctx, r, current, verb, authz.TTLRecheck())
		// An empty list means all namespaces. A permission for only some of them makes the list longer.
		return err == nil && len(current.Namespaces) == len(namespaces)
	})
}

// recordRows records that the response has rows of a version. The version changes when this program loses a
// permission.
func (a *Access) recordRows(opened *openedQuery, version int) {
	if a.revalidation == nil {
		return
	}
	a.recordFilter(opened.resource, opened.filter, authz.VerbList)
	a.revalidation.add(
		revalidateEvery, func(context.Context) bool { return opened.informer.CurrentState(nil).Version == version },
	)
}

// recordObject records an object that the program read by verb: list for the cache, get for the API server.
func (a *Access) recordObject(r *resource.Resource, f *query.Filter, verb authz.Verb, namespace, name string) {
	if a.revalidation == nil {
		return
	}
	a.recordFilter(r, f, authz.VerbGet)
	a.revalidation.add(authz.RecheckEvery, func(ctx context.Context) bool {
		return a.cluster.reviews.Allows(ctx, verb, r, namespace, name, authz.TTLRecheck())
	})
	if f.Selector == nil && !f.NeedsRow() {
		return
	}
	// The share link selects objects by labels or words. It shares the object only while the object matches.
	a.revalidation.add(revalidateEvery, func(context.Context) bool {
		o, current := a.cachedObject(r, namespace, name)
		return o == nil || current.State != status.Live || f.Match(o)
	})
}
