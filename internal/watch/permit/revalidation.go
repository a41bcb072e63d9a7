package permit

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/signal"
)

// revalidateEvery is the delay before the first recheck. It is also the interval between rechecks that send no request
// to the API server.
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

// Revoked waits until a permission is revoked or cannot be rechecked. It returns false when ctx ends.
func (r *Revalidation) Revoked(ctx context.Context) bool {
	for wait := revalidateEvery; ; wait = r.wait() {
		if signal.Sleep(ctx, wait); ctx.Err() != nil {
			return false
		}
		if !r.recheckDue(ctx) && ctx.Err() == nil {
			return true
		}
	}
}

// wait returns the time until the next recheck. It returns at most revalidateEvery, because a read can add further
// permissions to recheck while the caller waits.
func (r *Revalidation) wait() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	wait := revalidateEvery
	for _, check := range r.rechecks {
		wait = min(wait, time.Until(check.next))
	}
	return wait
}

func (r *Revalidation) recheckDue(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, authz.RecheckTimeout)
	defer cancel()
	valid, _ := CheckEach(ctx, r.due(), func(ctx context.Context, check *recheck) (bool, error) {
		return check.isValid(ctx), nil
	})
	return !slices.Contains(valid, false)
}

func (r *Revalidation) due() (due []*recheck) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	for _, check := range r.rechecks {
		if !now.Before(check.next) {
			check.next = now.Add(check.every)
			due = append(due, check)
		}
	}
	return due
}

// add records a permission that must be rechecked; every is the interval. A nil Revalidation records nothing.
func (r *Revalidation) add(every time.Duration, isValid func(context.Context) bool) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rechecks = append(r.rechecks, &recheck{isValid: isValid, every: every})
}

func (r *Revalidation) addRelease(release func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.releases = append(r.releases, release)
}

// Close releases the informers from which the response was read.
func (r *Revalidation) Close() {
	r.mu.Lock()
	releases := r.releases
	r.releases = nil
	r.mu.Unlock()
	for _, release := range releases {
		release()
	}
}

// ReleaseAfterResponse calls release after the response was sent, or at once if the Checker has no Revalidation.
func (c *Checker) ReleaseAfterResponse(release func()) {
	if c.Revalidation == nil {
		release()
		return
	}
	c.Revalidation.addRelease(release)
}

// Record records that the response depends on the user's permission for verb in all namespaces of the filter f.
func (c *Checker) Record(r *resource.Resource, f *query.Filter, verb authz.Verb) {
	if c.Viewer.User == nil {
		return
	}
	namespaces, name := f.Namespaces, f.Name
	c.Revalidation.add(authz.RecheckEvery, func(ctx context.Context) bool {
		current := &query.Filter{Namespaces: namespaces, Name: name}
		err := c.restrictToUser(ctx, r, current, verb, authz.TTLRecheck())
		// If the user has lost some namespaces, current.Namespaces lists only the remaining ones, so the lengths
		// differ. This also applies if namespaces is empty, which means all namespaces.
		return err == nil && len(current.Namespaces) == len(namespaces)
	})
}

// RecordRows records that the response has rows of the resource r. The response therefore depends on the user's
// permission to list r in the namespaces of f, and on this program's own permissions for r. After the program has lost
// any of its own permissions for r, isCurrent must return false, so that the rest of the response is not sent.
func (c *Checker) RecordRows(r *resource.Resource, f *query.Filter, isCurrent func() bool) {
	c.Record(r, f, authz.VerbList)
	c.Revalidation.add(revalidateEvery, func(context.Context) bool { return isCurrent() })
}

// RecordObject records that the response contains an object. verb is the permission with which the program read it:
// list for the cache, and get for the API server. If a share link selects objects by labels or words, rechecks also
// call isShared, which must return false when the link no longer selects the object.
func (c *Checker) RecordObject(
	r *resource.Resource, f *query.Filter, verb authz.Verb, namespace, name string, isShared func() bool,
) {
	c.Record(r, f, authz.VerbGet)
	c.Revalidation.add(authz.RecheckEvery, func(ctx context.Context) bool {
		return c.deps.Reviews.Allows(ctx, verb, r, namespace, name, authz.TTLRecheck())
	})
	if f.Selector != nil || f.NeedsRow() {
		c.Revalidation.add(revalidateEvery, func(context.Context) bool { return isShared() })
	}
}
