package watch

import (
	"context"
	"fmt"
	"sync"
	"time"

	"glasshouse/internal/watch/wire"
)

// maxFieldScopes bounds the scopes with a field selector: anybody can think of
// any number of them.
const maxFieldScopes = 20

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
	idle      *time.Timer
	idleSince time.Time
	stop      context.CancelFunc
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
// release is called, once.
func (p *pool) acquire(scope wire.Scope, resource *Resource) (i *informer, release func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.entries[scope]
	if e == nil && scope.Fields != "" && !p.roomLocked() {
		return nil, nil, &Problem{
			Cause: Unavailable, Title: "Too many field selectors",
			Detail: fmt.Sprintf("Each field selector is a watch of its own, and %d are in use; end one, or filter with q or labels.", maxFieldScopes),
		}
	}
	if e == nil {
		if p.ctx == nil {
			return nil, nil, &Problem{Cause: Unavailable, Title: "Not running", Detail: "The program is starting or stopping; ask again in a moment."}
		}
		e = p.startLocked(scope, resource)
	}
	e.holders++
	if e.idle != nil {
		e.idle.Stop()
		e.idle = nil
	}
	return e.informer, sync.OnceFunc(func() { p.release(scope, e) }), nil
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
	p.entries[scope] = e
	p.running.Go(func() { i.run(ctx) })
	return e
}

func (p *pool) release(scope wire.Scope, e *entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e.holders--
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
