// Package budget limits the memory of all informers together. Each informer has an Account, which measures its memory.
// While a list arrives, a Reservation counts its objects, which are not in the journal yet.
//
// All functions are safe for concurrent use, except those of a Reservation. They lock no mutex while they call the
// Pool or a function of Usage, so the called functions can lock mutexes.
package budget

import (
	"cmp"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/glasshouse-project/glasshouse/internal/watch/journal"

	"k8s.io/apimachinery/pkg/api/resource"
)

// MinMemory is the smallest memory limit in bytes that a user can set, except 0 (no limit). It is twice programMemory.
const MinMemory = 96 << 20

// programMemory is the memory, in bytes, that the program needs for itself, without watched objects.
const programMemory = 48 << 20

// reserveStep is the number of bytes by which the reservation of a running list grows, each time the objects of the
// list exceed it.
const reserveStep = 64 << 10

const unmeasured = -1

// Of returns how many bytes of a memory limit are for watched objects. A limit of 0, which means no limit, gives 0.
func Of(limit int64) int64 {
	if limit == 0 {
		return 0
	}
	// The other half of the memory is for the garbage collector and responses.
	return (limit - programMemory) / 2
}

// Budget limits the memory of all informers of a Pool.
type Budget struct {
	Limit int64 // In bytes; 0 means no limit.
	pool  Pool
}

// New returns a Budget for the informers of a pool. A limit of 0 means no limit.
func New(limit int64, pool Pool) *Budget { return &Budget{Limit: limit, pool: pool} }

// Pool is the set of running informers.
type Pool interface {
	// Accounts returns the accounts of all informers. The value is true if the informer of the account is idle (has no
	// readers).
	Accounts() map[*Account]bool
	// EvictIdle stops the informer that has been idle for the longest time, but never the informer of requester. It
	// returns the account of the stopped informer, or nil if no informer is idle.
	EvictIdle(requester *Account) *Account
}

// Usage measures the memory of one informer.
type Usage struct {
	// Objects returns the number of bytes that cannot be freed before the informer ends: objects, data about masked
	// values, and sorted lists.
	Objects func() int64
	// History returns the number of bytes in the history of changes. DropHistory frees them.
	History     func() int64
	DropHistory func()
	Log         *slog.Logger
}

// Account measures the memory of one informer.
type Account struct {
	budget   *Budget
	usage    Usage
	reserved atomic.Int64 // The bytes that running lists have reserved.
}

// NewAccount returns an account for an informer. It counts toward the budget while the informer is in the Pool of the
// budget.
func (b *Budget) NewAccount(usage Usage) *Account { return &Account{budget: b, usage: usage} }

// Limit returns the memory limit of all accounts together, in bytes; 0 means no limit.
func (a *Account) Limit() int64 { return a.budget.Limit }

// Load returns the memory that the informer uses or has reserved, in bytes, without the history of changes.
func (a *Account) Load() int64 { return a.usage.Objects() + a.reserved.Load() }

// MakeRoom frees memory until the given number of bytes fits into the budget: it drops histories, and then stops other
// idle informers. If the bytes would not fit even then, MakeRoom frees nothing. attainable is the memory that would be
// free if all histories were dropped, and all other idle informers were stopped.
func (a *Account) MakeRoom(bytes int64) (attainable int64, fits bool) {
	b := a.budget
	if b.Limit == 0 {
		return 0, true
	}
	attainable = b.Limit
	for account, isIdle := range b.pool.Accounts() {
		if account == a || !isIdle {
			attainable -= account.Load()
		}
	}
	if bytes > attainable {
		return attainable, false
	}
	b.dropHistories(bytes - b.free())
	for bytes > b.free() && b.evict(a) {
		continue
	}
	// Return true even if histories have grown in the meantime and use this memory: the next call of MakeRoom drops them.
	return attainable, true
}

func (b *Budget) free() int64 {
	free := b.Limit
	for a := range b.pool.Accounts() {
		free -= a.Load() + a.usage.History()
	}
	return free
}

func (b *Budget) dropHistories(bytes int64) {
	all := slices.SortedFunc(maps.Keys(b.pool.Accounts()), func(a, b *Account) int {
		return cmp.Compare(b.usage.History(), a.usage.History())
	})
	for _, a := range all {
		weight := a.usage.History()
		if bytes <= 0 || weight == 0 {
			return
		}
		a.usage.DropHistory()
		a.usage.Log.Info("the history of the resource was dropped to free memory", "bytes", FormatBytes(weight))
		bytes -= weight
	}
}

func (b *Budget) evict(requester *Account) bool {
	evicted := b.pool.EvictIdle(requester)
	if evicted == nil {
		return false
	}
	evicted.usage.Log.Info("the watch was stopped to free memory, because no page or client reads the resource")
	return true
}

// IsExceeded reports whether the informer must stop, because MakeRoom cannot free enough memory and no other informer
// is larger.
func (a *Account) IsExceeded() bool {
	own, isLargest := a.Load(), true
	for other := range a.budget.pool.Accounts() {
		isLargest = isLargest && (other == a || other.Load() <= own)
	}
	// Call MakeRoom last: a larger informer that has just stopped makes isLargest true, but also frees its memory.
	_, fits := a.MakeRoom(0)
	return isLargest && !fits
}

// Reservation is the memory that one list reserves while it arrives. Only one goroutine may use it.
type Reservation struct {
	// Masks returns how many bytes of data about masked values this list has added so far. Replaceable returns the size,
	// in bytes, of the objects that this list will replace.
	Masks, Replaceable func() int64
	IsOversized        bool // The list does not fit into the budget, and must be canceled.

	account *Account
	// bytes is the memory reserved for the list. It does not include the objects that the list will replace.
	bytes    int64
	replaced int64 // Size of the objects that the list will replace; unmeasured (-1) until it is computed.
	masks    int64 // Reserved bytes that are already in use, for data about masked values in this list.
}

// Reserve reserves the given number of bytes in the account, even if they do not fit into the budget.
func (a *Account) Reserve(bytes int64) *Reservation {
	a.reserved.Add(bytes)
	return &Reservation{account: a, bytes: bytes}
}

// Release releases the reserved memory. Call it when the objects of the list are in the journal, or when the list has
// failed.
func (r *Reservation) Release() {
	r.account.reserved.Add(r.masks - r.bytes)
	r.bytes, r.masks = 0, 0
}

// Begin records the start of a new list, so that Measure computes the size of the replaced objects again.
func (r *Reservation) Begin() { r.replaced = unmeasured }

// Measure reserves more memory if the objects that have arrived so far exceed the reservation. If the memory does not
// fit into the budget, Measure sets IsOversized and returns the reason.
func (r *Reservation) Measure(objects int, bytes int64) (refusal string) {
	if r.account.Limit() == 0 || r.IsOversized {
		return ""
	}
	masks := r.Masks()
	r.account.reserved.Add(r.masks - masks)
	r.masks = masks
	total := WeightOf(objects, bytes+masks)
	if total <= r.bytes {
		return ""
	}
	if r.replaced == unmeasured {
		r.replaced = r.Replaceable()
	}
	// Until the list is complete, its objects and those that it replaces are both in memory. Count only the larger of the
	// two. Otherwise, a resource could use only half of the budget.
	excess := total - r.replaced - r.bytes
	if excess <= 0 {
		return ""
	}
	var free int64
	for _, additional := range []int64{excess + reserveStep, excess} {
		var fits bool
		if free, fits = r.account.MakeRoom(additional); fits {
			r.bytes += additional
			r.account.reserved.Add(additional)
			return ""
		}
	}
	r.IsOversized = true
	return fmt.Sprintf(
		"The first %d objects need about %s of memory, more objects can follow, and %s of the %s for watched objects "+
			"are free",
		objects, FormatBytesUp(total), FormatBytes(max(0, free+r.replaced+r.bytes)), FormatBytes(r.account.Limit()),
	)
}

// WeightOf returns the memory that objects use in a journal. bytes is the size of the objects, to which WeightOf adds
// the overhead of the journal.
func WeightOf(objects int, bytes int64) int64 { return bytes + int64(objects)*journal.EntryOverhead }

// FormatBytes returns a size as text, such as "5MiB", rounded down.
func FormatBytes(n int64) string {
	return resource.NewQuantity(n/byteUnit(n)*byteUnit(n), resource.BinarySI).String() + "B"
}

// FormatBytesUp is like FormatBytes, but rounds up.
func FormatBytesUp(n int64) string { return FormatBytes(n + byteUnit(n) - 1) }

func byteUnit(n int64) int64 {
	if n >= 10<<20 {
		return 1 << 20
	}
	return 1 << 10
}
