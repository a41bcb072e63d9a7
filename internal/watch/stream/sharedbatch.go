package stream

import (
	"maps"
	"sync"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/event"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
)

// sharedBatchKey identifies one encoded batch of changes, which readers with the same view and filter share.
type sharedBatchKey struct {
	view     View
	filter   query.FilterID
	version  int
	from, to uint64
}

const (
	// boundaryMaxAge is the maximum age of a boundary (an offset at which several readers end their batches).
	boundaryMaxAge   = maxDelay / 2
	maxSharedBatches = 32
)

// sharedBatches encodes each batch of changes once for all its readers. A text is freed when no reader sends it.
type sharedBatches struct {
	mu     sync.Mutex
	texts  map[sharedBatchKey]*event.WeakLazy[[]byte]
	newest [maxSharedBatches]sharedBatchKey
	next   int

	// boundaries has one entry for each filter of restricted readers, and one with the zero FilterID for all other
	// readers.
	boundaries map[query.FilterID]batchBoundary
}

// batchBoundary is a journal offset at which several readers end their batches, so that they send identical ones.
type batchBoundary struct {
	offset    uint64
	createdAt time.Time
}

// boundary returns the journal offset at which readers with the same ID end their batches, for up to boundaryMaxAge.
func (b *sharedBatches) boundary(id query.FilterID, batchStart uint64, newestOffset func() uint64) uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if m, ok := b.boundaries[id]; ok && m.offset > batchStart && time.Since(m.createdAt) <= boundaryMaxAge {
		return m.offset
	}
	maps.DeleteFunc(
		b.boundaries, func(_ query.FilterID, m batchBoundary) bool { return time.Since(m.createdAt) > boundaryMaxAge },
	)
	if b.boundaries == nil {
		b.boundaries = make(map[query.FilterID]batchBoundary)
	}
	m := batchBoundary{newestOffset(), time.Now()}
	b.boundaries[id] = m
	return m.offset
}

// text returns the encoded events of a batch. Only the first caller encodes them.
func (b *sharedBatches) text(key sharedBatchKey, encode func() (*[]byte, error)) (*[]byte, error) {
	b.mu.Lock()
	text := b.texts[key]
	if text == nil {
		if b.texts == nil {
			b.texts = make(map[sharedBatchKey]*event.WeakLazy[[]byte], maxSharedBatches)
		}
		delete(b.texts, b.newest[b.next])
		text = new(event.WeakLazy[[]byte])
		b.texts[key], b.newest[b.next] = text, key
		b.next = (b.next + 1) % maxSharedBatches
	}
	b.mu.Unlock()
	events, _, err := text.Get(encode)
	return events, err
}
