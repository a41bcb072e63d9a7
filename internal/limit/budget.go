package limit

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	// A response is stalled if its delay (see Response.Behind) reaches stalledAfter.
	stalledAfter = 500 * time.Millisecond
	// Minimum speed in bytes per second, at which clients must read while a caller waits for memory. It starts at minRate,
	// and doubles each second, up to maxRate.
	minRate, maxRate = 32 << 10, 1 << 20
	checkInterval    = 100 * time.Millisecond
	// In each checkInterval, at most maxAborts responses are aborted for each waiting caller.
	maxAborts = 8
	// One caller can use 1/callerFraction of a Budget, and one group (such as a share link) 1/groupFraction.
	callerFraction, groupFraction = 4, 2
)

// Caller identifies a client whose memory is counted separately.
type Caller struct {
	Key   string // a user, an address, or a viewer of a share link at one address
	Group string // the group that shares a second limit, such as all viewers of one share link; empty for none
}

// Response is an HTTP response or a WebSocket message that uses memory until its client has read all of it.
type Response interface {
	// Behind returns the longer of two durations: the time without progress, and the delay compared with a client that
	// reads rate bytes per second. While the response is being built, Behind returns 0.
	Behind(rate int64) time.Duration
	// Abort makes the response end soon, which releases its Reservation. Abort does not block.
	Abort()
}

// Budget limits the memory of all responses together, in bytes. It aborts stalled responses while a caller waits for
// memory.
type Budget struct {
	total   int64
	limiter Limiter

	mu           sync.Mutex
	reservations map[*Reservation]struct{}
	waiting      map[string]need
	checking     *time.Timer
}

type need struct {
	responses int
	bytes     int64 // size of the largest response that the caller has requested during this wait
	since     time.Time
}

func (n *need) rate() int64 {
	rate := int64(minRate)
	for waited := time.Since(n.since); waited >= time.Second && rate < maxRate; waited -= time.Second {
		rate *= 2
	}
	return rate
}

// Reservation is memory of a Budget that a response uses until Release is called.
type Reservation struct {
	lease    *Lease
	budget   *Budget
	caller   Caller
	response Response
	aborted  bool // whether the response was selected to be aborted; guarded by budget.mu
}

// NewBudget returns a Budget of the given number of bytes.
func NewBudget(total int64) *Budget {
	return &Budget{total: total, reservations: make(map[*Reservation]struct{}), waiting: make(map[string]need)}
}

// Used returns the number of reserved bytes.
func (b *Budget) Used() int64 { return b.limiter.Used(totalKey) }

// totalKey is the key for all callers together. Keys of callers and groups differ from it, because they have a prefix.
const totalKey = ""

// Reserve reserves memory for a response. It waits for free memory until ctx ends. If bytes exceeds the limit of one
// caller, Reserve reserves only this limit.
func (b *Budget) Reserve(ctx context.Context, caller Caller, bytes int64, response Response) (*Reservation, error) {
	limits := []Limit{{"caller " + caller.Key, b.total / callerFraction}, {totalKey, b.total}}
	if caller.Group != "" {
		limits = append(limits, Limit{"group " + caller.Group, b.total / groupFraction})
	}
	lease := b.limiter.TryAcquire(bytes, limits...)
	if lease == nil {
		done := b.wait(caller.Key, clamp(bytes, limits))
		defer done()
		var err error
		if lease, err = b.limiter.Acquire(ctx, bytes, limits...); err != nil {
			return nil, err
		}
	}
	r := &Reservation{lease: lease, budget: b, caller: caller, response: response}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reservations[r] = struct{}{}
	return r, nil
}

// Release frees the reserved bytes. On a nil Reservation, and after the first call, it does nothing.
func (r *Reservation) Release() {
	if r == nil {
		return
	}
	r.budget.mu.Lock()
	delete(r.budget.reservations, r)
	r.budget.mu.Unlock()
	r.lease.Release()
}

// Resize sets the number of reserved bytes without waiting, even above the limits. A nil Reservation is allowed.
func (r *Reservation) Resize(bytes int64) {
	if r != nil {
		r.lease.Resize(bytes)
	}
}

// Grow increases the number of reserved bytes without waiting, even above the limits. A nil Reservation is allowed.
func (r *Reservation) Grow(bytes int64) {
	if r != nil {
		r.lease.Grow(bytes)
	}
}

func (b *Budget) wait(caller string, bytes int64) (done func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, ok := b.waiting[caller]
	if !ok {
		n.since = time.Now()
	}
	b.waiting[caller] = need{n.responses + 1, max(n.bytes, bytes), n.since}
	if b.checking == nil {
		b.checking = time.AfterFunc(checkInterval, b.check)
	}
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		n := b.waiting[caller]
		if n.responses--; n.responses == 0 {
			delete(b.waiting, caller)
			return
		}
		b.waiting[caller] = n
	}
}

func (b *Budget) check() {
	for _, r := range b.selectStalled() {
		r.response.Abort()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) == 0 {
		b.checking = nil
		return
	}
	b.checking.Reset(checkInterval)
}

// selectStalled returns the stalled responses to abort, those of the callers with the highest use first.
func (b *Budget) selectStalled() []*Reservation {
	waiting, reservations, fairShare := b.snapshot()
	usedBy := func(caller string) int64 { return b.limiter.Used("caller " + caller) }
	slices.SortFunc(
		reservations, func(a, b *Reservation) int { return cmp.Compare(usedBy(b.caller.Key), usedBy(a.caller.Key)) },
	)
	var selected []*Reservation
	for caller, need := range waiting {
		rate := need.rate()
		for n, freed := 0, int64(0); n < maxAborts && freed < need.bytes; n++ {
			next := slices.IndexFunc(reservations, func(r *Reservation) bool {
				return (r.caller.Key == caller || usedBy(r.caller.Key) > fairShare) && r.response.Behind(rate) >= stalledAfter
			})
			if next < 0 {
				break
			}
			selected = append(selected, reservations[next])
			freed += reservations[next].lease.Units()
			reservations = slices.Delete(reservations, next, next+1)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range selected {
		r.aborted = true
	}
	return selected
}

func (b *Budget) snapshot() (waiting map[string]need, reservations []*Reservation, fairShare int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	callers := make(map[string]bool)
	waiting = maps.Clone(b.waiting)
	for caller := range waiting {
		callers[caller] = true
	}
	for r := range b.reservations {
		callers[r.caller.Key] = true
		if !r.aborted {
			reservations = append(reservations, r)
		}
	}
	return waiting, reservations, b.total / int64(max(1, len(callers)))
}
