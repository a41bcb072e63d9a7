// Package inherit keeps the verdicts up to date that objects inherit from other objects. It reads the journals of the
// resources that matter, indexes the references between their objects, and evaluates an object again when a neighbor
// changes.
package inherit

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer/pool"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/signal"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Options are what an Engine needs.
type Options struct {
	Pool *pool.Pool
	// Resources returns the resources that the cluster serves. isComplete is false if some could not be read.
	Resources func() (resources []resource.Resource, isComplete bool)
	// Discovered is signaled after a change of the resources.
	Discovered *signal.Signal
	// Linger is how long the engine runs without users.
	Linger time.Duration
	Log    *slog.Logger
}

// Engine evaluates inherited verdicts while somebody uses it. It is safe for concurrent use.
type Engine struct {
	options Options
	graph   *graph.Graph

	startMu sync.Mutex
	ctx     context.Context //nolint:containedctx // The context of Run. The engine outlives the request that starts it.
	users   int
	idle    *time.Timer
	stop    context.CancelFunc
	ended   chan struct{} // Closed when the run that was started last has ended; nil before the first one.
	running sync.WaitGroup

	mu        sync.RWMutex
	served    map[graph.Kind]*resource.Resource
	isPlanned bool // The resources to watch are known.
	complete  bool // Discovery has found all resources.
	watched   map[graph.Kind]*watched
	order     []*watched // In the order of their start.
	planned   int
	inherited map[graph.ID]*verdict.Verdict
	problems  map[graph.ID]struct{} // The objects that are not OK.
	dirty     map[graph.ID]struct{}
	wake      chan struct{}
	// evaluating is true while objects are evaluated that are not dirty any more.
	evaluating bool
	changed    *signal.Signal
	usages     usages
	specs      specChanges
}

// New returns an Engine that does not run yet.
func New(options Options) *Engine {
	e := &Engine{
		options: options, served: make(map[graph.Kind]*resource.Resource), wake: make(chan struct{}, 1),
		changed: signal.New(),
	}
	e.graph = graph.New(e.isNamespaced)
	e.reset()
	return e
}

func (e *Engine) reset() {
	e.watched, e.order, e.planned, e.isPlanned = make(map[graph.Kind]*watched), nil, 0, false
	e.evaluating = false
	e.inherited, e.problems = make(map[graph.ID]*verdict.Verdict), make(map[graph.ID]struct{})
	e.dirty = make(map[graph.ID]struct{})
	e.usages.reset()
}

// Run permits the engine to start, until ctx ends. Then it waits for all goroutines.
func (e *Engine) Run(ctx context.Context) {
	e.startMu.Lock()
	e.ctx = ctx
	if e.users > 0 {
		e.startLocked()
	}
	e.startMu.Unlock()
	<-ctx.Done()
	e.startMu.Lock()
	e.ctx = nil
	e.stopLocked()
	e.startMu.Unlock()
	e.running.Wait()
}

// Acquire keeps the engine running until release is called, and for the linger time afterward.
func (e *Engine) Acquire() (release func()) {
	e.startMu.Lock()
	defer e.startMu.Unlock()
	e.users++
	if e.idle != nil {
		e.idle.Stop()
		e.idle = nil
	}
	if e.stop == nil && e.ctx != nil {
		e.startLocked()
	}
	return sync.OnceFunc(func() {
		e.startMu.Lock()
		defer e.startMu.Unlock()
		if e.users--; e.users == 0 {
			e.idle = time.AfterFunc(e.options.Linger, e.stopIdle)
		}
	})
}

func (e *Engine) stopIdle() {
	e.startMu.Lock()
	defer e.startMu.Unlock()
	if e.users == 0 {
		e.stopLocked()
	}
}

func (e *Engine) startLocked() {
	ctx, stop := context.WithCancel(e.ctx)
	before, ended := e.ended, make(chan struct{})
	e.stop, e.ended = stop, ended
	e.running.Go(func() {
		defer close(ended)
		if before != nil {
			<-before // Two runs must not share the state of the engine.
		}
		var parts sync.WaitGroup
		parts.Go(func() { e.watchResources(ctx, &parts) })
		parts.Go(func() { e.evaluateDirty(ctx) })
		parts.Wait()
		e.clear()
	})
}

func (e *Engine) stopLocked() {
	if e.stop != nil {
		e.stop()
		e.stop = nil
	}
}

// clear removes all inherited verdicts, because nothing keeps them up to date any more.
func (e *Engine) clear() {
	e.mu.Lock()
	ids := slices.Collect(maps.Keys(e.inherited))
	e.reset()
	e.mu.Unlock()
	e.graph.Clear()
	for _, id := range ids {
		e.publish(id)
	}
}

// Changed is signaled after each change of a verdict or of the watched resources.
func (e *Engine) Changed() <-chan struct{} { return e.changed.Next() }

// Inherited returns the verdict that an object inherits, or nil.
func (e *Engine) Inherited(kind graph.Kind, key string) *verdict.Verdict {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.inherited[graph.ID{Kind: kind, Key: key}]
}

func (e *Engine) isNamespaced(kind graph.Kind) (namespaced, ok bool) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	r := e.served[kind]
	if r == nil {
		return false, false
	}
	return r.Namespaced, true
}

// evaluateInterval is the time in which changes are collected before objects are evaluated again.
const evaluateInterval = 50 * time.Millisecond

func (e *Engine) evaluateDirty(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.wake:
		}
		e.mu.Lock()
		batch := e.dirty
		e.dirty, e.evaluating = make(map[graph.ID]struct{}), true
		e.mu.Unlock()
		for id := range batch {
			if ctx.Err() != nil {
				return
			}
			e.evaluate(id)
		}
		e.mu.Lock()
		e.evaluating = false
		e.mu.Unlock()
		e.changed.Broadcast()
		signal.Sleep(ctx, evaluateInterval)
	}
}

func (e *Engine) evaluate(id graph.ID) {
	v := cause.Of(e, e.Find(id))
	e.mu.Lock()
	before := e.inherited[id]
	if same(before, v) {
		e.mu.Unlock()
		return
	}
	if v == nil {
		delete(e.inherited, id)
	} else {
		e.inherited[id] = v
	}
	e.mu.Unlock()
	e.publish(id)
}

func same(a, b *verdict.Verdict) bool {
	if a == nil || b == nil {
		return a == b
	}
	if (a.Cause == nil) != (b.Cause == nil) || a.Cause != nil && *a.Cause != *b.Cause {
		return false
	}
	return a.Severity == b.Severity && a.Sources == b.Sources && a.Reason == b.Reason && a.Sentence == b.Sentence
}

// publish applies the inherited verdict in all informers that contain the object, also in those of other versions.
func (e *Engine) publish(id graph.ID) {
	e.mu.RLock()
	r := e.served[id.Kind]
	e.mu.RUnlock()
	if r == nil {
		return
	}
	for _, i := range e.options.Pool.Informers() {
		if scope := i.Scope.Resource; scope.Group == r.Group && scope.Resource == r.Resource && !i.Scope.Metadata {
			i.UpdateVerdict(id.Key)
		}
	}
}

// mark evaluates objects again soon.
func (e *Engine) mark(ids ...graph.ID) {
	if len(ids) == 0 {
		return
	}
	e.mu.Lock()
	for _, id := range ids {
		e.dirty[id] = struct{}{}
	}
	e.mu.Unlock()
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// AwaitSettled waits until all objects are evaluated, but at most the duration wait.
func (e *Engine) AwaitSettled(ctx context.Context, wait time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for !e.isSettled() && ctx.Err() == nil {
		signal.Sleep(ctx, settleInterval)
	}
}

const (
	settleInterval = 20 * time.Millisecond // How often AwaitSettled checks.
	// maxListing is how long AwaitSettled waits for the list of one resource.
	maxListing = 5 * time.Second
)

func (e *Engine) isSettled() bool {
	e.mu.RLock()
	settled := e.isPlanned && len(e.order) >= e.planned && len(e.dirty) == 0 && !e.evaluating
	order := e.order
	e.mu.RUnlock()
	return settled && !slices.ContainsFunc(order, func(w *watched) bool {
		isListing := w.informer.CurrentState(nil).Status.State == status.Syncing || !w.isRead.Load()
		return isListing && time.Since(w.started) < maxListing
	})
}

// State is what the engine reads.
type State struct {
	Watched []Watched // In the order of their start.
	Planned int       // The number of resources that will be watched.
	// IsPlanned reports whether the resources to watch are known.
	IsPlanned bool
}

// Watched is one resource that the engine reads.
type Watched struct {
	Resource *resource.Resource
	Informer *informer.Informer
}

// State returns what the engine reads now.
func (e *Engine) State() State {
	e.mu.RLock()
	defer e.mu.RUnlock()
	s := State{Planned: e.planned, IsPlanned: e.isPlanned}
	for _, w := range e.order {
		s.Watched = append(s.Watched, Watched{w.resource, w.informer})
	}
	return s
}

// Problems returns the objects that are not OK, in no particular order.
func (e *Engine) Problems() (found []cause.Neighbor) {
	for _, id := range e.currentProblems() {
		if n := e.Find(id); n.Object != nil {
			found = append(found, n)
		}
	}
	return found
}
