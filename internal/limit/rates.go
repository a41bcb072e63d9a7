package limit

import (
	"hash/maphash"
	"sync/atomic"

	"golang.org/x/time/rate"
)

// Rates contains rate limiters by key. To limit memory, different keys can share a limiter.
type Rates struct {
	every    rate.Limit
	burst    int
	seed     maphash.Seed
	limiters [4096]atomic.Pointer[rate.Limiter]
}

// NewRates returns rate limiters for any keys. Each allows a number of uses per second, and up to burst uses at once.
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
