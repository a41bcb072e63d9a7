// Package pool runs one informer for each scope (a resource or a part of it) that has readers, within a memory budget.
// All functions are safe for concurrent use. All goroutines have ended when Pool.Run returns.
package pool

import (
	"context"
	"fmt"
	"sync"
	"time"

	"glasshouse/internal/watch/informer"
	"glasshouse/internal/watch/informer/budget"
	"glasshouse/internal/watch/listwatch"
	"glasshouse/internal/watch/resource"
	"glasshouse/internal/watch/status"
)

// Maximum numbers of informers with a field selector. They are limited because clients can invent any number of field
// selectors.
const (
	// maxFieldScopes is the maximum number of informers for all users and share links together. userFieldScopes is the
	// maximum for one user.
	maxFieldScopes, userFieldScopes = 20, 10
	// linkFieldScopes is the maximum number of informers for one share link. guestFieldScopes is the maximum for all
	// share links together.
	linkFieldScopes, guestFieldScopes = 5, 10
)

// Pool runs one informer for each scope that has readers. A scope is a resource, optionally with a field selector.
// All readers of a scope share its informer (its list and watch). The informer stays in use for the linger time after
// its last reader has left.
type Pool struct {
	Linger time.Duration
	Budget *budget.Budget // The memory of all informers.
	start  Start

	mu      sync.Mutex
	ctx     context.Context //nolint:containedctx // The context of run. Informers outlive requests.
	entries map[listwatch.Scope]*entry
	running sync.WaitGroup
}

// Start creates an informer. The function run keeps it live until ctx ends.
type Start func(listwatch.Scope, *resource.Resource) (i *informer.Informer, run func(ctx context.Context))

// entry is a running informer with the number of its references. Each call of Acquire adds a reference, which the
// release function removes.
type entry struct {
	informer    *informer.Informer
	refs        int
	refsByOwner map[informer.Owner]int
	idleTimer   *time.Timer
	idleSince   time.Time
	stop        context.CancelFunc
}

// New returns a pool of informers. linger is how long an informer without readers keeps running. limit is the maximum
// memory of all informers in bytes; 0 means no limit.
func New(linger time.Duration, limit int64, start Start) *Pool {
	p := &Pool{Linger: linger, start: start, entries: make(map[listwatch.Scope]*entry)}
	p.Budget = budget.New(limit, p)
	return p
}

// Run permits the pool to start informers until ctx ends. Then it stops all informers, and returns when they have
// ended.
func (p *Pool) Run(ctx context.Context) {
	p.mu.Lock()
	p.ctx = ctx
	p.mu.Unlock()
	<-ctx.Done()
	p.mu.Lock()
	p.ctx = nil
	for scope, e := range p.entries {
		e.stop()
		p.removeLocked(scope, e)
	}
	p.mu.Unlock()
	p.running.Wait()
}

// Acquire returns the informer of a scope (a resource or a part of it), and starts it if needed. The informer keeps
// running at least until the returned function release is called. Only the first call of release has an effect. The
// parameter by is the owner: an informer with a field selector counts towards the quota of this owner.
func (p *Pool) Acquire(
	scope listwatch.Scope, resource *resource.Resource, by informer.Owner,
) (i *informer.Informer, release func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.entries[scope]
	if scope.Fields != "" && (e == nil || e.refsByOwner[by] == 0) {
		if err := p.checkQuotaLocked(by); err != nil {
			return nil, nil, err
		}
	}
	if e == nil && scope.Fields != "" && !p.makeFieldScopeRoomLocked() {
		return nil, nil, errTooManyFields(fmt.Sprintf("%d are in use", maxFieldScopes))
	}
	if e == nil {
		if p.ctx == nil {
			return nil, nil, &status.Problem{
				Cause: status.Unavailable, Title: "Not running",
				Detail: "The program is starting or stopping; retry in a moment.",
			}
		}
		e = p.startLocked(scope, resource)
	}
	e.refs++
	e.refsByOwner[by]++
	if e.idleTimer != nil {
		e.idleTimer.Stop()
		e.idleTimer = nil
	}
	return e.informer, sync.OnceFunc(func() { p.release(scope, e, by) }), nil
}

// checkQuotaLocked returns an error if the given owner has used up the quota of informers with a field selector. The
// caller must have locked p.mu.
func (p *Pool) checkQuotaLocked(by informer.Owner) error {
	if by == (informer.Owner{}) {
		return nil
	}
	own, guests := 0, 0
	for scope, e := range p.entries {
		if scope.Fields == "" {
			continue
		}
		if e.refsByOwner[by] > 0 {
			own++
		}
		for other := range e.refsByOwner {
			if other.IsGuest {
				guests++
				break
			}
		}
	}
	switch {
	case by.IsGuest && own >= linkFieldScopes:
		return errTooManyFields(fmt.Sprintf("the viewers of this link have %d in use", linkFieldScopes))
	case by.IsGuest && guests >= guestFieldScopes:
		return errTooManyFields(fmt.Sprintf("the viewers of all links have %d in use", guestFieldScopes))
	case !by.IsGuest && own >= userFieldScopes:
		return errTooManyFields(fmt.Sprintf("you have %d in use", userFieldScopes))
	}
	return nil
}

func errTooManyFields(reason string) error {
	return &status.Problem{
		Cause: status.Unavailable, Title: "Too many field selectors",
		Detail: "Each field selector needs its own watch, and " + reason + "; close a view with a field selector, " +
			"or filter with q or labels.",
	}
}

// makeFieldScopeRoomLocked reports whether one more informer with a field selector can start. If maxFieldScopes is
// reached, it first stops the informer with a field selector that has had no readers for the longest time.
func (p *Pool) makeFieldScopeRoomLocked() bool {
	used := 0
	for scope := range p.entries {
		if scope.Fields != "" {
			used++
		}
	}
	if used < maxFieldScopes {
		return true
	}
	return p.evictLocked(func(e *entry) bool { return e.informer.Scope.Fields != "" }) != nil
}

// evictLocked stops one of the informers for which the function matches returns true: the one that has had no readers
// for the longest time.
// It returns this informer, or nil if all of them have readers. The caller must have locked p.mu.
func (p *Pool) evictLocked(matches func(*entry) bool) *entry {
	var oldest *entry
	for _, e := range p.entries {
		if e.refs == 0 && matches(e) && (oldest == nil || e.idleSince.Before(oldest.idleSince)) {
			oldest = e
		}
	}
	if oldest != nil {
		oldest.stop()
		p.removeLocked(oldest.informer.Scope, oldest)
	}
	return oldest
}

func (p *Pool) startLocked(scope listwatch.Scope, resource *resource.Resource) *entry {
	i, run := p.start(scope, resource)
	ctx, stop := context.WithCancel(p.ctx)
	e := &entry{informer: i, refsByOwner: make(map[informer.Owner]int), stop: stop}
	p.entries[scope] = e
	p.running.Go(func() { run(ctx) })
	return e
}

func (p *Pool) release(scope listwatch.Scope, e *entry, by informer.Owner) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e.refs--
	if e.refsByOwner[by]--; e.refsByOwner[by] == 0 {
		delete(e.refsByOwner, by)
	}
	if e.refs > 0 || p.entries[scope] != e {
		return
	}
	e.idleSince = time.Now()
	e.idleTimer = time.AfterFunc(p.Linger, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if e.refs == 0 && p.entries[scope] == e {
			e.stop()
			p.removeLocked(scope, e)
		}
	})
}

func (p *Pool) removeLocked(scope listwatch.Scope, e *entry) {
	if e.idleTimer != nil {
		e.idleTimer.Stop()
	}
	delete(p.entries, scope)
}

// Find returns the running informer of a scope, or nil if there is none. Unlike Acquire, it does not keep the
// informer running.
func (p *Pool) Find(scope listwatch.Scope) *informer.Informer {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.entries[scope]; e != nil {
		return e.informer
	}
	return nil
}

// RequestReconcile makes each informer review its permissions soon.
func (p *Pool) RequestReconcile() {
	for _, i := range p.Informers() {
		i.RequestReconcile()
	}
}

// Informers returns the running informers in no particular order.
func (p *Pool) Informers() []*informer.Informer {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]*informer.Informer, 0, len(p.entries))
	for _, e := range p.entries {
		all = append(all, e.informer)
	}
	return all
}

// Accounts returns the memory accounts of the running informers, for the budget.
func (p *Pool) Accounts() map[*budget.Account]bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	accounts := make(map[*budget.Account]bool, len(p.entries))
	for _, e := range p.entries {
		accounts[e.informer.Account] = e.refs == 0
	}
	return accounts
}

// EvictIdle stops an informer to free memory, for the budget: the one that has had no readers for the longest time.
func (p *Pool) EvictIdle(except *budget.Account) *budget.Account {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.evictLocked(func(e *entry) bool { return e.informer.Account != except }); e != nil {
		return e.informer.Account
	}
	return nil
}
