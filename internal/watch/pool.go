package watch

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"time"

	"glasshouse/internal/watch/wire"
)

// maxFieldScopes limits the scopes (what one informer watches) with a field selector, because clients can invent any
// number of them. userFieldScopes is the limit for one user, linkFieldScopes for one share link, and guestFieldScopes
// for all guests.
const (
	maxFieldScopes, userFieldScopes   = 20, 10
	linkFieldScopes, guestFieldScopes = 5, 10
)

// pool runs one informer for each scope that has readers. All readers of a scope share its informer. An informer keeps
// running for the linger time after its last reader has left.
type pool struct {
	linger time.Duration
	budget int64 // The maximum memory of all informers, in bytes; 0 means no limit.
	start  func(wire.Scope, *Resource) *informer

	mu      sync.Mutex
	ctx     context.Context //nolint:containedctx // The context of run. Informers outlive requests.
	entries map[wire.Scope]*entry
	running sync.WaitGroup
}

// entry is a running informer with the number of its holders, which are calls of acquire that are not released yet.
type entry struct {
	*informer

	holders   int
	by        map[holder]int // The number of holders by owner, for a scope with a field selector.
	idle      *time.Timer
	idleSince time.Time
	stop      context.CancelFunc
}

// holder is the owner (a user or a share link) whose quota includes an informer or a ranking. hash identifies it. The
// zero holder represents the program itself, and callers without a login; it has no quota of its own.
type holder struct {
	hash  userHash
	guest bool
}

// holder returns the owner whose quota includes the informers and rankings of the viewer.
func (v *Viewer) holder() holder {
	if v.User == nil && v.Scope == nil {
		return holder{}
	}
	return holder{sha256.Sum256([]byte(v.Key())), v.Scope != nil}
}

func newPool(linger time.Duration, budget int64, start func(wire.Scope, *Resource) *informer) *pool {
	return &pool{linger: linger, budget: budget, start: start, entries: make(map[wire.Scope]*entry)}
}

// run allows the pool to start informers until ctx ends. It then stops all informers, and returns when they have ended.
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

// acquire returns the informer of a scope, and starts it if needed. The informer keeps running until release is called;
// further calls of release do nothing. An informer with a field selector counts towards the quota of by.
func (p *pool) acquire(scope wire.Scope, resource *Resource, by holder) (i *informer, release func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.entries[scope]
	if scope.Fields != "" && (e == nil || e.by[by] == 0) {
		if err := p.seatLocked(by); err != nil {
			return nil, nil, err
		}
	}
	if e == nil && scope.Fields != "" && !p.roomLocked() {
		return nil, nil, tooManyFields(fmt.Sprintf("%d are in use", maxFieldScopes))
	}
	if e == nil {
		if p.ctx == nil {
			return nil, nil, &Problem{
				Cause: Unavailable, Title: "Not running",
				Detail: "The program is starting or stopping; retry in a moment.",
			}
		}
		e = p.startLocked(scope, resource)
	}
	e.holders++
	if scope.Fields != "" {
		e.by[by]++
	}
	if e.idle != nil {
		e.idle.Stop()
		e.idle = nil
	}
	return e.informer, sync.OnceFunc(func() { p.release(scope, e, by) }), nil
}

// seatLocked returns an error if by has used up its quota of scopes with a field selector. The caller holds p.mu.
func (p *pool) seatLocked(by holder) error {
	if by == (holder{}) {
		return nil
	}
	own, guests := 0, 0
	for _, e := range p.entries {
		if e.by[by] > 0 {
			own++
		}
		for other := range e.by {
			if other.guest {
				guests++
				break
			}
		}
	}
	switch {
	case by.guest && own >= linkFieldScopes:
		return tooManyFields(fmt.Sprintf("the viewers of this link have %d in use", linkFieldScopes))
	case by.guest && guests >= guestFieldScopes:
		return tooManyFields(fmt.Sprintf("the viewers of all links have %d in use", guestFieldScopes))
	case !by.guest && own >= userFieldScopes:
		return tooManyFields(fmt.Sprintf("you have %d in use", userFieldScopes))
	}
	return nil
}

func tooManyFields(why string) error {
	return &Problem{
		Cause: Unavailable, Title: "Too many field selectors",
		Detail: "Each field selector needs its own watch, and " + why + "; close one, or filter with q or labels.",
	}
}

// roomLocked reports whether one more scope with a field selector may start. If the limit is reached, it first evicts
// the one that has been idle the longest.
func (p *pool) roomLocked() bool {
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

// evictLocked stops and returns the informer that has been idle the longest among those for which which() is true.
// It returns nil if no such informer is idle.
func (p *pool) evictLocked(which func(*entry) bool) *entry {
	var oldest *entry
	for _, e := range p.entries {
		if e.holders == 0 && which(e) && (oldest == nil || e.idleSince.Before(oldest.idleSince)) {
			oldest = e
		}
	}
	if oldest != nil {
		oldest.stop()
		p.removeLocked(oldest.scope, oldest)
	}
	return oldest
}

func (p *pool) startLocked(scope wire.Scope, resource *Resource) *entry {
	i := p.start(scope, resource)
	ctx, stop := context.WithCancel(p.ctx)
	e := &entry{informer: i, stop: stop}
	if scope.Fields != "" {
		e.by = make(map[holder]int)
	}
	p.entries[scope] = e
	p.running.Go(func() { i.run(ctx) })
	return e
}

func (p *pool) release(scope wire.Scope, e *entry, by holder) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e.holders--
	if scope.Fields != "" {
		if e.by[by]--; e.by[by] == 0 {
			delete(e.by, by)
		}
	}
	if e.holders > 0 || p.entries[scope] != e {
		return
	}
	e.idleSince = time.Now()
	e.idle = time.AfterFunc(p.linger, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if e.holders == 0 && p.entries[scope] == e {
			e.stop()
			p.removeLocked(scope, e)
		}
	})
}

func (p *pool) removeLocked(scope wire.Scope, e *entry) {
	if e.idle != nil {
		e.idle.Stop()
	}
	delete(p.entries, scope)
}

// find returns the informer of a scope if it is running, or nil. Unlike acquire, it does not keep the informer running.
func (p *pool) find(scope wire.Scope) *informer {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.entries[scope]; e != nil {
		return e.informer
	}
	return nil
}

// kick wakes the reconcilers of all informers, so that they run soon.
func (p *pool) kick() {
	for _, i := range p.informers() {
		i.kick()
	}
}

// informers returns the running informers.
func (p *pool) informers() []*informer {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]*informer, 0, len(p.entries))
	for _, e := range p.entries {
		all = append(all, e.informer)
	}
	return all
}
