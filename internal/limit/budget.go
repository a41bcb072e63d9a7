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
	// stalledAfter is how long a client may read nothing of its response before the response counts as stalled. Stalled
	// responses are aborted while another caller waits for memory.
	stalledAfter = 500 * time.Millisecond
	// minRate is how many bytes per second a client must read of its response while another caller waits for memory. The
	// required rate doubles for each second that the other caller has waited, up to maxRate.
	minRate, maxRate = 32 << 10, 1 << 20
	// checkInterval is the interval between checks for stalled responses while a caller waits.
	checkInterval = 100 * time.Millisecond
	// maxAborts is the maximum number of responses that one check aborts for one waiting caller.
	maxAborts = 8
	// callerFraction and groupFraction divide a Budget: one caller may use 1/callerFraction of it, and one group of
	// callers 1/groupFraction. An attack by one user or through one link leaves at least half of the budget to others.
	callerFraction, groupFraction = 4, 2
)

// A Caller is a client that limits count separately, such as a user or an address. All callers share one Budget.
type Caller struct {
	Key   string // Identifies the caller, such as a guest of a link at one address.
	Group string // Identifies callers with a common limit, such as all guests of a link; "" for none.
}

// A Response is what a Budget must know about an HTTP response or a WebSocket message. It uses reserved memory while
// it is built, and until its client has read it.
type Response interface {
	// Behind returns the larger of two times. One is how long the client has read nothing of the response. The other is
	// how far the client is behind a client that reads rate bytes per second. Behind returns 0 while the response is
	// still being built.
	Behind(rate int64) time.Duration
	// Abort makes the response end soon. The end of the response releases its reservation. Abort does not block.
	Abort()
}

// A Budget is a number of bytes that the memory of all responses may use together. It is safe for concurrent use.
//
// A caller may use at most a quarter of the budget. While a caller waits for memory, stalled responses are aborted:
// its own, and those of callers that use more than their fair share. Clients that do not read therefore delay others
// for little more than stalledAfter. Clients that read slowly delay others for some seconds.
type Budget struct {
	total   int64
	limiter Limiter

	mu           sync.Mutex
	reservations map[*Reservation]struct{}
	waiting      map[string]need // What each waiting caller waits for, by Caller.Key.
	checking     *time.Timer     // The timer of the next check; nil while no caller waits.
}

// need is the memory that a waiting caller waits for.
type need struct {
	responses int   // Number of responses for which the caller waits for memory.
	bytes     int64 // Size of the largest response that the caller has waited for so far.
	since     time.Time
}

// rate returns how many bytes per second the clients of other responses must read while the caller of n waits for
// memory.
func (n *need) rate() int64 {
	rate := int64(minRate)
	for waited := time.Since(n.since); waited >= time.Second && rate < maxRate; waited -= time.Second {
		rate *= 2
	}
	return rate
}

// A Reservation is memory that is reserved for a response until Release is called.
type Reservation struct {
	lease    *Lease
	budget   *Budget
	caller   Caller
	response Response
	aborted  bool // Whether check has aborted the response; guarded by budget.mu.
}

// NewBudget returns a Budget of total bytes.
func NewBudget(total int64) *Budget {
	return &Budget{total: total, reservations: make(map[*Reservation]struct{}), waiting: make(map[string]need)}
}

// Used returns how many bytes are reserved.
func (b *Budget) Used() int64 { return b.limiter.Used(totalKey) }

// totalKey is the key under which the limiter counts all reservations. The keys of callers and groups have a prefix,
// so none of them equals totalKey.
const totalKey = ""

// Reserve reserves bytes for a response of a caller. It waits until so many bytes are free, or returns the error of
// ctx if ctx ends first. If the caller requests more than a caller's maximum, Reserve reduces the request to that
// maximum.
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

// Release frees the reserved bytes. It does nothing on a nil Reservation or after the first call.
func (r *Reservation) Release() {
	if r == nil {
		return
	}
	r.budget.mu.Lock()
	delete(r.budget.reservations, r)
	r.budget.mu.Unlock()
	r.lease.Release()
}

// Resize sets the number of reserved bytes. It never waits; see Lease.Resize. It does nothing on a nil Reservation.
func (r *Reservation) Resize(bytes int64) {
	if r != nil {
		r.lease.Resize(bytes)
	}
}

// Grow adds to the number of reserved bytes. Like Resize, it never waits, and it does nothing on a nil Reservation.
func (r *Reservation) Grow(bytes int64) {
	if r != nil {
		r.lease.Grow(bytes)
	}
}

// wait records that a caller waits for memory, until done is called. In that time, stalled responses are aborted to
// free memory for the caller.
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

// check aborts stalled responses. It schedules the next check if callers still wait for memory.
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

// selectStalled selects the stalled responses to abort now. For each waiting caller, it selects enough responses to
// free the memory that the caller needs, but at most maxAborts. The selected responses belong to the waiting caller,
// or to callers that use more than their fair share. The responses of the caller with the highest use are selected
// first. A client on a slow link that uses little memory is not affected.
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

// snapshot returns the callers that wait for memory, the responses that are not aborted yet, and the fair share of a
// caller in bytes.
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
