package shared

import (
	"maps"
	"sync"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/event"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
)

// BatchKey identifies the encoded text of a batch of changes. Readers with the same view and filter share it.
type BatchKey struct {
	View     string
	Filter   query.FilterID
	Version  int    // The version of the informer's columns and history for which the batch is encoded.
	From, To uint64 // The journal offsets of the first and the last change in the batch.
}

// maxBatches is the number of newest batches that can be shared.
const maxBatches = 32

// Batches encodes each batch of changes once for all its readers. The encoded text is freed when no reader sends it any
// more.
type Batches struct {
	mu     sync.Mutex
	texts  map[BatchKey]*event.WeakLazy[[]byte]
	newest [maxBatches]BatchKey
	next   int

	// boundaries contains the newest boundary for each filter of restricted readers (who may not see all objects). All
	// other readers share the one with the zero FilterID.
	boundaries map[query.FilterID]batchBoundary
}

// batchBoundary is a journal offset at which several readers end their current batch, so that their batches are
// identical.
type batchBoundary struct {
	offset    uint64
	createdAt time.Time
}

// Boundary returns the journal offset at which all readers with the filter id end their current batch. This is the
// newest boundary for id, if it is after batchStart and at most maxAge old. Otherwise, Boundary creates a boundary at
// newestOffset().
func (b *Batches) Boundary(
	id query.FilterID, batchStart uint64, maxAge time.Duration, newestOffset func() uint64,
) uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if m, ok := b.boundaries[id]; ok && m.offset > batchStart && time.Since(m.createdAt) <= maxAge {
		return m.offset
	}
	maps.DeleteFunc(
		b.boundaries, func(_ query.FilterID, m batchBoundary) bool { return time.Since(m.createdAt) > maxAge },
	)
	if b.boundaries == nil {
		b.boundaries = make(map[query.FilterID]batchBoundary)
	}
	m := batchBoundary{newestOffset(), time.Now()}
	b.boundaries[id] = m
	return m.offset
}

// Text returns the encoded events of a batch. It calls encode only if no earlier result is in memory. A result is
// shared while a reader keeps the pointer to it. An error is not shared.
func (b *Batches) Text(key BatchKey, encode func() (*[]byte, error)) (*[]byte, error) {
	b.mu.Lock()
	text := b.texts[key]
	if text == nil {
		if b.texts == nil {
			b.texts = make(map[BatchKey]*event.WeakLazy[[]byte], maxBatches)
		}
		delete(b.texts, b.newest[b.next])
		text = new(event.WeakLazy[[]byte])
		b.texts[key], b.newest[b.next] = text, key
		b.next = (b.next + 1) % maxBatches
	}
	b.mu.Unlock()
	events, _, err := text.Get(encode)
	return events, err
}
