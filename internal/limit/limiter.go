// Package limit limits what each caller (a user, a share link or an address) uses at the same time.
//
// A Limiter counts units in use, such as connections. A Budget limits bytes. Rates limit how often something happens.
//
// No mutex of this package is locked during a call of a Response's method.
package limit

import (
	"context"
	"slices"
	"sync"
	"time"
)

// After overdueAfter, a waiting request is overdue, and free units are kept for it. Before that, smaller requests can
// take them.
const overdueAfter = time.Second

// Limit is the maximum number of units in use at the same time under one key.
type Limit struct {
	Key string
	Max int64
}

// Limiter counts units in use by key, such as each user's open sockets. The zero value is ready for use.
type Limiter struct {
	mu      sync.Mutex
	used    map[string]int64
	waiters []*waiter
	// served orders the callers by the time when they last got units after waiting. A higher number means later.
	served     map[string]uint64
	lastServed uint64
}

// Lease represents units in use under one or more limits, until Release is called.
type Lease struct {
	limiter *Limiter
	limits  []Limit
	units   int64 // units in use; 0 after Release; guarded by limiter.mu
}

type waiter struct {
	lease   *Lease
	units   int64
	since   time.Time
	granted chan struct{}
}

// TryAcquire acquires units without waiting. It returns nil if too few units are free, or if the free units are kept
// for an overdue waiter.
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

// Acquire acquires units under all limits, or waits until ctx ends. It reduces units to the lowest limit. The first
// limit's key identifies the caller. Callers with the fewest units in use are served first.
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
	// Give units that were kept for this waiter to other waiters.
	l.grantLocked()
	l.mu.Unlock()
	// Release the units that this waiter got if it was served just before ctx ended.
	w.lease.Release()
	return nil, ctx.Err()
}

// Used returns the number of units in use under the key.
func (l *Limiter) Used(key string) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.used[key]
}

// Release frees the units of the lease. On a nil Lease, and after the first call, it does nothing.
func (le *Lease) Release() { le.Resize(0) }

// Units returns the number of units that the lease has in use.
func (le *Lease) Units() int64 {
	le.limiter.mu.Lock()
	defer le.limiter.mu.Unlock()
	return le.units
}

// Resize sets the number of units in use without waiting, even above the limits. Resize to 0 releases the lease.
func (le *Lease) Resize(units int64) {
	le.change(func(int64) int64 { return units })
}

// Grow increases the number of units in use without waiting, even above the limits.
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
	// Any change, even the growth of a lease, can allow waiters to acquire units. An overdue waiter blocks only callers
	// that use at least as many units as the caller of this waiter. When the waiter's caller uses more units than
	// before, the waiter can block fewer callers.
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

// overdueLocked returns the overdue waiter for which free units are kept, or nil.
func (l *Limiter) overdueLocked() *waiter {
	for _, w := range l.waiters {
		if time.Since(w.since) < overdueAfter {
			return nil
		}
		// Keep free units only for a waiter that fits into its own caller's limit. They do not help any other waiter.
		if l.fitsLocked(w.units, w.lease.limits[:1]) {
			return w
		}
	}
	return nil
}

// isReservedLocked reports whether a request must leave the free units to the overdue waiter. This is not necessary if
// the caller of the request uses fewer units than the caller of the waiter.
func (l *Limiter) isReservedLocked(limits []Limit, overdue *waiter) bool {
	if overdue == nil || len(limits) == 0 || l.used[limits[0].Key] < l.used[overdue.lease.limits[0].Key] {
		return false
	}
	return slices.ContainsFunc(limits, func(limit Limit) bool {
		return slices.Contains(overdue.lease.limits, limit) && !l.fitsLocked(overdue.units, []Limit{limit})
	})
}

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

// precedesLocked reports whether a waiter gets units before another one that has waited longer. The waiter whose
// caller uses fewer units is first.
func (l *Limiter) precedesLocked(w, earlier *waiter) bool {
	key, earlierKey := w.lease.limits[0].Key, earlier.lease.limits[0].Key
	if l.used[key] != l.used[earlierKey] {
		return l.used[key] < l.used[earlierKey]
	}
	// If both callers use the same number of units, the caller that was served less recently is first.
	return l.served[key] < l.served[earlierKey]
}

func clamp(units int64, limits []Limit) int64 {
	for _, limit := range limits {
		units = min(units, limit.Max)
	}
	return units
}
