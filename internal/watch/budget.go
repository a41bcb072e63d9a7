package watch

import (
	"cmp"
	"slices"
	"time"
)

// MinMemory is the smallest Options.MemoryLimit other than 0, in bytes. It is twice programMemory, what the program
// needs before it watches anything.
const MinMemory = 96 << 20

// programMemory is what the program needs in addition to the objects that it watches, in bytes.
const programMemory = 48 << 20

// budgetOf returns how many bytes of a memory limit the watched objects may use. The rest is headroom for the garbage
// collector and memory in which responses are built. 0 means no limit.
func budgetOf(limit int64) int64 {
	if limit == 0 {
		return 0
	}
	return (limit - programMemory) / 2
}

// limitedTo returns r with its size reduced to at most an eighth of the memory budget, so that the budget has room for
// several histories.
func (r Ring) limitedTo(budget int64) Ring {
	if budget > 0 {
		r.Bytes = int(min(int64(r.Bytes), budget/8))
	}
	return r
}

const (
	// estimateDelay is how long a resource whose estimate did not fit into memory is refused without a new estimate.
	estimateDelay = time.Minute
	// relistDelay is how long a resource is refused after its list was canceled because it did not fit. It is longer
	// than estimateDelay, because everything that the list had read was discarded.
	relistDelay = 5 * time.Minute
	// reserveStep is how many bytes at a time a list reserves when it grows beyond its estimate.
	reserveStep = 64 << 10
	// changeMargin is the factor by which an estimate allows for growth by later changes.
	changeMargin = 1.1
)

// load returns the bytes that an informer uses for its present objects, plus the bytes that its running lists have
// reserved.
func (i *informer) load() int64 {
	state, _ := i.Weight()
	return int64(state) + i.masks.Weight() + i.reservedBytes.Load() + i.rankings.weight()
}

// historyLoad returns the bytes that an informer's history uses.
func (i *informer) historyLoad() int64 {
	_, ring := i.Weight()
	return int64(ring)
}

// free returns how many bytes of the budget are unused. It can be negative.
func (p *pool) free() int64 {
	free := p.budget
	for _, i := range p.informers() {
		free -= i.load() + i.historyLoad()
	}
	return free
}

// makeRoom frees memory until the given number of bytes fits into the budget. It drops histories first, the largest
// first. Then it evicts idle informers, longest idle first, but never requester, the informer that needs the memory. If
// even that would not free enough, it drops nothing.
//
// attainable is the number of bytes that would be free without any histories and idle informers. fits reports whether
// the bytes fit.
func (p *pool) makeRoom(bytes int64, requester *informer) (attainable int64, fits bool) {
	if p.budget == 0 {
		return 0, true
	}
	if attainable = p.budget - p.needed(requester); bytes > attainable {
		return attainable, false
	}
	p.dropHistories(bytes - p.free())
	for bytes > p.free() && p.evict(requester) {
		continue
	}
	// Histories may have grown meanwhile. The next call handles that.
	return attainable, true
}

// needed returns the bytes in use that makeRoom cannot free: the loads of requester and of all informers that have
// holders. Histories can be dropped, and informers without holders can be evicted.
func (p *pool) needed(requester *informer) (sum int64) {
	idle := p.idle()
	for _, i := range p.informers() {
		if i == requester || !idle[i] {
			sum += i.load()
		}
	}
	return sum
}

// idle returns, for each informer in the pool, whether it is idle: it has no references.
func (p *pool) idle() map[*informer]bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	idle := make(map[*informer]bool)
	for _, e := range p.entries {
		idle[e.informer] = e.refs == 0
	}
	return idle
}

// dropHistories drops histories, the largest first, until it has freed the given number of bytes.
func (p *pool) dropHistories(bytes int64) {
	all := p.informers()
	slices.SortFunc(all, func(a, b *informer) int { return cmp.Compare(b.historyLoad(), a.historyLoad()) })
	for _, i := range all {
		weight := i.historyLoad()
		if bytes <= 0 || weight == 0 {
			return
		}
		i.Forget()
		i.log.Info("history dropped to free memory", "bytes", formatBytes(weight))
		bytes -= weight
	}
}

// evict stops the informer that has been idle the longest, except the one given as except. It reports whether it
// stopped one.
func (p *pool) evict(except *informer) bool {
	p.mu.Lock()
	evicted := p.evictLocked(func(e *entry) bool { return e.informer != except })
	p.mu.Unlock()
	if evicted == nil {
		return false
	}
	evicted.log.Info("watch stopped to free memory: no readers")
	return true
}

// exceedsBudget reports whether the informer i must stop because the memory budget is exceeded. This is so if no
// informer is larger, and if all of them exceed the budget even without histories and idle informers.
func (p *pool) exceedsBudget(i *informer) bool {
	own := i.load()
	largest := !slices.ContainsFunc(p.informers(), func(other *informer) bool {
		return other != i && other.load() > own
	})
	// Check this after the comparison: if a larger informer has stopped meanwhile, there is room now.
	_, fits := p.makeRoom(0, i)
	return largest && !fits
}
