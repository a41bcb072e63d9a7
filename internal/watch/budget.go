package watch

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"glasshouse/internal/watch/journal"
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

// within is a Ring of which several fit into a budget.
func (r Ring) within(budget int64) Ring {
	if budget > 0 {
		r.Bytes = int(min(int64(r.Bytes), budget/8))
	}
	return r
}

const (
	// estimateEvery is how long an estimate that did not fit is good for.
	estimateEvery = time.Minute
	// relistEvery is the same for a list that was ended: all of it came for
	// nothing.
	relistEvery = 5 * time.Minute
	// measureEvery is how many bytes more than estimated are made room for at a
	// time.
	measureEvery = 64 << 10
	// changeMargin is how much of what is watched its changes may add.
	changeMargin = 1.1
)

// load is what an informer holds of what there is now, in bytes, and will hold
// when what it lists has come.
func (i *informer) load() int64 {
	state, _ := i.Weight()
	return int64(state) + i.masks.Weight() + i.expected.Load() + i.rankings.weight()
}

// pastLoad is what its changes hold.
func (i *informer) pastLoad() int64 {
	_, ring := i.Weight()
	return int64(ring)
}

// free is how many bytes of the budget are left; it may be less than none.
func (p *pool) free() int64 {
	free := p.budget
	for _, i := range p.informers() {
		free -= i.load() + i.pastLoad()
	}
	return free
}

// room makes room for bytes more: the past goes first, the largest of it, then
// informers that nobody looks at, longest idle first. Where all of that would not
// do, all of it stays. It reports whether they fit, and how many would be free
// without all of it.
func (p *pool) room(bytes int64, asker *informer) (most int64, fits bool) {
	if p.budget == 0 {
		return 0, true
	}
	if most = p.budget - p.needed(asker); bytes > most {
		return most, false
	}
	p.forget(bytes - p.free())
	for bytes > p.free() && p.evict(asker) {
		continue
	}
	return most, true // What the past has grown by meanwhile goes next time.
}

// needed is what cannot be done without: the past can, and what nobody looks at.
func (p *pool) needed(asker *informer) (sum int64) {
	idle := p.idle()
	for _, i := range p.informers() {
		if i == asker || !idle[i] {
			sum += i.load()
		}
	}
	return sum
}

// idle are the informers that nobody looks at.
func (p *pool) idle() map[*informer]bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	idle := make(map[*informer]bool)
	for _, e := range p.entries {
		idle[e.informer] = e.holders == 0
	}
	return idle
}

// forget drops the past of informers, the largest first, until it was bytes.
func (p *pool) forget(bytes int64) {
	all := p.informers()
	slices.SortFunc(all, func(a, b *informer) int { return cmp.Compare(b.pastLoad(), a.pastLoad()) })
	for _, i := range all {
		weight := i.pastLoad()
		if bytes <= 0 || weight == 0 {
			return
		}
		i.Forget()
		i.log.Info("its past is dropped, for memory is short", "held", inBytes(weight))
		bytes -= weight
	}
}

// evict ends the informer that has been idle for the longest time, and reports
// whether there was one.
func (p *pool) evict(but *informer) bool {
	p.mu.Lock()
	ended := p.evictLocked(func(e *entry) bool { return e.informer != but })
	p.mu.Unlock()
	if ended == nil {
		return false
	}
	ended.log.Info("nobody looks at it, and memory is short: no longer watched")
	return true
}

// overdrawn reports whether an informer must end because all of them hold more
// than they may, without what can be done without, and none holds more than this
// one.
func (p *pool) overdrawn(i *informer) bool {
	own := i.load()
	largest := !slices.ContainsFunc(p.informers(), func(other *informer) bool { return other != i && other.load() > own })
	_, fits := p.room(0, i) // After that: where a larger one has just ended, there is room.
	return largest && !fits
}

// estimate is what a namespace would hold.
type estimate struct {
	bytes   int64     // Beyond what is held of it.
	refusal string    // Empty where it fits.
	until   time.Time // When a refusal is looked at again.
}

// fits reports whether a namespace ("" is all) may be watched within the memory
// budget, beside what may already and has not begun. Where not, why and what
// would is kept as its status.
func (s *settler) fits(ctx context.Context, namespace string) bool {
	if s.pool.budget == 0 {
		return true
	}
	s.mu.Lock()
	held := s.feeds[namespace] != nil || namespace != "" && (s.sight.seen[""] || s.sight.seen[namespace])
	s.mu.Unlock()
	if held {
		return true
	}
	if known := s.estimates[namespace]; time.Now().Before(known.until) {
		s.refuse(namespace, known.refusal)
		return false
	}
	page := s.page(ctx, namespace)
	return page != nil && s.weigh(namespace, page)
}

// weigh makes an estimate of a first page, and reports whether it fits. Where there
// is none the list will tell what is wrong, or how large it is.
func (s *settler) weigh(namespace string, page *page) bool {
	if page.err != nil {
		s.estimates[namespace] = estimate{}
		return true
	}
	held := int64(0)
	if namespace == "" { // Its list takes the place of those of namespaces.
		state, _ := s.Weight()
		held = int64(state) + s.masks.Weight()
	}
	bytes := int64(float64(weightOf(page.objects, page.bytes)) * changeMargin)
	more := max(0, bytes-held)
	free, fits := s.pool.room(more, s.informer)
	if fits {
		s.expected.Add(more) // Until its feed has listed, see prepare.
		s.estimates[namespace] = estimate{bytes: more}
		return true
	}
	free += held
	refusal := fmt.Sprintf("It would take about %s (%d objects), and %s of the %s for what is watched are free: %s.",
		inBytesUp(bytes), page.objects, inBytes(max(0, free)), inBytes(s.pool.budget), s.offer(namespace))
	s.estimates[namespace] = estimate{refusal: refusal, until: time.Now().Add(estimateEvery)}
	s.refuse(namespace, refusal)
	return false
}

// weightOf is what the journal will hold of objects, in bytes.
func weightOf(objects int, bytes int64) int64 { return bytes + int64(objects)*journal.EntryOverhead }

// reservation is what a feed will hold, in bytes, until it has listed. It belongs
// to whoever reads the list.
type reservation struct {
	bytes    int64 // Beyond what is held, and beyond masks remembered before.
	held     int64 // Of what the list takes the place of; unweighed until that matters.
	masks    int64 // Of bytes, those that are there: masks are remembered at once.
	outgrown bool  // The list did not fit, and has ended.
}

// unweighed is what has not been weighed.
const unweighed = -1

// replaceable is how much the journal holds that the feed's list takes the place
// of, in bytes.
func (f *feed) replaceable() int64 {
	if f.namespace == "" {
		state, _ := f.Weight()
		return int64(state)
	}
	return int64(f.WeightIn(f.covers))
}

// measure takes note of what a list has sent, and ends it where that is more than
// was held or estimated, and than fits. Of a list with a field selector the API
// server does not tell how long it is, of some lists nothing at all, and a later
// list may have any size. While it comes, its objects are held beside those that
// they replace: that is not counted, as otherwise nothing could hold more than half
// of the budget.
func (f *feed) measure(objects int, bytes int64) {
	r := &f.reserved
	if f.pool.budget == 0 || r.outgrown {
		return
	}
	masks := f.source.Remembered()
	f.expected.Add(r.masks - masks)
	r.masks = masks
	total := weightOf(objects, bytes+masks)
	if total <= r.bytes {
		return
	}
	if r.held == unweighed {
		r.held = f.replaceable()
	}
	over := total - r.held - r.bytes
	if over <= 0 {
		return
	}
	var free int64
	for _, more := range []int64{over + measureEvery, over} {
		var fits bool
		if free, fits = f.pool.room(more, f.informer); fits {
			r.bytes += more
			f.expected.Add(more)
			return
		}
	}
	r.outgrown = true
	f.mu.Lock()
	f.now.end(time.Now())
	f.now.outgrown = fmt.Sprintf("%d objects of it take about %s, there may be more, and %s of the %s for what is watched are free",
		objects, inBytesUp(total), inBytes(max(0, free+r.held+r.bytes)), inBytes(f.pool.budget))
	f.mu.Unlock()
	f.stop()
	f.kick()
}

// offer is what would be less.
func (s *settler) offer(namespace string) string {
	if s.scope.Fields != "" {
		return "choose a narrower field selector, or raise --memory-limit"
	}
	if s.resource.Namespaced && namespace == "" {
		return "choose one namespace or a few (ns=...), a field selector, or raise --memory-limit"
	}
	return "choose less, by a field selector, or raise --memory-limit"
}

// refuse keeps why a namespace is not watched.
func (s *settler) refuse(namespace, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, since := s.denied[namespace], time.Now()
	if before.State == Failed {
		since = before.Since
	}
	if before.State != Failed || before.Reason != reason {
		s.denied[namespace] = Status{State: Failed, Since: since, Reason: reason}
		s.moved = true
	}
}

// curb ends the feeds whose list turned out not to fit, with their rows.
func (s *settler) curb() {
	s.mu.Lock()
	outgrown := make(map[string]string)
	for ns, f := range s.feeds {
		if f.now.outgrown != "" {
			outgrown[ns] = f.now.outgrown
		}
	}
	s.mu.Unlock()
	for ns, reason := range outgrown {
		refusal := reason + ": " + s.offer(ns) + "."
		s.refuse(ns, refusal) // First: nothing else is told when the feed has ended.
		s.end(func(f *feed) bool { return f.namespace == ns })
		if taken, _ := s.purge(func(of string) bool { return of == ns || ns == "" }); taken {
			s.beginAnew()
		}
		s.estimates[ns] = estimate{refusal: refusal, until: time.Now().Add(relistEvery)}
	}
}

// restrain ends an informer that has grown beyond what may be held.
func (s *settler) restrain() bool {
	if !s.pool.overdrawn(s.informer) {
		return false
	}
	s.mu.Lock()
	watched := slices.Collect(maps.Keys(s.feeds))
	s.mu.Unlock()
	grown := fmt.Sprintf("It had grown to %s, and all that is watched together may hold %s: ", inBytesUp(s.load()), inBytes(s.pool.budget))
	refusal := func(ns string) string { return grown + s.offer(ns) + "." }
	for _, ns := range watched {
		s.refuse(ns, refusal(ns)) // First: nothing else is told when the feeds have ended.
	}
	s.end(everyFeed)
	s.clear()
	for _, ns := range append(watched, "") { // All of it is no less.
		s.estimates[ns] = estimate{refusal: refusal(ns), until: time.Now().Add(estimateEvery)}
	}
	return true
}

// inBytes is a size for people, rounded down.
func inBytes(n int64) string {
	return resource.NewQuantity(n/unitOf(n)*unitOf(n), resource.BinarySI).String() + "B"
}

// inBytesUp is a size for people, rounded up.
func inBytesUp(n int64) string { return inBytes(n + unitOf(n) - 1) }

func unitOf(n int64) int64 {
	if n >= 10<<20 {
		return 1 << 20
	}
	return 1 << 10
}
