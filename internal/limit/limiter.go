// Package limit bounds what callers use at the same time.
//
// A Limiter counts units in use by key: connections of an address, logs of a user, bytes of responses. One mechanism
// serves all of these uses, so that one place defines the order of waiting callers and the refusals. A Budget is a
// Limiter of bytes that callers share fairly. Rates bound how often something happens.
//
// No method calls code of another package while it has locked its mutex. The methods of a Response are called without
// a locked mutex.
package limit

import (
	"context"
	"slices"
	"sync"
	"time"
)

// overdueAfter is how long other callers may acquire units ahead of a waiter. In that time, they may acquire free
// units that are too few for the waiter. Later, the free units are kept for the waiter.
const overdueAfter = time.Second

// A Limit is the maximum number of units that may be in use under a key at the same time.
type Limit struct {
	Key string
	Max int64
}

// A Limiter counts units in use by key, such as the open sockets of each user. The zero value is ready for use. A
// Limiter is safe for concurrent use.
type Limiter struct {
	mu      sync.Mutex
	used    map[string]int64
	waiters []*waiter // The waiting callers, in order of arrival.
	// served contains, for each caller, the value of lastServed when the caller last got units that it had waited for.
	// It is kept only while callers wait.
	served     map[string]uint64
	lastServed uint64
}

// A Lease is a number of units that are in use under some limits until Release is called.
type Lease struct {
	limiter *Limiter
	limits  []Limit
	units   int64 // The units in use; guarded by limiter.mu; 0 after Release.
}

// waiter is a call of Acquire that waits for a lease.
type waiter struct {
	lease   *Lease
	units   int64
	since   time.Time
	granted chan struct{} // Closed when the lease has got its units.
}

// TryAcquire acquires units under all of the limits, without waiting. It returns nil if so many units are not free,
// or if the free units are kept for a waiter.
func (l *Limiter) TryAcquire(units int64, limits ...Limit) *Lease {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tryLocked(units, limits)
}

func (l *Limiter) tryLocked(units int64, limits []Limit) *Lease {
	units = clamp(units, limits)
	if !l.fitsLocked(units, limits) || l.isReservedLocked(limits, l.overdueLocked()) {
		return nil
	}
	lease := &Lease{limiter: l, limits: limits}
	l.resizeLocked(lease, units)
	return lease
}

// Acquire acquires units under all of the limits. It waits until so many units are free, or returns the error of ctx
// if ctx ends first. It acquires at most as many units as the lowest limit allows, because more units would never be
// free.
//
// The key of the first limit identifies the caller. If several callers wait for units that are free, the caller with
// the fewest units in use is next. A caller with high use therefore does not block a caller with low use. Callers
// with equal use get units alternately.
//
// A small request may overtake a large request that does not fit yet. After overdueAfter, units are kept for the
// request that has waited longest. Only callers that use fewer units than its caller may then still overtake it.
func (l *Limiter) Acquire(ctx context.Context, units int64, limits ...Limit) (*Lease, error) {
	l.mu.Lock()
	if lease := l.tryLocked(units, limits); lease != nil {
		l.mu.Unlock()
		return lease, nil
	}
	w := &waiter{
		lease: &Lease{limiter: l, limits: limits}, units: clamp(units, limits),
		since: time.Now(), granted: make(chan struct{}),
	}
	l.waiters = append(l.waiters, w)
	l.mu.Unlock()
	select {
	case <-w.granted:
		return w.lease, nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	l.waiters = slices.DeleteFunc(l.waiters, func(other *waiter) bool { return other == w })
	// Units may have been kept for w, which no longer waits.
	l.grantLocked()
	l.mu.Unlock()
	// Release the lease, in case the units were granted at the moment when ctx ended.
	w.lease.Release()
	return nil, ctx.Err()
}

// Used returns how many units are in use under a key.
func (l *Limiter) Used(key string) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.used[key]
}

// Release frees the units of the lease. It does nothing on a nil Lease or after the first call.
func (le *Lease) Release() { le.Resize(0) }

// Units returns how many units of the lease are in use.
func (le *Lease) Units() int64 {
	le.limiter.mu.Lock()
	defer le.limiter.mu.Unlock()
	return le.units
}

// Resize sets the number of units in use. It never waits. A lease that grows may exceed its limits. Nothing can then
// be acquired under these limits until enough units are released. Resize to 0 releases the lease for good.
func (le *Lease) Resize(units int64) {
	le.change(func(int64) int64 { return units })
}

// Grow adds to the number of units in use. Like Resize, it never waits, and the lease may exceed its limits.
func (le *Lease) Grow(units int64) {
	le.change(func(before int64) int64 { return before + units })
}

func (le *Lease) change(newUnits func(before int64) int64) {
	if le == nil {
		return
	}
	l := le.limiter
	l.mu.Lock()
	defer l.mu.Unlock()
	before := le.units
	if before == 0 {
		return
	}
	l.resizeLocked(le, newUnits(before))
	// Even a lease that grows can let a waiter proceed: units are no longer kept for a waiter whose caller now uses
	// more.
	l.grantLocked()
}

func (l *Limiter) resizeLocked(le *Lease, units int64) {
	if l.used == nil {
		l.used = make(map[string]int64)
	}
	for _, limit := range le.limits {
		if l.used[limit.Key] += units - le.units; l.used[limit.Key] == 0 {
			delete(l.used, limit.Key)
		}
	}
	le.units = units
}

func (l *Limiter) fitsLocked(units int64, limits []Limit) bool {
	for _, limit := range limits {
		if l.used[limit.Key]+units > limit.Max {
			return false
		}
	}
	return true
}

// overdueLocked returns the waiter for which free units are kept; nil if there is none. It is the first waiter that
// has waited for overdueAfter, and for whose units the limit of its own caller has room.
func (l *Limiter) overdueLocked() *waiter {
	// The waiters are in order of arrival.
	for _, w := range l.waiters {
		if time.Since(w.since) < overdueAfter {
			return nil
		}
		if l.fitsLocked(w.units, w.lease.limits[:1]) {
			return w
		}
	}
	return nil
}

// isReservedLocked reports whether a request under the given limits must leave free units to overdue, a waiter for
// which units are kept. It returns true if two conditions are met. One of these limits has no room yet for the
// waiter. The caller of the request uses at least as many units as the caller of the waiter.
func (l *Limiter) isReservedLocked(limits []Limit, overdue *waiter) bool {
	if overdue == nil || len(limits) == 0 || l.used[limits[0].Key] < l.used[overdue.lease.limits[0].Key] {
		return false
	}
	return slices.ContainsFunc(limits, func(limit Limit) bool {
		return slices.Contains(overdue.lease.limits, limit) && !l.fitsLocked(overdue.units, []Limit{limit})
	})
}

// grantLocked grants units to all waiters whose units are now free, in the order that Acquire describes.
func (l *Limiter) grantLocked() {
	for {
		next, overdue := -1, l.overdueLocked()
		for n, w := range l.waiters {
			fits := l.fitsLocked(w.units, w.lease.limits) && (w == overdue || !l.isReservedLocked(w.lease.limits, overdue))
			if fits && (next < 0 || l.precedesLocked(w, l.waiters[next])) {
				next = n
			}
		}
		if next < 0 {
			return
		}
		w := l.waiters[next]
		l.waiters = slices.Delete(l.waiters, next, next+1)
		l.resizeLocked(w.lease, w.units)
		l.servedLocked(w.lease.limits[0].Key)
		close(w.granted)
	}
}

// servedLocked records that a caller has just got the units that it waited for.
func (l *Limiter) servedLocked(caller string) {
	if len(l.waiters) == 0 {
		l.served = nil
		return
	}
	if l.served == nil {
		l.served = make(map[string]uint64)
	}
	l.lastServed++
	l.served[caller] = l.lastServed
}

// precedesLocked reports whether w gets units before earlier, a waiter that arrived before w. The caller that uses
// fewer units is first. If both callers use the same number, the one that last got units longer ago is first.
func (l *Limiter) precedesLocked(w, earlier *waiter) bool {
	key, earlierKey := w.lease.limits[0].Key, earlier.lease.limits[0].Key
	if l.used[key] != l.used[earlierKey] {
		return l.used[key] < l.used[earlierKey]
	}
	return l.served[key] < l.served[earlierKey]
}

// clamp returns units, or the lowest limit if that is lower.
func clamp(units int64, limits []Limit) int64 {
	for _, limit := range limits {
		units = min(units, limit.Max)
	}
	return units
}
