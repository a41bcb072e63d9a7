package informer

import (
	"cmp"
	"slices"
	"time"
)

// MinMemory is the smallest valid Options.MemoryLimit in bytes, apart from 0, which means no limit. It is twice
// programMemory, the memory that the program needs before it watches anything.
const MinMemory = 96 << 20

// programMemory is the memory, in bytes, that the program needs in addition to the watched objects.
const programMemory = 48 << 20

// BudgetOf returns the part of a memory limit that is for watched objects, in bytes. The rest is for the program
// itself, the garbage collector and responses. A limit of 0 means no limit, and the result is then also 0.
func BudgetOf(limit int64) int64 {
	if limit == 0 {
		return 0
	}
	return (limit - programMemory) / 2
}

// LimitedTo returns a copy of r with defaults for zero fields. budget is the memory budget of all informers in bytes.
// The history gets at most an eighth of it, so that there is room for the histories of several resources. A budget of
// 0 does not limit the size.
func (r Ring) LimitedTo(budget int64) Ring {
	r.Bytes, r.Age = cmp.Or(r.Bytes, ringBytes), cmp.Or(r.Age, ringAge)
	if budget > 0 {
		r.Bytes = int(min(int64(r.Bytes), budget/8))
	}
	return r
}

// A Ring limits the history of changes of each resource. Readers resume from this history after a disconnection.
type Ring struct {
	Bytes int           // Maximum size in bytes; 0 means 64 MiB. With a memory limit, at most an eighth of the budget.
	Age   time.Duration // Maximum age of a change; 0 means 5 minutes.
}

const (
	ringBytes = 64 << 20
	ringAge   = 5 * time.Minute
)

const (
	// estimateDelay is the delay before a new memory estimate, if the last estimate exceeded the free memory. During
	// the delay, the resource is not watched.
	estimateDelay = time.Minute
	// relistDelay is the delay before a new list, if the last list was canceled because it exceeded the free memory.
	// It is longer than estimateDelay, because a canceled list has read many objects in vain.
	relistDelay = 5 * time.Minute
	// reserveStep is the number of additional bytes that a running list reserves each time it exceeds its reserved
	// memory.
	reserveStep = 64 << 10
	// changeMargin is the factor by which a memory estimate is increased, because later changes can add objects.
	changeMargin = 1.1
)

// load returns the memory that an informer uses, in bytes: the objects, data about masked values, sorted lists, and
// what running lists have reserved. The history does not count.
func (i *Informer) load() int64 {
	state, _ := i.Weight()
	return int64(state) + i.masks.Weight() + i.reservedBytes.Load() + i.Extension.Weight()
}

func (i *Informer) historyLoad() int64 {
	_, ring := i.Weight()
	return int64(ring)
}

func (p *Pool) free() int64 {
	free := p.Budget
	for _, i := range p.Informers() {
		free -= i.load() + i.historyLoad()
	}
	return free
}

// makeRoom frees memory until the given number of bytes fits into the memory budget. It first drops histories of
// recent changes, the largest first. Then it stops informers without readers, longest idle first, but never
// requester, the informer that needs the memory. If all of this would not free enough memory, it frees nothing.
//
// attainable is the number of bytes that are free if all of this is dropped. fits reports whether the given number of
// bytes fits into the budget.
func (p *Pool) makeRoom(bytes int64, requester *Informer) (attainable int64, fits bool) {
	if p.Budget == 0 {
		return 0, true
	}
	if attainable = p.Budget - p.needed(requester); bytes > attainable {
		return attainable, false
	}
	p.dropHistories(bytes - p.free())
	for bytes > p.free() && p.evict(requester) {
		continue
	}
	// The result is true even if histories have grown in the meantime, because the next call of MakeRoom drops them.
	return attainable, true
}

// MakeRoom frees memory of the pool for the given number of bytes, and reports whether they fit into the budget.
func (i *Informer) MakeRoom(bytes int64) bool {
	_, fits := i.options.Pool.makeRoom(bytes, i)
	return fits
}

// needed returns the memory in use that makeRoom cannot free, in bytes: that of requester, and of all informers with
// readers. Histories do not count, because makeRoom can drop them.
func (p *Pool) needed(requester *Informer) (sum int64) {
	idle := p.idle()
	for _, i := range p.Informers() {
		if i == requester || !idle[i] {
			sum += i.load()
		}
	}
	return sum
}

func (p *Pool) idle() map[*Informer]bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	idle := make(map[*Informer]bool)
	for _, e := range p.entries {
		idle[e.Informer] = e.refs == 0
	}
	return idle
}

func (p *Pool) dropHistories(bytes int64) {
	all := p.Informers()
	slices.SortFunc(all, func(a, b *Informer) int { return cmp.Compare(b.historyLoad(), a.historyLoad()) })
	for _, i := range all {
		weight := i.historyLoad()
		if bytes <= 0 || weight == 0 {
			return
		}
		i.Forget()
		i.options.Log.Info("the history of the resource was dropped to free memory", "bytes", formatBytes(weight))
		bytes -= weight
	}
}

// evict stops the informer that has been without readers for the longest time. It never stops the informer in the
// parameter except. It reports whether it has stopped one.
func (p *Pool) evict(except *Informer) bool {
	p.mu.Lock()
	evicted := p.evictLocked(func(e *entry) bool { return e.Informer != except })
	p.mu.Unlock()
	if evicted == nil {
		return false
	}
	evicted.options.Log.Info("the watch was stopped to free memory, because the resource has no readers")
	return true
}

// exceedsBudget reports whether the informer i must stop because all informers together exceed the memory budget. It
// must stop if no other informer is larger, and if dropping histories and idle informers would not be enough.
func (p *Pool) exceedsBudget(i *Informer) bool {
	own := i.load()
	largest := !slices.ContainsFunc(p.Informers(), func(other *Informer) bool {
		return other != i && other.load() > own
	})
	// Call makeRoom only after the comparison of sizes: if a larger informer has stopped in the meantime, there is
	// enough room now.
	_, fits := p.makeRoom(0, i)
	return largest && !fits
}
