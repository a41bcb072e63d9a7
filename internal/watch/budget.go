package watch

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// MinMemory is the least Options.MemoryLimit: what the program needs before it
// has watched anything, and as much again.
const MinMemory = 96 << 20

// ownMemory is what the program needs beside what it watches.
const ownMemory = 48 << 20

// budgetOf is how much of a memory limit what is watched may hold. The rest is
// the garbage collector's room, and what answers are made in.
func budgetOf(limit int64) int64 {
	if limit == 0 {
		return 0
	}
	return (limit - ownMemory) / 2
}

const (
	// estimateEvery is how long an estimate that did not fit is good for.
	estimateEvery = time.Minute
	// changeMargin is how much of what is watched its changes may add.
	changeMargin = 1.1
)

// holding is what an informer holds, in bytes, and will hold when what it lists
// has come.
func (i *informer) holding() int64 {
	state, ring := i.Weight()
	return int64(state+ring) + i.expected.Load()
}

// holdings are what all informers hold.
func (p *pool) holdings() (sum int64) {
	for _, e := range p.all() {
		sum += e.holding()
	}
	return sum
}

// room ends informers that nobody looks at, longest idle first, until bytes
// more fit. It reports whether they do, and how many are free.
func (p *pool) room(bytes int64, asker *informer) (free int64, fits bool) {
	for {
		free = p.budget - p.holdings()
		if p.budget == 0 || bytes <= free {
			return free, true
		}
		if !p.evict(asker) {
			return free, false
		}
	}
}

// evict ends the informer that has been idle for the longest time, and reports
// whether there was one.
func (p *pool) evict(but *informer) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	var oldest *entry
	for _, e := range p.entries {
		if e.holders == 0 && e.informer != but && (oldest == nil || e.idleSince.Before(oldest.idleSince)) {
			oldest = e
		}
	}
	if oldest == nil {
		return false
	}
	oldest.stop()
	p.removeLocked(oldest.scope, oldest)
	p.log.Info("nobody looks at it, and memory is short: no longer watched", "resource", oldest.scope.Resource.GroupResource().String())
	return true
}

// overdrawn reports whether an informer must end because all of them hold more
// than they may, and none holds more than this one.
func (p *pool) overdrawn(i *informer) bool {
	if p.budget == 0 || p.holdings() <= p.budget {
		return false
	}
	if _, fits := p.room(0, i); fits {
		return false
	}
	own := i.holding()
	return !slices.ContainsFunc(p.all(), func(e *entry) bool { return e.informer != i && e.holding() > own })
}

// estimate is what a namespace would hold.
type estimate struct {
	bytes   int64
	refusal string    // Empty where it fits.
	until   time.Time // When a refusal is looked at again.
}

// fits reports whether a namespace ("" is all) may be watched within the memory
// budget. Where not, why and what would is kept as its status.
func (s *settler) fits(ctx context.Context, namespace string) bool {
	if s.pool.budget == 0 {
		return true
	}
	s.mu.Lock()
	running := s.feeds[namespace] != nil
	s.mu.Unlock()
	if running {
		return true
	}
	if time.Now().Before(s.estimates[namespace].until) {
		return false
	}
	scope := s.scope
	scope.Namespace = namespace
	objects, bytes, err := s.client.Estimate(ctx, scope)
	if err != nil {
		return true // The list will tell what is wrong.
	}
	bytes = int64(float64(bytes) * changeMargin)
	free, fits := s.pool.room(bytes, s.informer)
	if fits {
		s.estimates[namespace] = estimate{bytes: bytes}
		return true
	}
	refusal := fmt.Sprintf("It would take about %s (%d objects), and %s of the %s for what is watched are free: %s.",
		inBytes(bytes), objects, inBytes(max(0, free)), inBytes(s.pool.budget), s.offer(namespace))
	s.estimates[namespace] = estimate{refusal: refusal, until: time.Now().Add(estimateEvery)}
	s.refuse(namespace, refusal)
	return false
}

// offer is what would be less.
func (s *settler) offer(namespace string) string {
	if s.resource.Namespaced && namespace == "" {
		return "choose one namespace or a few (ns=...), a field selector, or raise --memory-limit"
	}
	return "choose less, by a field selector, or raise --memory-limit"
}

// refuse keeps why a namespace is not watched.
func (s *settler) refuse(namespace, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.denied[namespace] = Status{State: Failed, Since: time.Now(), Reason: reason}
	s.moved = true
}

// restrain ends an informer that has grown beyond what may be held.
func (s *settler) restrain() bool {
	if !s.pool.overdrawn(s.informer) {
		return false
	}
	held := s.holding()
	s.end(everyFeed)
	s.clear()
	s.Forget()
	refusal := fmt.Sprintf("It had grown to %s, and all that is watched together may hold %s: %s.", inBytes(held), inBytes(s.pool.budget), s.offer(""))
	s.estimates[""] = estimate{refusal: refusal, until: time.Now().Add(estimateEvery)}
	s.refuse("", refusal)
	s.log.Warn("no longer watched, for memory is short", "held", inBytes(held), "budget", inBytes(s.pool.budget))
	return true
}

// inBytes is a size for people.
func inBytes(n int64) string {
	const unit = 1 << 20
	if n >= unit {
		n = n / unit * unit
	}
	return resource.NewQuantity(n, resource.BinarySI).String() + "B"
}
