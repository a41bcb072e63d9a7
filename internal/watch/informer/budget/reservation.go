package budget

import (
	"fmt"

	"glasshouse/internal/watch/journal"

	"k8s.io/apimachinery/pkg/api/resource"
)

// reserveStep is the number of additional bytes that a running list reserves each time it exceeds its reserved
// memory.
const reserveStep = 64 << 10

const unmeasured = -1

// Reservation is the memory that a list reserves in an account until it is complete. Only one goroutine may use it at
// a time.
type Reservation struct {
	// Masks returns the bytes that the list has added to the data about masked values. Replaceable returns the size
	// of the objects that the list replaces.
	Masks, Replaceable func() int64
	IsOversized        bool // The list does not fit, and must be canceled.

	account *Account
	// bytes is the memory that is reserved for the list. It does not include what was in memory before the list:
	// objects, and data about masked values.
	bytes    int64
	replaced int64 // Size of the objects that the list replaces; unmeasured (-1) until it is computed.
	masks    int64 // The part of bytes that is already in use, for data about masked values in this list.
}

// Reserve reserves bytes in the account, even if they do not fit into the budget.
func (a *Account) Reserve(bytes int64) *Reservation {
	a.reserved.Add(bytes)
	return &Reservation{account: a, bytes: bytes}
}

// Release releases the reserved memory. It is called when the objects of the list are in the journal, or will not
// arrive.
func (r *Reservation) Release() {
	r.account.reserved.Add(r.masks - r.bytes)
	r.bytes, r.masks = 0, 0
}

// Begin records that a new list begins.
func (r *Reservation) Begin() { r.replaced = unmeasured }

// Measure is called with the number of objects and bytes of a list that have arrived so far. It sets IsOversized, and
// returns the reason, if they exceed both the reserved and the free memory. The reserved memory can be too low: the
// API server does not report the length of a list with a field selector, and a relist can have any size.
//
// While a list arrives, its objects are in memory together with the objects that they replace. Only the larger of the
// two sizes counts, because otherwise no resource could use more than half of the budget.
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
		"The first %d objects need about %s, more objects can follow, and %s of the %s for watched objects are free",
		objects, FormatBytesUp(total), FormatBytes(max(0, free+r.replaced+r.bytes)), FormatBytes(r.account.Limit()),
	)
}

// WeightOf returns the memory of objects in a journal. bytes is the size of the objects themselves.
func WeightOf(objects int, bytes int64) int64 { return bytes + int64(objects)*journal.EntryOverhead }

// FormatBytes returns a size as text, such as "5Mi" with the unit "B". It rounds down, and FormatBytesUp rounds up.
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
