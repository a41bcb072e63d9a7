// Package inherit determines the verdicts that objects inherit from other objects. It reads the journals of the
// resources that can affect verdicts, and indexes the references between their objects. When a neighbor of an object
// changes, it evaluates the object again.
package inherit

import (
	"context"
	"sync"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer/pool"
	"github.com/glasshouse-project/glasshouse/internal/watch/inherit/demand"
	"github.com/glasshouse-project/glasshouse/internal/watch/inherit/results"
	"github.com/glasshouse-project/glasshouse/internal/watch/inherit/revisit"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/signal"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Options are the settings of an Engine, and the functions with which it reads other data of the cluster.
type Options struct {
	Pool *pool.Pool
	// Resources returns the resources that the cluster serves. unknown contains the API groups some of whose resources
	// could not be read, or resource.AnyGroup.
	Resources func() (resources []resource.Resource, unknown []string)
	// Discovered is signaled after a change of the resources that the cluster serves.
	Discovered *signal.Signal
	// Linger is how long the engine keeps running after the last call of release: see Acquire.
	Linger time.Duration
}

// Engine evaluates inherited verdicts while it is acquired: see Acquire. It is safe for concurrent use.
type Engine struct {
	index

	options     Options
	results     results.Results
	cuts        results.Cuts
	mentions    revisit.Mentions
	unread      revisit.Unread
	observation results.Observation
	revisits    revisit.Tracker
	limiter     revisit.Limiter
	queue       *revisit.Queue

	startMu sync.Mutex
	ctx     context.Context //nolint:containedctx // The context of Run. The engine outlives the request that starts it.
	// acquired is the number of calls of Acquire that are not released.
	acquired int
	idle     *time.Timer
	stop     context.CancelFunc
	ended    chan struct{} // Closed when the latest run has ended; nil before the first run.
	running  sync.WaitGroup

	changed *signal.Signal
	usages  demand.Totals
	specs   specChanges
}

// New returns an Engine that does not run yet.
func New(options Options) *Engine {
	e := &Engine{options: options, queue: revisit.NewQueue(), changed: signal.New()}
	e.graph = graph.New(e.isNamespaced)
	e.forgetResources()
	e.results.Reset()
	e.mentions.Reset()
	return e
}

// Run lets the engine run while it is acquired, until ctx ends. Then Run stops the engine, and waits for all of its
// goroutines.
func (e *Engine) Run(ctx context.Context) {
	e.startMu.Lock()
	e.ctx = ctx
	if e.acquired > 0 {
		e.startLocked() //nolint:contextcheck // startLocked uses e.ctx.
	}
	e.startMu.Unlock()
	<-ctx.Done()
	e.startMu.Lock()
	e.ctx = nil
	e.stopLocked()
	e.startMu.Unlock()
	e.running.Wait()
}

// Acquire keeps the engine running until release is called, and for the duration Options.Linger afterward.
func (e *Engine) Acquire() (release func()) {
	e.startMu.Lock()
	defer e.startMu.Unlock()
	e.acquired++
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
		if e.acquired--; e.acquired == 0 {
			e.idle = time.AfterFunc(e.options.Linger, func() {
				e.startMu.Lock()
				defer e.startMu.Unlock()
				if e.acquired == 0 {
					e.stopLocked()
				}
			})
		}
	})
}

func (e *Engine) startLocked() {
	ctx, stop := context.WithCancel(e.ctx)
	before, ended := e.ended, make(chan struct{})
	e.stop, e.ended = stop, ended
	e.running.Go(func() {
		defer close(ended)
		if before != nil {
			<-before // Wait for the end of the previous run: two runs must not share the engine's state.
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

// clear resets the state of the engine after a run. It also removes all inherited verdicts, because the engine no
// longer updates them.
func (e *Engine) clear() {
	e.usages.Reset()
	e.revisits.Reset()
	e.limiter.Reset()
	e.queue.Clear() // After the timers that mark objects.
	e.forgetResources()
	e.graph.Clear()
	e.mentions.Reset()
	e.cuts.Reset()
	for _, id := range e.results.Reset() {
		e.publish(id)
	}
}

// Changed returns a channel that signals the next change of a verdict or of the watched resources.
func (e *Engine) Changed() <-chan struct{} { return e.changed.Next() }

// Inherited returns the verdict that an object inherits, or nil.
func (e *Engine) Inherited(kind graph.Kind, key string) *verdict.Verdict {
	return e.results.Get(graph.ID{Kind: kind, Key: key})
}

// evaluateInterval is the pause between two evaluations. Changes in this time are evaluated together.
const evaluateInterval = 50 * time.Millisecond

func (e *Engine) evaluateDirty(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.queue.Requests():
		}
		e.evaluateBatch(ctx)
		e.changed.Broadcast()
		signal.Sleep(ctx, evaluateInterval)
	}
}

// evaluateBatch evaluates the objects that are dirty now.
func (e *Engine) evaluateBatch(ctx context.Context) {
	restarts := e.observation.RestartCount() // Read before the batch, so that a later restart is noticed.
	for id := range e.queue.Take() {
		if ctx.Err() != nil {
			return
		}
		e.evaluate(id)
	}
	e.queue.Done()
	e.observation.Complete(restarts)
}

func (e *Engine) evaluate(id graph.ID) {
	r, n, before := &recorder{Engine: e, id: id}, e.Find(id), e.results.Get(id)
	v := cause.Of(r, n)
	e.revisits.Schedule(id, r.revisitAt, e.queue.Mark)
	if v != nil || n.Object != nil && n.Object.Verdict().Own().Severity().IsProblem() {
		r.named = append(r.named, r.lists...)
	}
	e.mentions.Set(id, r.named)
	if v == nil && (n.Object == nil || n.Object.Verdict().Own().Severity() == verdict.None) {
		r.cuts = nil // No verdict depends on the lists.
	}
	e.cuts.Set(id, r.cuts)
	if e.results.Set(id, v) {
		e.publish(id)
		for _, of := range []*verdict.Verdict{before, v} {
			if next, _ := results.NextOf(of); next.Group == admissionGroup {
				e.queue.Mark(next) // Its rule reads the objects that inherit from it.
			}
		}
	}
}

// publish applies the inherited verdict in all informers that contain the object, in any API version.
func (e *Engine) publish(id graph.ID) {
	r := e.resourceOf(id.Kind)
	if r == nil {
		return
	}
	for _, i := range e.options.Pool.Informers() {
		if scope := i.Scope.Resource; scope.Group == r.Group && scope.Resource == r.Resource && !i.Scope.Metadata {
			i.UpdateVerdict(id.Key)
		}
	}
}

// AwaitSettled waits until all objects are evaluated, but at most for the duration wait.
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

func (e *Engine) isSettled() bool { return e.queue.IsEmpty() && e.isListed() }

// Began returns since when an object is not OK, and since when it is degraded or failed. The times are zero if the
// engine did not observe them, because the object had its problem before the engine read it. Recoveries of at most 5
// minutes do not count.
func (e *Engine) Began(id graph.ID) (leftOK, began time.Time) { return e.results.Began(id) }

// Usage returns the numbers of pods, and their resource requests, in all namespaces for which include returns true.
func (e *Engine) Usage(include func(namespace string) bool) demand.Total {
	return e.usages.Sum(include)
}

// Problems returns the objects that are not OK, in no particular order.
func (e *Engine) Problems() (found []neighbor.Neighbor) {
	for _, id := range e.results.ProblemIDs() {
		if n := e.Find(id); n.Object != nil {
			found = append(found, n)
		}
	}
	return found
}
