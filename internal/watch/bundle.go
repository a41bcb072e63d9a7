package watch

import (
	"bytes"
	"maps"
	"sync"
	"time"
)

// bundle is the events that a batch of changes is to all readers of one view and
// filter who tell it whole.
type bundle struct {
	view     View
	filter   filterID
	version  int    // Of the columns.
	from, to uint64 // Offsets: the changes after the first, up to the second.
}

const (
	// markEvery is how long readers who collect stop at the same offset.
	markEvery = gather / 2
	// bundlesKept is how many bundles are looked for.
	bundlesKept = 32
)

// bundles are the texts of the newest bundles, each of which is kept by who tells
// it alone, and where readers are to stop, so that they have the same ones.
type bundles struct {
	mu     sync.Mutex
	texts  map[bundle]*shared[[]byte]
	newest [bundlesKept]bundle // In turn.
	next   int

	marks map[filterID]mark // Of restricted readers by filter; the zero filterID is all others'.
}

// mark is the offset at which readers of one batch end.
type mark struct {
	offset uint64
	made   time.Time
}

// stop returns the offset at which readers of a filter end their batch, so that they
// share it: one of a moment ago, where that is behind from, or now's.
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

// text is that of a bundle, which the first who asks for it makes, and others are given
// while somebody holds it.
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

// stop returns the offset at which a reader ends its batch behind a pause, see bundles.
// Restricted readers share no mark with others, whose pauses show hidden changes.
func (s *reading) stop() uint64 {
	var of filterID
	if s.filter.hides {
		of = s.idOfFilter()
	}
	return s.informer.bundles.stop(of, s.cursor.Offset, func() uint64 { return s.informer.Now().Offset })
}

// idOfFilter returns the ID of the reader's filter, which is made once.
func (s *reading) idOfFilter() filterID {
	if s.filterID == (filterID{}) {
		s.filterID = s.filter.id()
	}
	return s.filterID
}

// events are what changes are to the reader, in one piece where others are told
// the same.
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
