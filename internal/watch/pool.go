package watch

import (
	"context"
	"fmt"
	"sync"
	"time"

	"glasshouse/internal/watch/authz"
	"glasshouse/internal/watch/listwatch"
	"glasshouse/internal/watch/resource"
	"glasshouse/internal/watch/status"
)

// maxFieldScopes is the maximum number of informers with a field selector, because clients can invent any number of
// field selectors. userFieldScopes is the maximum for one user, linkFieldScopes for one share link, and
// guestFieldScopes for all share links together.
const (
	maxFieldScopes, userFieldScopes   = 20, 10
	linkFieldScopes, guestFieldScopes = 5, 10
)

// pool runs one informer for each scope that has readers. A scope is a resource, optionally with a field selector.
// All readers of a scope share its informer (its list and watch). The informer keeps running for the linger time
// after its last reader has left.
type pool struct {
	linger time.Duration
	budget int64 // The maximum memory of all informers, in bytes; 0 means no limit.
	start  func(listwatch.Scope, *resource.Resource) *informer

	mu      sync.Mutex
	ctx     context.Context //nolint:containedctx // The context of run. Informers outlive requests.
	entries map[listwatch.Scope]*entry
	running sync.WaitGroup
}

// entry is a running informer with the number of its references. Each call of acquire adds a reference, until its
// release.
type entry struct {
	*informer

	refs        int
	refsByOwner map[owner]int // The references by owner; nil if the scope has no field selector.
	idleTimer   *time.Timer
	idleSince   time.Time
	stop        context.CancelFunc
}

// owner is the user or the share link whose quota includes an informer or a ranking (a sorted list of rows). hash
// identifies the user or link. The zero owner is the program itself, or a caller without a login; it has no quota.
type owner struct {
	hash    authz.UserHash
	isGuest bool
}

func newPool(linger time.Duration, budget int64, start func(listwatch.Scope, *resource.Resource) *informer) *pool {
	return &pool{linger: linger, budget: budget, start: start, entries: make(map[listwatch.Scope]*entry)}
}

// run permits the pool to start informers until ctx ends. Then it stops all informers, and returns when they have
// ended.
func (p *pool) run(ctx context.Context) {
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

// acquire returns the informer of a scope, and starts it if needed. The informer keeps running at least until release
// is called. Only the first call of release has an effect. An informer with a field selector counts towards the quota
// of the owner by.
func (p *pool) acquire(
	scope listwatch.Scope, resource *resource.Resource, by owner,
) (i *informer, release func(), err error) {
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
	if scope.Fields != "" {
		e.refsByOwner[by]++
	}
	if e.idleTimer != nil {
		e.idleTimer.Stop()
		e.idleTimer = nil
	}
	return e.informer, sync.OnceFunc(func() { p.release(scope, e, by) }), nil
}

// checkQuotaLocked returns an error if the owner by has used up its quota of informers with a field selector. The
// caller must have locked p.mu.
func (p *pool) checkQuotaLocked(by owner) error {
	if by == (owner{}) {
		return nil
	}
	own, guests := 0, 0
	for _, e := range p.entries {
		if e.refsByOwner[by] > 0 {
			own++
		}
		for other := range e.refsByOwner {
			if other.isGuest {
				guests++
				break
			}
		}
	}
	switch {
	case by.isGuest && own >= linkFieldScopes:
		return errTooManyFields(fmt.Sprintf("the viewers of this link have %d in use", linkFieldScopes))
	case by.isGuest && guests >= guestFieldScopes:
		return errTooManyFields(fmt.Sprintf("the viewers of all links have %d in use", guestFieldScopes))
	case !by.isGuest && own >= userFieldScopes:
		return errTooManyFields(fmt.Sprintf("you have %d in use", userFieldScopes))
	}
	return nil
}

func errTooManyFields(reason string) error {
	return &status.Problem{
		Cause: status.Unavailable, Title: "Too many field selectors",
		Detail: "Each field selector needs its own watch, and " + reason + "; close one, or filter with q or labels.",
	}
}

// makeFieldScopeRoomLocked reports whether one more informer with a field selector can start. If maxFieldScopes is
// reached, it first stops the informer with a field selector that has had no readers for the longest time.
func (p *pool) makeFieldScopeRoomLocked() bool {
	used := 0
	for scope := range p.entries {
		if scope.Fields != "" {
			used++
		}
	}
	if used < maxFieldScopes {
		return true
	}
	return p.evictLocked(func(e *entry) bool { return e.scope.Fields != "" }) != nil
}

// evictLocked stops one informer for which matches() is true, and returns it: the one that has had no readers for the
// longest time. It returns nil if all of them have readers.
func (p *pool) evictLocked(matches func(*entry) bool) *entry {
	var oldest *entry
	for _, e := range p.entries {
		if e.refs == 0 && matches(e) && (oldest == nil || e.idleSince.Before(oldest.idleSince)) {
			oldest = e
		}
	}
	if oldest != nil {
		oldest.stop()
		p.removeLocked(oldest.scope, oldest)
	}
	return oldest
}

func (p *pool) startLocked(scope listwatch.Scope, resource *resource.Resource) *entry {
	i := p.start(scope, resource)
	ctx, stop := context.WithCancel(p.ctx)
	e := &entry{informer: i, stop: stop}
	if scope.Fields != "" {
		e.refsByOwner = make(map[owner]int)
	}
	p.entries[scope] = e
	p.running.Go(func() { i.run(ctx) })
	return e
}

func (p *pool) release(scope listwatch.Scope, e *entry, by owner) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e.refs--
	if scope.Fields != "" {
		if e.refsByOwner[by]--; e.refsByOwner[by] == 0 {
			delete(e.refsByOwner, by)
		}
	}
	if e.refs > 0 || p.entries[scope] != e {
		return
	}
	e.idleSince = time.Now()
	e.idleTimer = time.AfterFunc(p.linger, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if e.refs == 0 && p.entries[scope] == e {
			e.stop()
			p.removeLocked(scope, e)
		}
	})
}

func (p *pool) removeLocked(scope listwatch.Scope, e *entry) {
	if e.idleTimer != nil {
		e.idleTimer.Stop()
	}
	delete(p.entries, scope)
}

// find returns the running informer of a scope, or nil if there is none. Unlike acquire, it does not keep the
// informer running.
func (p *pool) find(scope listwatch.Scope) *informer {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.entries[scope]; e != nil {
		return e.informer
	}
	return nil
}

func (p *pool) requestReconcile() {
	for _, i := range p.informers() {
		i.requestReconcile()
	}
}

func (p *pool) informers() []*informer {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]*informer, 0, len(p.entries))
	for _, e := range p.entries {
		all = append(all, e.informer)
	}
	return all
}
