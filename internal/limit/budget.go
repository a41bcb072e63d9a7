package limit

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

const (
	// stalledAfter is how long a client may read nothing of a response while another caller waits for memory.
	stalledAfter = 500 * time.Millisecond
	// checkEvery is the interval between checks for stalled responses while a caller waits.
	checkEvery = 100 * time.Millisecond
	// callerParts and groupParts divide a Budget: a caller may use 1/callerParts of it, a group 1/groupParts. An attack
	// by one user or through one link leaves at least half of the budget to others.
	callerParts, groupParts = 4, 2
)

// A Caller shares a Budget with other callers.
type Caller struct {
	Key   string // Identifies the caller, such as a guest of a link at one address.
	Group string // Identifies callers with a common limit, such as all guests of a link; "" for none.
}

// A Response uses reserved memory while it is built, and until its client has read it.
type Response interface {
	// Stalled returns how long the client has read nothing of the response; 0 while the response is built.
	Stalled() time.Duration
	// Abort ends the response soon, which releases its reservation. It does not block.
	Abort()
}

// A Budget is a number of bytes that responses share. It is safe for concurrent use.
//
// A caller may use at most a quarter of it. While a caller waits, stalled responses of callers that use at least as
// much are aborted. Clients that do not read therefore delay others for little more than stalledAfter.
type Budget struct {
	total   int64
	limiter Limiter

	mu       sync.Mutex
	held     map[*Reservation]struct{}
	waiting  map[string]int // Number of waiting responses by caller.
	checking *time.Timer    // Nil while no caller waits.
}

// A Reservation is memory reserved for a response until Release.
type Reservation struct {
	lease    *Lease
	budget   *Budget
	caller   Caller
	response Response
	aborted  bool // Guarded by budget.mu.
}

// NewBudget returns a Budget of a number of bytes.
func NewBudget(total int64) *Budget {
	return &Budget{total: total, held: make(map[*Reservation]struct{}), waiting: make(map[string]int)}
}

// Total returns the size of the Budget in bytes.
func (b *Budget) Total() int64 { return b.total }

// Used returns how many bytes are reserved.
func (b *Budget) Used() int64 { return b.limiter.Used(totalKey) }

// totalKey counts all reservations. The keys of callers and groups have a prefix, so none is equal to it.
const totalKey = ""

// Reserve reserves bytes for a response of a caller. It waits until they are free, or returns ctx's error. More bytes
// than the caller's maximum are reduced to that.
func (b *Budget) Reserve(ctx context.Context, caller Caller, bytes int64, response Response) (*Reservation, error) {
	limits := []Limit{{"caller " + caller.Key, b.total / callerParts}, {totalKey, b.total}}
	if caller.Group != "" {
		limits = append(limits, Limit{"group " + caller.Group, b.total / groupParts})
	}
	lease := b.limiter.TryAcquire(bytes, limits...)
	if lease == nil {
		done := b.wait(caller.Key)
		defer done()
		var err error
		if lease, err = b.limiter.Acquire(ctx, bytes, limits...); err != nil {
			return nil, err
		}
	}
	r := &Reservation{lease: lease, budget: b, caller: caller, response: response}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held[r] = struct{}{}
	return r, nil
}

// Release frees the bytes. It does nothing on a nil Reservation or after the first call.
func (r *Reservation) Release() {
	if r == nil {
		return
	}
	r.budget.mu.Lock()
	delete(r.budget.held, r)
	r.budget.mu.Unlock()
	r.lease.Release()
}

// Resize sets the number of bytes. It does not wait, see Lease.Resize. It does nothing on a nil Reservation.
func (r *Reservation) Resize(bytes int64) {
	if r != nil {
		r.lease.Resize(bytes)
	}
}

// Grow adds bytes, in the same way as Resize.
func (r *Reservation) Grow(bytes int64) {
	if r != nil {
		r.lease.Grow(bytes)
	}
}

// wait registers a waiting caller until done is called. Meanwhile stalled responses are aborted to make room for it.
func (b *Budget) wait(caller string) (done func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting[caller]++
	if b.checking == nil {
		b.checking = time.AfterFunc(checkEvery, b.check)
	}
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.waiting[caller]--; b.waiting[caller] == 0 {
			delete(b.waiting, caller)
		}
	}
}

// check aborts stalled responses. It is scheduled again while a caller waits.
func (b *Budget) check() {
	for _, r := range b.victims() {
		r.response.Abort()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) == 0 {
		b.checking = nil
		return
	}
	b.checking.Reset(checkEvery)
}

// victims selects the stalled responses to abort now: one for each waiting caller, those of the callers with the
// highest use first. It may select a response of the waiting caller itself, but none of a caller that uses less.
func (b *Budget) victims() []*Reservation {
	b.mu.Lock()
	waiting, held := make([]string, 0, len(b.waiting)), make([]*Reservation, 0, len(b.held))
	for caller := range b.waiting {
		waiting = append(waiting, caller)
	}
	for r := range b.held {
		if !r.aborted {
			held = append(held, r)
		}
	}
	b.mu.Unlock()
	held = slices.DeleteFunc(held, func(r *Reservation) bool { return r.response.Stalled() < stalledAfter })
	use := func(caller string) int64 { return b.limiter.Used("caller " + caller) }
	slices.SortFunc(waiting, func(a, b string) int { return cmp.Compare(use(a), use(b)) })
	slices.SortFunc(held, func(a, b *Reservation) int { return cmp.Compare(use(b.caller.Key), use(a.caller.Key)) })
	var victims []*Reservation
	for n, caller := range waiting {
		if n < len(held) && use(held[n].caller.Key) >= use(caller) {
			victims = append(victims, held[n])
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range victims {
		r.aborted = true
	}
	return victims
}
