package limit

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

const (
	// stalledAfter is for how long a client may take no byte of a response while somebody else waits for the memory.
	stalledAfter = 500 * time.Millisecond
	// checkEvery is how often stalled responses are looked for while somebody waits.
	checkEvery = 100 * time.Millisecond
	// callerParts and groupParts are the parts of a Budget of which a caller and a group may have one: an attack from
	// one user and through one link leaves half of the budget to everybody else.
	callerParts, groupParts = 4, 2
)

// A Caller is somebody who shares a Budget with others.
type Caller struct {
	Key   string // Of the caller, such as a guest of a link at one address.
	Group string // Of all callers that have something in common, such as a link; "" for none.
}

// A Response uses reserved memory while it is built, and until its client has read it.
type Response interface {
	// Stalled returns for how long the client has taken nothing of the response, and 0 while the response is built.
	Stalled() time.Duration
	// Abort ends the response soon, and with it the reservation. It does not block.
	Abort()
}

// A Budget is a number of bytes that responses share. It is safe for concurrent use.
//
// A caller has a quarter of it at most. Who waits while it is used up ends the stalled responses of callers that use
// more: clients that do not read cannot keep others waiting for longer than stalledAfter.
type Budget struct {
	total   int64
	limiter Limiter

	mu       sync.Mutex
	held     map[*Reservation]struct{}
	waiting  map[string]int // Callers who wait, and for how many responses.
	checking *time.Timer    // Nil while nobody waits.
}

// A Reservation is memory that a response uses, until it is released.
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

// Total is the size of the Budget in bytes.
func (b *Budget) Total() int64 { return b.total }

// Used is how many bytes are reserved.
func (b *Budget) Used() int64 { return b.limiter.Used(totalKey) }

// totalKey counts all reservations. No caller has this key: theirs say what they are.
const totalKey = ""

// Reserve reserves bytes for a response of a caller. It waits until there are enough, or returns ctx's error. An
// estimate of more than a caller may have is reserved as that.
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

// Release gives the bytes back. Releasing again, or a nil Reservation, does nothing.
func (r *Reservation) Release() {
	if r == nil {
		return
	}
	r.budget.mu.Lock()
	delete(r.budget.held, r)
	r.budget.mu.Unlock()
	r.lease.Release()
}

// Resize corrects the number of bytes, and Grow adds some. Neither waits, see Lease.Resize. Of a nil Reservation there is
// nothing to correct.
func (r *Reservation) Resize(bytes int64) {
	if r != nil {
		r.lease.Resize(bytes)
	}
}

// Grow adds bytes.
func (r *Reservation) Grow(bytes int64) {
	if r != nil {
		r.lease.Grow(bytes)
	}
}

// wait has stalled responses aborted for a caller, until done is called.
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

// check aborts stalled responses, and comes back while somebody waits.
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

// victims are the stalled responses to abort now: one for each caller that waits, of the caller that uses the most.
// That may be the same caller, but is never one that uses less.
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
