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

// MinMemory is the smallest Options.MemoryLimit other than 0, in bytes. It is twice ownMemory, what the program needs
// before it watches anything.
const MinMemory = 96 << 20

// ownMemory is what the program needs in addition to the objects that it watches, in bytes.
const ownMemory = 48 << 20

// budgetOf returns how many bytes of a memory limit the watched objects may use. The rest is headroom for the garbage
// collector and memory in which responses are built. 0 means no limit.
func budgetOf(limit int64) int64 {
	if limit == 0 {
		return 0
	}
	return (limit - ownMemory) / 2
}

// within returns r with its size reduced to at most an eighth of the memory budget, so that the budget has room for
// several histories.
func (r Ring) within(budget int64) Ring {
	if budget > 0 {
		r.Bytes = int(min(int64(r.Bytes), budget/8))
	}
	return r
}

const (
	// estimateEvery is how long a resource whose estimate did not fit into memory is refused without a new estimate.
	estimateEvery = time.Minute
	// relistEvery is how long a resource is refused after its list was canceled because it did not fit. It is longer
	// than estimateEvery, because everything that the list had read was discarded.
	relistEvery = 5 * time.Minute
	// measureEvery is how many bytes at a time a list reserves when it grows beyond its estimate.
	measureEvery = 64 << 10
	// changeMargin is the factor by which an estimate allows for growth by later changes.
	changeMargin = 1.1
)

// load returns the bytes that an informer uses for its present objects, plus the bytes that its running lists have
// reserved.
func (i *informer) load() int64 {
	state, _ := i.Weight()
	return int64(state) + i.masks.Weight() + i.expected.Load() + i.rankings.weight()
}

// pastLoad returns the bytes that an informer's history uses.
func (i *informer) pastLoad() int64 {
	_, ring := i.Weight()
	return int64(ring)
}

// free returns how many bytes of the budget are unused. It can be negative.
func (p *pool) free() int64 {
	free := p.budget
	for _, i := range p.informers() {
		free -= i.load() + i.pastLoad()
	}
	return free
}

// room frees memory until the given number of bytes fits into the budget. It drops histories first, the largest first.
// Then it evicts idle informers, longest idle first, but never asker, the informer that needs the memory. If even that
// would not free enough, it drops nothing.
//
// most is the number of bytes that would be free without any histories and idle informers. fits reports whether the
// bytes fit.
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
	// Histories may have grown meanwhile. The next call handles that.
	return most, true
}

// needed returns the bytes in use that room cannot free: the loads of asker and of all informers that have holders.
// Histories can be dropped, and informers without holders can be evicted.
func (p *pool) needed(asker *informer) (sum int64) {
	idle := p.idle()
	for _, i := range p.informers() {
		if i == asker || !idle[i] {
			sum += i.load()
		}
	}
	return sum
}

// idle returns, for each informer in the pool, whether it is idle: it has no holders.
func (p *pool) idle() map[*informer]bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	idle := make(map[*informer]bool)
	for _, e := range p.entries {
		idle[e.informer] = e.holders == 0
	}
	return idle
}

// forget drops histories, the largest first, until it has freed the given number of bytes.
func (p *pool) forget(bytes int64) {
	all := p.informers()
	slices.SortFunc(all, func(a, b *informer) int { return cmp.Compare(b.pastLoad(), a.pastLoad()) })
	for _, i := range all {
		weight := i.pastLoad()
		if bytes <= 0 || weight == 0 {
			return
		}
		i.Forget()
		i.log.Info("history dropped to free memory", "bytes", inBytes(weight))
		bytes -= weight
	}
}

// evict stops the informer that has been idle the longest, except the one given as but. It reports whether it stopped
// one.
func (p *pool) evict(but *informer) bool {
	p.mu.Lock()
	ended := p.evictLocked(func(e *entry) bool { return e.informer != but })
	p.mu.Unlock()
	if ended == nil {
		return false
	}
	ended.log.Info("watch stopped to free memory: no readers")
	return true
}

// overdrawn reports whether the informer i must stop because the memory budget is exceeded. This is so if no informer
// is larger, and if all of them exceed the budget even without histories and idle informers.
func (p *pool) overdrawn(i *informer) bool {
	own := i.load()
	largest := !slices.ContainsFunc(p.informers(), func(other *informer) bool {
		return other != i && other.load() > own
	})
	// Check this after the comparison: if a larger informer has stopped meanwhile, there is room now.
	_, fits := p.room(0, i)
	return largest && !fits
}

// estimate is the memory that watching a namespace ("" means all) would need, or the reason why that does not fit.
type estimate struct {
	bytes   int64     // Needed in addition to what is in memory already.
	refusal string    // Why it does not fit; empty if it fits.
	until   time.Time // When a refusal expires.
}

// fits reports whether a namespace ("" means all) may be watched within the memory budget. Namespaces that were
// admitted, but have not been listed yet, count as used memory. If the namespace does not fit, fits stores a status
// with the reason and with advice for a smaller request.
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

// weigh estimates the memory for a namespace from the first page of its list, and reports whether it fits. If reading
// the page failed, the namespace is admitted: its list will report the error, or its size.
func (s *settler) weigh(namespace string, page *page) bool {
	if page.err != nil {
		s.estimates[namespace] = estimate{}
		return true
	}
	held := int64(0)
	// The list of all namespaces replaces the lists of single namespaces.
	if namespace == "" {
		state, _ := s.Weight()
		held = int64(state) + s.masks.Weight()
	}
	bytes := int64(float64(weightOf(page.objects, page.bytes)) * changeMargin)
	more := max(0, bytes-held)
	free, fits := s.pool.room(more, s.informer)
	if fits {
		s.expected.Add(more) // Reserved until the feed has listed the namespace; see prepare.
		s.estimates[namespace] = estimate{bytes: more}
		return true
	}
	free += held
	refusal := fmt.Sprintf("It needs about %s (%d objects), and %s of the %s for watched objects are free: %s.",
		inBytesUp(bytes), page.objects, inBytes(max(0, free)), inBytes(s.pool.budget), s.offer(namespace))
	s.estimates[namespace] = estimate{refusal: refusal, until: time.Now().Add(estimateEvery)}
	s.refuse(namespace, refusal)
	return false
}

// weightOf returns how many bytes the journal will need for these objects.
func weightOf(objects int, bytes int64) int64 { return bytes + int64(objects)*journal.EntryOverhead }

// reservation is the memory that a feed (the list and watch of one namespace, or of all) reserves until it has listed.
// While the feed runs, only the goroutine that reads the list accesses the reservation. Before the feed starts and
// after it has ended, only the reconciler does.
type reservation struct {
	bytes    int64 // Reserved beyond what is in memory, and beyond masks that were remembered before.
	held     int64 // The size of the objects that the list replaces; unweighed until it is computed.
	masks    int64 // The part of bytes that masks use already: they are stored while the list is read.
	outgrown bool  // The list did not fit and was canceled.
}

// unweighed is the value of reservation.held before it is computed.
const unweighed = -1

// replaceable returns the size of the objects in the journal that the feed's list replaces, in bytes.
func (f *feed) replaceable() int64 {
	if f.namespace == "" {
		state, _ := f.Weight()
		return int64(state)
	}
	return int64(f.WeightIn(f.covers))
}

// measure records how many objects and bytes of a list have arrived so far. It cancels the list when they exceed both
// the estimate and the free memory.
//
// Estimates can be wrong. The API server does not report the length of a list with a field selector. Some lists could
// not be estimated at all, and a relist may have any size. While a list arrives, its objects are in memory together
// with the objects that they replace. Only the larger of the two is counted, because otherwise no resource could use
// more than half of the budget.
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
	f.now.outgrown = fmt.Sprintf(
		"Its first %d objects need about %s, there may be more, and %s of the %s for watched objects are free",
		objects, inBytesUp(total), inBytes(max(0, free+r.held+r.bytes)), inBytes(f.pool.budget),
	)
	f.mu.Unlock()
	f.stop()
	f.kick()
}

// offer returns advice on how to request less, for a namespace ("" means all) that does not fit into memory.
func (s *settler) offer(namespace string) string {
	if s.scope.Fields != "" {
		return "use a narrower field selector, or increase --memory-limit"
	}
	if s.resource.Namespaced && namespace == "" {
		return "select one namespace or a few (ns=NAME), use a field selector, or increase --memory-limit"
	}
	return "use a field selector, or increase --memory-limit"
}

// refuse sets the status of a namespace that is not watched to Failed, with the reason.
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

// curb stops the feeds whose list did not fit into memory, and removes their rows.
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
		s.refuse(ns, refusal) // Do this first, so that no other status is reported when the feed has stopped.
		s.end(func(f *feed) bool { return f.namespace == ns })
		if taken, _ := s.purge(func(of string) bool { return of == ns || ns == "" }); taken {
			s.beginAnew()
		}
		s.estimates[ns] = estimate{refusal: refusal, until: time.Now().Add(relistEvery)}
	}
}

// restrain stops all feeds of the informer if it has outgrown the memory budget. It reports whether it did.
func (s *settler) restrain() bool {
	if !s.pool.overdrawn(s.informer) {
		return false
	}
	s.mu.Lock()
	watched := slices.Collect(maps.Keys(s.feeds))
	s.mu.Unlock()
	grown := fmt.Sprintf("It has grown to %s, and the limit for all watched objects is %s: ",
		inBytesUp(s.load()), inBytes(s.pool.budget))
	refusal := func(ns string) string { return grown + s.offer(ns) + "." }
	for _, ns := range watched {
		s.refuse(ns, refusal(ns)) // Do this first, so that no other status is reported when the feeds have stopped.
	}
	s.end(everyFeed)
	s.clear()
	// Refuse all namespaces ("") too: together they need at least as much memory.
	for _, ns := range append(watched, "") {
		s.estimates[ns] = estimate{refusal: refusal(ns), until: time.Now().Add(estimateEvery)}
	}
	return true
}

// inBytes formats a size for display, rounded down.
func inBytes(n int64) string {
	return resource.NewQuantity(n/unitOf(n)*unitOf(n), resource.BinarySI).String() + "B"
}

// inBytesUp formats a size for display, rounded up.
func inBytesUp(n int64) string { return inBytes(n + unitOf(n) - 1) }

func unitOf(n int64) int64 {
	if n >= 10<<20 {
		return 1 << 20
	}
	return 1 << 10
}
