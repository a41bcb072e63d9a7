// Package pool runs one informer for each scope (a resource or a part of it) that has readers. All informers together
// have a memory budget. All functions are safe for concurrent use. All goroutines have ended when Pool.Run returns.
package pool

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer/budget"
	"github.com/glasshouse-project/glasshouse/internal/watch/listwatch"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

// Maximum numbers of informers with a field selector. They are limited, because each field selector needs its own
// informer, and clients can invent any number of field selectors.
const (
	// maxFieldScopes is the maximum for all users and share links together. userFieldScopes is the maximum for one user.
	maxFieldScopes, userFieldScopes = 20, 10
	// linkFieldScopes is the maximum for one share link. guestFieldScopes is the maximum for all share links together.
	linkFieldScopes, guestFieldScopes = 5, 10
)

// Pool runs one informer for each scope: a resource, optionally with a field selector. All readers of a scope share its
// informer.
type Pool struct {
	// Linger is how long an informer keeps running after its last reference was released.
	Linger time.Duration
	Budget *budget.Budget // The memory of all informers.
	start  Start

	mu      sync.Mutex
	ctx     context.Context //nolint:containedctx // The context of Run. Informers outlive requests.
	entries map[listwatch.Scope]*entry
	running sync.WaitGroup
}

// Start creates an informer and returns it with the function run, which keeps it up to date until ctx ends.
type Start func(listwatch.Scope, *resource.Resource) (i *informer.Informer, run func(ctx context.Context))

// entry is a running informer with the number of references to it. Each call of Acquire adds a reference. The
// function release that this call returns removes the reference.
type entry struct {
	informer    *informer.Informer
	refs        int
	refsByOwner map[informer.Owner]int
	idleTimer   *time.Timer
	idleSince   time.Time
	stop        context.CancelFunc
}

// New returns a pool in which an informer without readers stops after lingerTime. limit is the maximum memory of all
// informers in bytes; 0 means no limit.
func New(lingerTime time.Duration, limit int64, start Start) *Pool {
	p := &Pool{Linger: lingerTime, start: start, entries: make(map[listwatch.Scope]*entry)}
	p.Budget = budget.New(limit, p)
	return p
}

// Run allows the pool to start informers until ctx ends. It then stops all informers, and waits until they have ended.
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

// Acquire returns the informer of a scope, and starts it if it is not running. The informer runs at least until release
// is called. If the scope has a field selector, the informer counts toward the quota of owner (a viewer).
func (p *Pool) Acquire(
	scope listwatch.Scope, resource *resource.Resource, owner informer.Owner,
) (i *informer.Informer, release func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.entries[scope]
	if scope.Fields != "" && (e == nil || e.refsByOwner[owner] == 0) {
		if err := p.checkQuotaLocked(owner); err != nil {
			return nil, nil, err
		}
	}
	if e == nil && scope.Fields != "" && !p.makeFieldScopeRoomLocked() {
		return nil, nil, errTooManyFields(fmt.Sprintf("%d watches are in use", maxFieldScopes))
	}
	if e == nil {
		if p.ctx == nil {
			return nil, nil, status.Unavailablef("Not running",
				"The program is starting or stopping; retry in a moment.")
		}
		e = p.startLocked(scope, resource)
	}
	e.refs++
	e.refsByOwner[owner]++
	if e.idleTimer != nil {
		e.idleTimer.Stop()
		e.idleTimer = nil
	}
	return e.informer, sync.OnceFunc(func() { p.release(scope, e, owner) }), nil
}

// checkQuotaLocked returns an error if owner already uses as many informers with a field selector as its quota allows.
// The caller must lock p.mu.
func (p *Pool) checkQuotaLocked(owner informer.Owner) error {
	if owner == (informer.Owner{}) {
		return nil
	}
	own, guests := 0, 0
	for scope, e := range p.entries {
		if scope.Fields == "" {
			continue
		}
		if e.refsByOwner[owner] > 0 {
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
	case owner.IsGuest && own >= linkFieldScopes:
		return errTooManyFields(fmt.Sprintf("the viewers of this link use %d watches", linkFieldScopes))
	case owner.IsGuest && guests >= guestFieldScopes:
		return errTooManyFields(fmt.Sprintf("the viewers of all links use %d watches", guestFieldScopes))
	case !owner.IsGuest && own >= userFieldScopes:
		return errTooManyFields(fmt.Sprintf("you use %d watches", userFieldScopes))
	}
	return nil
}

func errTooManyFields(reason string) error {
	return status.Unavailablef("Too many field selectors", "Each field selector needs its own watch, and %s, "+
		"which is the maximum; close a view with a field selector, or filter with q or labels.", reason)
}

// makeFieldScopeRoomLocked reports whether another informer with a field selector can start. If their maximum number is
// reached, it first stops the one that has been idle for the longest time. The caller must lock p.mu.
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

// evictLocked stops the informer that has been idle (without readers) for the longest time, of those that match filter.
// It returns the stopped informer, or nil. The caller must lock p.mu.
func (p *Pool) evictLocked(filter func(*entry) bool) *entry {
	var oldest *entry
	for _, e := range p.entries {
		if e.refs == 0 && filter(e) && (oldest == nil || e.idleSince.Before(oldest.idleSince)) {
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

func (p *Pool) release(scope listwatch.Scope, e *entry, owner informer.Owner) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e.refs--
	if e.refsByOwner[owner]--; e.refsByOwner[owner] == 0 {
		delete(e.refsByOwner, owner)
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

// Find returns the running informer of a scope, or nil. It adds no reference, so the informer can stop at any time.
func (p *Pool) Find(scope listwatch.Scope) *informer.Informer {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.entries[scope]; e != nil {
		return e.informer
	}
	return nil
}

// RequestReconcile makes the reconciler of each informer check permissions, memory and feeds soon.
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

// Accounts returns the memory accounts of the running informers, for the budget. The value of an account is true if its
// informer is idle (has no readers).
func (p *Pool) Accounts() map[*budget.Account]bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	accounts := make(map[*budget.Account]bool, len(p.entries))
	for _, e := range p.entries {
		accounts[e.informer.Account] = e.refs == 0
	}
	return accounts
}

// EvictIdle stops the informer that has been idle for the longest time. It never stops the informer of requester. It
// returns the account of the stopped informer, or nil if there is none. The budget calls EvictIdle to free memory.
func (p *Pool) EvictIdle(requester *budget.Account) *budget.Account {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.evictLocked(func(e *entry) bool { return e.informer.Account != requester }); e != nil {
		return e.informer.Account
	}
	return nil
}
