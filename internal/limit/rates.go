package limit

import (
	"hash/maphash"
	"sync/atomic"

	"golang.org/x/time/rate"
)

// Rates contains rate limiters by key. To limit their memory, there is a fixed number of limiters, and a hash of the
// key selects one of them. Different keys can therefore share a limiter.
type Rates struct {
	every    rate.Limit
	burst    int
	seed     maphash.Seed
	limiters [4096]atomic.Pointer[rate.Limiter]
}

// NewRates returns rate limiters. For each key, they allow the given burst (a number of events at once). After that,
// they allow the given number of events per second.
func NewRates(every rate.Limit, burst int) *Rates {
	return &Rates{every: every, burst: burst, seed: maphash.MakeSeed()}
}

// For returns the rate limiter of a key.
func (r *Rates) For(key string) *rate.Limiter {
	slot := &r.limiters[maphash.String(r.seed, key)%uint64(len(r.limiters))]
	if limiter := slot.Load(); limiter != nil {
		return limiter
	}
	slot.CompareAndSwap(nil, rate.NewLimiter(r.every, r.burst))
	return slot.Load()
}
