package watch

import (
	"bytes"
	"maps"
	"sync"
	"time"
)

// bundle identifies the events of one batch of changes, for all readers of one view and filter that send the same
// batch.
type bundle struct {
	view     View
	filter   filterID
	version  int    // Of the columns.
	from, to uint64 // The offsets of the first and the last change.
}

const (
	// markEvery is how long readers end their batches at the same offset.
	markEvery = gather / 2
	// bundlesKept is the number of bundles that are remembered.
	bundlesKept = 32
)

// bundles are weak references to the texts of the newest bundles: only the readers that send a text keep it alive. It
// also records the offsets at which readers end their batches, so that they have the same batches.
type bundles struct {
	mu     sync.Mutex
	texts  map[bundle]*shared[[]byte]
	newest [bundlesKept]bundle // A circular buffer.
	next   int

	marks map[filterID]mark // For restricted readers by filter; the zero filterID is for all others.
}

// mark is the offset at which several readers end their batch.
type mark struct {
	offset uint64
	made   time.Time
}

// stop returns the offset at which readers of a filter end their batch, so that they share it. It is a recent one if
// that is after from, and otherwise the present one.
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

// text returns the text of a bundle. The first caller writes it, and others share it as long as it is referenced.
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

// stop returns the offset at which a reader ends its batch after a pause, see bundles. Restricted readers share no
// offset with other readers, whose pauses would reveal hidden changes.
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

// events returns the events of changes for the reader. They are one text if other readers may share it.
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
