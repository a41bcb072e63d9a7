package watch

import (
	"bytes"
	"maps"
	"sync"
	"time"
)

// bundle is the key under which readers share the encoded events of one batch of changes. Readers with the same view
// and filter that send the same changes have the same key.
type bundle struct {
	view     View
	filter   filterID
	version  int    // The version of the columns.
	from, to uint64 // The offsets of the first and the last change.
}

const (
	// markEvery is how long a mark, an offset at which several readers end their batches, is used.
	markEvery = gather / 2
	// bundlesKept is the number of bundles whose texts can be shared.
	bundlesKept = 32
)

// bundles contains weak references to the encoded texts of the newest bundles: only the readers that send a text keep
// it in memory. It also contains marks, the offsets at which readers end their batches, so that several readers send
// the same batches.
type bundles struct {
	mu     sync.Mutex
	texts  map[bundle]*shared[[]byte]
	newest [bundlesKept]bundle // A circular buffer.
	next   int

	marks map[filterID]mark // By the filter of restricted readers; all other readers use the zero filterID.
}

// mark is an offset at which several readers end their batch, with the time at which it was set.
type mark struct {
	offset uint64
	made   time.Time
}

// stop returns the offset at which the readers of one filter (its ID is of) end their batch, so that they send the same
// batch. It reuses the filter's mark if that is recent and after the offset from. Otherwise it makes a mark at the
// present offset, which the function now returns.
func (b *bundles) stop(of filterID, from uint64, now func() uint64) uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if m, ok := b.marks[of]; ok && m.offset > from && time.Since(m.made) <= markEvery {
		return m.offset
	}
	maps.DeleteFunc(b.marks, func(_ filterID, m mark) bool { return time.Since(m.made) > markEvery })
	if b.marks == nil {
		b.marks = make(map[filterID]mark)
	}
	m := mark{now(), time.Now()}
	b.marks[of] = m
	return m.offset
}

// text returns the encoded events of a bundle. The first caller encodes them by write. Later callers get the same text
// as long as it is referenced.
func (b *bundles) text(of bundle, write func() (*[]byte, error)) (*[]byte, error) {
	b.mu.Lock()
	text := b.texts[of]
	if text == nil {
		if b.texts == nil {
			b.texts = make(map[bundle]*shared[[]byte], bundlesKept)
		}
		delete(b.texts, b.newest[b.next])
		text = new(shared[[]byte])
		b.texts[of], b.newest[b.next] = text, of
		b.next = (b.next + 1) % bundlesKept
	}
	b.mu.Unlock()
	events, _, err := text.get(write)
	return events, err
}

// stop returns the offset at which the reader ends its batch after a pause; see bundles. A restricted reader shares it
// only with readers of the same filter: the pauses of other readers would reveal changes that are hidden from it.
func (s *reading) stop() uint64 {
	var of filterID
	if s.filter.hides {
		of = s.idOfFilter()
	}
	return s.informer.bundles.stop(of, s.cursor.Offset, func() uint64 { return s.informer.Now().Offset })
}

// idOfFilter returns the ID of the reader's filter. It is computed once.
func (s *reading) idOfFilter() filterID {
	if s.filterID == (filterID{}) {
		s.filterID = s.filter.id()
	}
	return s.filterID
}

// events encodes changes as events for the reader. If other readers may share them, they are joined into one text.
func (s *reading) events(changes []*change) ([][]byte, error) {
	if !s.view.bundled || len(changes) == 1 {
		return s.eventsOf(changes)
	}
	of := bundle{s.view.name, s.idOfFilter(), s.version, changes[0].Offset, changes[len(changes)-1].Offset}
	text, err := s.informer.bundles.text(of, func() (*[]byte, error) {
		events, err := s.eventsOf(changes)
		text := bytes.Join(events, []byte{','})
		return &text, err
	})
	if err != nil || len(*text) == 0 {
		return nil, err
	}
	s.bundled = text
	return [][]byte{*text}, nil
}
