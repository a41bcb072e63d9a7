package stream

import (
	"maps"
	"sync"
	"time"

	"glasshouse/internal/watch/event"
	"glasshouse/internal/watch/query"
)

// sharedBatchKey identifies one batch of changes in encoded form. Readers that send the same changes in the same
// view, with the same filter, share the text.
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

// sharedBatches encodes each batch of changes once for all readers of an informer that send it. It refers to the
// encoded texts weakly: a text is freed when no reader sends it any more.
type sharedBatches struct {
	mu     sync.Mutex
	texts  map[sharedBatchKey]*event.WeakLazy[[]byte]
	newest [maxSharedBatches]sharedBatchKey
	next   int

	// boundaries contains one boundary for each filter of restricted readers, which may not see all objects. All other
	// readers share the boundary with the zero FilterID.
	boundaries map[query.FilterID]batchBoundary
}

// batchBoundary is a journal offset at which several readers end their batches, so that they send identical ones.
type batchBoundary struct {
	offset    uint64
	createdAt time.Time
}

// boundary returns the journal offset at which a reader ends its next batch of changes. Readers with the same filter
// ID share this offset for up to boundaryMaxAge, so that they send identical batches. If the shared offset is too
// old, or not after batchStart, boundary shares the newest offset of the journal instead.
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

// text returns the encoded events of a batch. The first caller encodes them with encode. Later callers get the same
// text, until it is garbage-collected or too many newer batches exist.
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
