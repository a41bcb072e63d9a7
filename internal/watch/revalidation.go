package watch

import (
	"context"
	"slices"
	"sync"
	"time"

	"glasshouse/internal/watch/authz"
	"glasshouse/internal/watch/resource"
	"glasshouse/internal/watch/signal"
	"glasshouse/internal/watch/status"
)

// revalidateEvery is the delay of the first recheck, so a response that is sent within it needs no recheck. It is also
// the interval of rechecks that need no request to the API server.
const revalidateEvery = time.Second

// Revalidation are the permissions that a response depends on. Revoked rechecks them while the response is sent. The
// zero Revalidation contain no permissions, as for a response that reveals nothing. Callers must call Close.
type Revalidation struct {
	mu       sync.Mutex
	rechecks []*recheck
	releases []func() // Functions that release the informers from which the response was read.
}

// recheck is one permission that a response depends on, with its recheck.
type recheck struct {
	isValid func(context.Context) bool // Reports whether it is still valid; false if that cannot be determined.
	every   time.Duration              // The interval of rechecks.
	next    time.Time                  // The time of the next recheck.
}

// WithRevalidation returns a copy of the access that records in g the permissions that a response depends on. It
// records them after the read, so that a refused read still returns its reason.
func (a *Access) WithRevalidation(g *Revalidation) *Access {
	derived := *a
	derived.revalidation = g
	return &derived
}

// Revoked returns true when one of the permissions is revoked or cannot be rechecked, and false when ctx ends.
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

// wait returns the time until the next recheck. It is at most revalidateEvery, because new permissions may be recorded
// soon.
func (g *Revalidation) wait() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	wait := revalidateEvery
	for _, check := range g.rechecks {
		wait = min(wait, time.Until(check.next))
	}
	return wait
}

// recheckDue rechecks the permissions that are due, and reports whether all are still valid.
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

// releaseAfterResponse releases the informer that was opened for a read. If the access records Revalidation, the
// informer is released when they are closed, after the response was sent.
func (a *Access) releaseAfterResponse(opened *openedQuery) {
	if a.revalidation == nil {
		opened.release()
		return
	}
	a.revalidation.addRelease(opened.release)
}

// recordFilter records that the response depends on the permissions that restricted the filter f for the action d. They
// are lost if the viewer may see fewer namespaces than f has now.
func (a *Access) recordFilter(r *resource.Resource, f *filter, verb authz.Verb) {
	if a.revalidation == nil || a.viewer.User == nil {
		return
	}
	namespaces, name := f.namespaces, f.name
	a.revalidation.add(authz.RecheckEvery, func(ctx context.Context) bool {
		current := &filter{namespaces: namespaces, name: name}
		err := a.restrictToUser(ctx, r, current, verb, authz.TTLRecheck())
		return err == nil && len(current.namespaces) == len(namespaces) // An empty list means all namespaces.
	})
}

// recordRows records that the response contains rows of an informer at the given version. When the program itself loses
// a permission, the informer resets its readers and changes its version, so another version counts as a loss.
func (a *Access) recordRows(opened *openedQuery, version int) {
	if a.revalidation == nil {
		return
	}
	a.recordFilter(opened.resource, opened.filter, authz.VerbList)
	a.revalidation.add(
		revalidateEvery, func(context.Context) bool { return opened.informer.currentState(nil).version == version },
	)
}

// recordObject records that the response contains one object, which the program read with its own permission. verb is
// the permission that the viewer needs for the object.
func (a *Access) recordObject(r *resource.Resource, f *filter, verb authz.Verb, namespace, name string) {
	if a.revalidation == nil {
		return
	}
	a.recordFilter(r, f, authz.VerbGet)
	a.revalidation.add(authz.RecheckEvery, func(ctx context.Context) bool {
		return a.cluster.reviews.Allows(ctx, verb, r, namespace, name, authz.TTLRecheck())
	})
	if f.selector == nil && !f.needsRow() {
		return
	}
	// A link that selects by labels or words shares the object only while the object matches.
	a.revalidation.add(revalidateEvery, func(context.Context) bool {
		o, current := a.cachedObject(r, namespace, name)
		return o == nil || current.State != status.Live || f.match(o)
	})
}
