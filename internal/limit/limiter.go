// Package limit bounds what callers use at the same time.
//
// A Limiter counts units in use by key: connections of an address, logs of a user, bytes of responses. One mechanism
// serves all of them, so that the order of waiting callers and the refusals are defined in one place. A Budget is a
// Limiter of bytes that callers share fairly. Rates bound how often something happens.
//
// No method calls other code while it holds a lock. The methods of a Response are called without a lock.
package limit

import (
	"context"
	"slices"
	"sync"
	"time"
)

// overdueAfter is how long a waiter may be overtaken. Until then, others may acquire free units that are too few for
// the waiter. After that, the free units are kept for it.
const overdueAfter = time.Second

// A Limit is the maximum number of units in use under a key at the same time.
type Limit struct {
	Key string
	Max int64
}

// A Limiter counts units in use by key. The zero value is ready for use. It is safe for concurrent use.
type Limiter struct {
	mu      sync.Mutex
	used    map[string]int64
	waiters []*waiter // In order of arrival.
	// served contains the value of lastServed when each waiting caller was last served. It is kept only while callers
	// wait.
	served     map[string]uint64
	lastServed uint64
}

// A Lease is a number of units in use under some limits, until it is released.
type Lease struct {
	limiter *Limiter
	limits  []Limit
	units   int64 // Guarded by limiter.mu; 0 after Release.
}

// waiter waits for a lease.
type waiter struct {
	lease   *Lease
	units   int64
	since   time.Time
	granted chan struct{} // Closed when the lease has its units.
}

// TryAcquire acquires units under all of the limits. It returns nil if they are not free, or are kept for a waiter. It
// does not wait.
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

// Acquire acquires units under all of the limits. It waits until they are free, or returns ctx's error. It acquires at
// most as many units as the lowest limit, because more would never be free.
//
// If several callers wait for units that are free, the one whose first key has the fewest units in use is next. A
// caller with high use therefore does not keep out one with low use. Callers with equal use take turns.
//
// Small requests may pass a large one that does not fit yet. After a second, units are kept for the one that has waited
// longest: only callers that use fewer still pass it.
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
	l.grantLocked() // Units may have been kept for it.
	l.mu.Unlock()
	w.lease.Release() // It may have been granted at the same moment.
	return nil, ctx.Err()
}

// Used returns how many units are in use under a key.
func (l *Limiter) Used(key string) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.used[key]
}

// Release frees the units. It does nothing on a nil Lease or after the first call.
func (le *Lease) Release() { le.Resize(0) }

// Units returns how many units are in use.
func (le *Lease) Units() int64 {
	le.limiter.mu.Lock()
	defer le.limiter.mu.Unlock()
	return le.units
}

// Resize sets the number of units. It never waits. A lease that grows may exceed its limits; others then acquire
// nothing under them until enough units are released. A lease of 0 units is released and stays so.
func (le *Lease) Resize(units int64) {
	le.change(func(int64) int64 { return units })
}

// Grow adds units, in the same way as Resize.
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
	l.grantLocked() // A lease that grows may end what units are kept for: a waiter of the same caller.
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

// overdueLocked returns the waiter that free units are kept for; nil if there is none. It is the first waiter that has
// waited for overdueAfter, and whose own limit has room.
func (l *Limiter) overdueLocked() *waiter {
	for _, w := range l.waiters { // In order of arrival.
		if time.Since(w.since) < overdueAfter {
			return nil
		}
		if l.fitsLocked(w.units, w.lease.limits[:1]) {
			return w
		}
	}
	return nil
}

// isReservedLocked reports whether a request under some limits must leave the free units to overdue, a waiter. It must if the
// waiter waits for units under one of these limits, and its caller uses no more units than the caller of the request.
func (l *Limiter) isReservedLocked(limits []Limit, overdue *waiter) bool {
	if overdue == nil || len(limits) == 0 || l.used[limits[0].Key] < l.used[overdue.lease.limits[0].Key] {
		return false
	}
	return slices.ContainsFunc(limits, func(limit Limit) bool {
		return slices.Contains(overdue.lease.limits, limit) && !l.fitsLocked(overdue.units, []Limit{limit})
	})
}

// grantLocked grants units to all waiters that fit, in the order described at Acquire.
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

// servedLocked records that a caller has got the units that it waited for.
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

// precedesLocked reports whether w is served before earlier, a waiter that arrived before it. It is if w's caller has
// fewer units in use. It is also if both callers have as many in use, and w's caller was served less recently.
func (l *Limiter) precedesLocked(w, earlier *waiter) bool {
	key, earlierKey := w.lease.limits[0].Key, earlier.lease.limits[0].Key
	if l.used[key] != l.used[earlierKey] {
		return l.used[key] < l.used[earlierKey]
	}
	return l.served[key] < l.served[earlierKey]
}

// clamp returns the number of units, or the lowest limit if that is less.
func clamp(units int64, limits []Limit) int64 {
	for _, limit := range limits {
		units = min(units, limit.Max)
	}
	return units
}
