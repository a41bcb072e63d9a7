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
	// stalledAfter is the delay after which a response counts as stalled: its client reads it too slowly (see
	// Response.Behind). Stalled responses are aborted while another caller waits for memory.
	stalledAfter = 500 * time.Millisecond
	// minRate is the speed in bytes per second at which clients must read when a caller starts to wait for memory.
	// This speed doubles for each second of waiting, up to maxRate.
	minRate, maxRate = 32 << 10, 1 << 20
	// checkInterval is the interval between checks for stalled responses. The checks run only while a caller waits
	// for memory.
	checkInterval = 100 * time.Millisecond
	// maxAborts is the maximum number of responses that one check aborts for each waiting caller.
	maxAborts = 8
	// One caller can use 1/callerFraction of a Budget, and one group of callers 1/groupFraction. If one user or the
	// guests of one share link attack the program, at least half of the Budget therefore remains for others.
	callerFraction, groupFraction = 4, 2
)

// Caller identifies a client whose memory is counted separately, such as a user or an address.
type Caller struct {
	Key   string // Identifies the caller, such as a user, or a guest of a share link at one address.
	Group string // Identifies callers that share a second limit, such as all guests of one share link; empty: none.
}

// Response is an HTTP response or a WebSocket message that a Budget can observe and abort. The response uses reserved
// memory until its client has read all of it.
type Response interface {
	// Behind returns how far the client is behind in reading the response. The result is the longer of two durations:
	// the time during which the client has read nothing, and its delay compared with a client that reads at the given
	// rate (bytes per second). The result is 0 while the response is still being built.
	Behind(rate int64) time.Duration
	// Abort makes the response end soon, which releases its Reservation. Abort does not block.
	Abort()
}

// Budget limits the memory of all responses together, in bytes. It is safe for concurrent use.
//
// One caller can use at most a quarter of the Budget. While a caller waits for memory, stalled responses (see
// Response.Behind) are aborted: its own, and those of callers that use more than their fair share. A client that
// reads nothing therefore delays others for little more than stalledAfter (500 ms). A client that reads slowly delays
// others for a few seconds.
type Budget struct {
	total   int64
	limiter Limiter

	mu           sync.Mutex
	reservations map[*Reservation]struct{}
	waiting      map[string]need // Memory for which callers wait, by Caller.Key.
	checking     *time.Timer     // Timer for the next check; nil while no caller waits.
}

type need struct {
	responses int   // Number of responses of the caller that wait for memory.
	bytes     int64 // Size of the largest of these responses, including those that no longer wait.
	since     time.Time
}

// rate returns the number of bytes per second that each client must read while this caller waits for memory.
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
	aborted  bool // Whether the response was selected to be aborted. Guarded by budget.mu.
}

// NewBudget returns a Budget of the given number of bytes.
func NewBudget(total int64) *Budget {
	return &Budget{total: total, reservations: make(map[*Reservation]struct{}), waiting: make(map[string]need)}
}

// Used returns the number of bytes that are reserved.
func (b *Budget) Used() int64 { return b.limiter.Used(totalKey) }

// totalKey is the Limiter key of all reservations together. It differs from the keys of callers and groups, because
// those have a prefix.
const totalKey = ""

// Reserve reserves memory in bytes for a response of a caller. It waits until the bytes are available. If ctx ends
// first, it returns the error of ctx. If the number of bytes is larger than the maximum for one caller, Reserve
// reserves this maximum instead.
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

// Release frees the reserved bytes. On a nil Reservation, or after the first call, it does nothing.
func (r *Reservation) Release() {
	if r == nil {
		return
	}
	r.budget.mu.Lock()
	delete(r.budget.reservations, r)
	r.budget.mu.Unlock()
	r.lease.Release()
}

// Resize changes the number of reserved bytes to the given number. It does not wait, and it can exceed the limits. On
// a nil Reservation, it does nothing.
func (r *Reservation) Resize(bytes int64) {
	if r != nil {
		r.lease.Resize(bytes)
	}
}

// Grow increases the number of reserved bytes by the given number. It does not wait, and it can exceed the limits. On
// a nil Reservation, it does nothing.
func (r *Reservation) Grow(bytes int64) {
	if r != nil {
		r.lease.Grow(bytes)
	}
}

// wait records that the caller waits for the given number of bytes, until the returned function done is called. In
// the meantime, stalled responses are aborted to free memory.
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

// check aborts stalled responses. It schedules the next check if callers wait for memory.
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

// selectStalled returns the stalled responses that the method check must abort. For each waiting caller, it selects
// enough of them to free the needed memory, but at most maxAborts.
//
// It selects responses of the waiting caller, and of callers that use more than their fair share, starting with the
// caller that uses the most memory. A slow client that uses little memory therefore keeps its response.
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

// snapshot returns the memory for which callers wait, the reservations whose responses are not being aborted, and the
// fair share of one caller in bytes.
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
