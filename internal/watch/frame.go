package watch

import (
	"slices"
	"strconv"
	"sync"
)

// place is a range of rows of a ranking.
type place struct{ offset, count int }

// wish is the range of rows that a window requests.
type wish struct {
	place

	around string // The key of the row to center the range on, if it exists.
}

// counts are numbers of rows. total, failing and waiting count the rows that match the query's namespaces and labels;
// failing and waiting count those with the severities error and warning. matching counts the rows that also contain the
// query's words.
type counts struct{ total, matching, failing, waiting int }

// frame is a page of a ranking (the sorted rows of a filter): the rows in a range at one moment. All windows that
// request this range share the frame and its encoded texts.
type frame struct {
	place

	number uint64 // Identifies the page within its ranking.
	newest uint64 // The offset of the newest change that the page includes.
	counts counts
	rows   []*rankRow
	whole  shared[[]byte]

	mu    sync.Mutex
	steps map[uint64]*shared[step] // The differences from earlier pages, by the number of the earlier page.
}

// text returns the page as encoded members of a message. The caller adds the members that depend on the reader.
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

// same reports whether two pages of one range have the same content, so that no difference must be sent.
func (f *frame) same(other *frame) bool {
	return f == other || f.counts == other.counts && slices.Equal(f.rows, other.rows)
}

// since returns the difference between the page from, an earlier one of the same range, and f.
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
