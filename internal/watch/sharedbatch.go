package watch

import (
	"bytes"
	"maps"
	"sync"
	"time"

	"glasshouse/internal/watch/event"
)

// sharedBatchKey is the key under which readers share the encoded events of one batch of changes. Readers with the same
// view and filter that send the same changes have the same key.
type sharedBatchKey struct {
	view     View
	filter   filterID
	version  int    // The version of the columns.
	from, to uint64 // The offsets of the first and the last change.
}

const (
	// boundaryMaxAge is how long a boundary is used. A boundary is an offset at which several readers end their batches.
	boundaryMaxAge = maxDelay / 2
	// maxSharedBatches is the number of batches whose texts can be shared.
	maxSharedBatches = 32
)

// sharedBatches contains weak references to the encoded texts of the newest batches: only the readers that send a text
// keep it in memory. It also contains boundaries, the offsets at which readers end their batches, so that several
// readers send the same batches.
type sharedBatches struct {
	mu     sync.Mutex
	texts  map[sharedBatchKey]*event.WeakLazy[[]byte]
	newest [maxSharedBatches]sharedBatchKey // A circular buffer.
	next   int

	boundaries map[filterID]batchBoundary // By the filter of restricted readers; all other readers use the zero filterID.
}

// batchBoundary is an offset at which several readers end their batch, with the time at which it was set.
type batchBoundary struct {
	offset    uint64
	createdAt time.Time
}

// boundary returns the offset at which the readers of one filter (with this id) end their batch, so that they send the
// same batch. It reuses the filter's boundary if that is recent and after the offset from. Otherwise it makes a
// boundary at the present offset, which the function newestOffset returns.
func (b *sharedBatches) boundary(id filterID, from uint64, newestOffset func() uint64) uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if m, ok := b.boundaries[id]; ok && m.offset > from && time.Since(m.createdAt) <= boundaryMaxAge {
		return m.offset
	}
	maps.DeleteFunc(
		b.boundaries, func(_ filterID, m batchBoundary) bool { return time.Since(m.createdAt) > boundaryMaxAge },
	)
	if b.boundaries == nil {
		b.boundaries = make(map[filterID]batchBoundary)
	}
	m := batchBoundary{newestOffset(), time.Now()}
	b.boundaries[id] = m
	return m.offset
}

// text returns the encoded events of a batch. The first caller encodes them by encode. Later callers get the same text
// as long as it is referenced.
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

// batchBoundary returns the offset at which the reader ends its batch after a pause; see sharedBatches. A restricted
// reader shares it only with readers of the same filter: the pauses of other readers would reveal changes that are
// hidden from it.
func (s *reader) batchBoundary() uint64 {
	var id filterID
	if s.filter.isRestricted {
		id = s.idOfFilter()
	}
	return s.informer.sharedBatches.boundary(id, s.cursor.Offset, func() uint64 { return s.informer.Now().Offset })
}

// idOfFilter returns the ID of the reader's filter. It is computed once.
func (s *reader) idOfFilter() filterID {
	if s.filterID == (filterID{}) {
		s.filterID = s.filter.id()
	}
	return s.filterID
}

// events encodes changes as events for the reader. If other readers may share them, they are joined into one text.
func (s *reader) events(changes []*event.Change) ([][]byte, error) {
	if !s.view.isShared || len(changes) == 1 {
		return s.encodeEvents(changes)
	}
	key := sharedBatchKey{s.view.name, s.idOfFilter(), s.version, changes[0].Offset, changes[len(changes)-1].Offset}
	text, err := s.informer.sharedBatches.text(key, func() (*[]byte, error) {
		events, err := s.encodeEvents(changes)
		text := bytes.Join(events, []byte{','})
		return &text, err
	})
	if err != nil || len(*text) == 0 {
		return nil, err
	}
	s.sharedText = text
	return [][]byte{*text}, nil
}
