package watch

import (
	"slices"
	"strconv"
	"sync"
)

// place is a part of a ranking.
type place struct{ offset, count int }

// frame is what was at a place at one moment. All who held a window there share
// it, and with it the texts that tell of it.
type frame struct {
	place

	number   uint64 // Of its ranking's frames.
	newest   uint64 // The offset of the newest change in it.
	total    int
	matching int
	rows     []*rankRow
	whole    shared[[]byte]

	mu    sync.Mutex
	steps map[uint64]*shared[step] // From earlier frames, by their number.
}

// text is all of the frame, behind what is its reader's own.
func (f *frame) text() ([]byte, error) {
	text, _, err := f.whole.get(func() (*[]byte, error) {
		text := f.appendCounts(nil)
		text = strconv.AppendInt(append(text, `,"offset":`...), int64(f.offset), 10)
		text = strconv.AppendInt(append(text, `,"count":`...), int64(f.count), 10)
		text = append(text, `,"rows":[`...)
		for n, row := range f.rows {
			if n > 0 {
				text = append(text, ',')
			}
			text = row.object.AppendRow(text)
		}
		text = append(text, ']')
		return &text, nil
	})
	if err != nil {
		return nil, err
	}
	return *text, nil
}

// appendCounts appends how many rows there are, in all and of the filter's words.
func (f *frame) appendCounts(dst []byte) []byte {
	dst = strconv.AppendInt(append(dst, `,"total":`...), int64(f.total), 10)
	return strconv.AppendInt(append(dst, `,"matching":`...), int64(f.matching), 10)
}

// same reports that there is nothing to tell between two frames of one place.
func (f *frame) same(other *frame) bool {
	return f == other || f.total == other.total && f.matching == other.matching && slices.Equal(f.rows, other.rows)
}

// since is what leads to the frame from an earlier one of the same place.
func (f *frame) since(from *frame, i *informer, recent *recent) (*step, error) {
	f.mu.Lock()
	s := f.steps[from.number]
	if s == nil {
		s = new(shared[step])
		if f.steps == nil {
			f.steps = make(map[uint64]*shared[step])
		}
		f.steps[from.number] = s
	}
	f.mu.Unlock()
	text, _, err := s.get(func() (*step, error) { return newStep(from, f, i, recent) })
	return text, err
}
