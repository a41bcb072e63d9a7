package watch

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"time"

	"glasshouse/internal/watch/wire"
)

// maxFieldScopes bounds the scopes with a field selector: anybody can think of
// any number of them. Of those one user holds userFieldScopes at most, whom one thing
// is shared with linkFieldScopes, and all guests guestFieldScopes.
const (
	maxFieldScopes, userFieldScopes   = 20, 10
	linkFieldScopes, guestFieldScopes = 5, 10
)

// pool runs the informers that somebody looks at: one for each scope, shared
// by all its readers, kept for a while after the last one has gone.
type pool struct {
	linger time.Duration
	budget int64 // What all informers may hold, in bytes; 0 is no bound.
	start  func(wire.Scope, *Resource) *informer

	mu      sync.Mutex
	ctx     context.Context //nolint:containedctx // Of run, whose informers outlive the requests that start them.
	entries map[wire.Scope]*entry
	running sync.WaitGroup
}

// entry is a running informer and how many hold it.
type entry struct {
	*informer

	holders   int
	by        map[holder]int // The same, of a scope with a field selector.
	idle      *time.Timer
	idleSince time.Time
	stop      context.CancelFunc
}

// holder is who holds informers and rankings, by the hash of their key. The zero holder,
// which may hold all the informers that there may be, is the program, and who comes
// without a login.
type holder struct {
	hash  userHash
	guest bool
}

// holder is the viewer as one who holds informers and rankings.
func (v *Viewer) holder() holder {
	if v.User == nil && v.Scope == nil {
		return holder{}
	}
	return holder{sha256.Sum256([]byte(v.Key())), v.Scope != nil}
}

func newPool(linger time.Duration, budget int64, start func(wire.Scope, *Resource) *informer) *pool {
	return &pool{linger: linger, budget: budget, start: start, entries: make(map[wire.Scope]*entry)}
}

// run lets informers run until ctx ends, and returns when all have ended.
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

// acquire returns the informer of a scope, started if need be. It is held until
// release is called, once. Of a scope with a field selector it is held by somebody.
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
			return nil, nil, &Problem{Cause: Unavailable, Title: "Not running", Detail: "The program is starting or stopping; ask again in a moment."}
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

// seatLocked returns why somebody may hold no scope with a field selector more than
// they do.
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
		return tooManyFields(fmt.Sprintf("those whom this is shared with have %d in use", linkFieldScopes))
	case by.guest && guests >= guestFieldScopes:
		return tooManyFields(fmt.Sprintf("those whom something is shared with have %d in use", guestFieldScopes))
	case !by.guest && own >= userFieldScopes:
		return tooManyFields(fmt.Sprintf("you have %d in use", userFieldScopes))
	}
	return nil
}

func tooManyFields(why string) error {
	return &Problem{
		Cause: Unavailable, Title: "Too many field selectors",
		Detail: "Each field selector is a watch of its own, and " + why + "; end one, or filter with q or labels.",
	}
}

// roomLocked makes room for one more scope with a field selector: where there is
// none left, that which nobody has held for the longest time ends.
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

// evictLocked ends the informer that nobody has held for the longest time, of
// those that which chooses, and returns it; nil where there is none.
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

// find returns a running informer without holding it, or nil.
func (p *pool) find(scope wire.Scope) *informer {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.entries[scope]; e != nil {
		return e.informer
	}
	return nil
}

// kick has every informer look at its surroundings.
func (p *pool) kick() {
	for _, i := range p.informers() {
		i.kick()
	}
}

// informers are those that run.
func (p *pool) informers() []*informer {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]*informer, 0, len(p.entries))
	for _, e := range p.entries {
		all = append(all, e.informer)
	}
	return all
}
