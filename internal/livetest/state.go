package livetest

import (
	"maps"
	"slices"
)

func (v *View) isComplete() bool { return v.synced && !v.resetting }

// IsComplete reports whether a complete snapshot has arrived, and no reset since.
func (v *View) IsComplete() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.isComplete()
}

// Subscription returns the subscription, with the cursor to resume from.
func (v *View) Subscription() Subscription {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.want
}

// Rows returns a copy of the rows. The key is Row.Key.
func (v *View) Rows() map[string]Row {
	v.mu.Lock()
	defer v.mu.Unlock()
	return maps.Clone(v.rows)
}

// Len returns the number of rows.
func (v *View) Len() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.rows)
}

// Columns returns the columns of the rows.
func (v *View) Columns() []Column {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.columns
}

// A Window is a part of a sorted list.
type Window struct {
	Counts

	Rows          []Row
	Offset, Count int
}

// Window returns the content of a subscription to a window.
func (v *View) Window() Window {
	v.mu.Lock()
	defer v.mu.Unlock()
	w := Window{Counts: v.counts, Offset: v.offset, Count: v.count}
	for _, key := range v.order {
		w.Rows = append(w.Rows, v.rows[key])
	}
	return w
}

// Object returns the object as JSON, or nil if there is none.
func (v *View) Object() []byte {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.object
}

// Offers reports whether the server's list of resources contains ref. isLoaded is false until the first list has
// arrived.
func (v *View) Offers(ref string) (offered, isLoaded bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.resources[ref], v.resources != nil
}

// Stats returns the numbers of messages so far.
func (v *View) Stats() Stats {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.stats
}

// Faults returns the first 20 faults (inconsistent messages).
func (v *View) Faults() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.faults)
}
