package watch

import (
	"slices"
	"strconv"
	"sync"
)

// place is a part of a ranking.
type place struct{ offset, count int }

// wish is the place that is asked for.
type wish struct {
	place

	around string // The key of the row that is to be in its middle, where it is there.
}

// counts are how many rows there are: of all that the namespaces and labels let
// through those that tell a failure, or that something is waited for, and those
// that the words let through.
type counts struct{ total, matching, failing, waiting int }

// frame is what was at a place at one moment. All who held a window there share
// it, and with it the texts that tell of it.
type frame struct {
	place

	number uint64 // Of its ranking's frames.
	newest uint64 // The offset of the newest change in it.
	counts counts
	rows   []*rankRow
	whole  shared[[]byte]

	mu    sync.Mutex
	steps map[uint64]*shared[step] // From earlier frames, by their number.
}

// text is all of the frame, behind what is its reader's own.
func (f *frame) text() ([]byte, error) {
	text, _, err := f.whole.get(func() (*[]byte, error) {
		text := f.counts.append(nil)
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

func (c *counts) append(dst []byte) []byte {
	for _, member := range []struct {
		name string
		n    int
	}{{`,"total":`, c.total}, {`,"matching":`, c.matching}, {`,"failing":`, c.failing}, {`,"waiting":`, c.waiting}} {
		dst = strconv.AppendInt(append(dst, member.name...), int64(member.n), 10)
	}
	return dst
}

// same reports that there is nothing to tell between two frames of one place.
func (f *frame) same(other *frame) bool {
	return f == other || f.counts == other.counts && slices.Equal(f.rows, other.rows)
}

// since is what leads to the frame from an earlier one of the same place.
func (f *frame) since(from *frame, r *ranking, recent *recent) (*step, error) {
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
	text, _, err := s.get(func() (*step, error) { return newStep(from, f, r, recent) })
	return text, err
}
