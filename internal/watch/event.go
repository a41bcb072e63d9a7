package watch

import (
	"bytes"
	"errors"
	"strconv"
	"sync"
	"time"
	"weak"

	"glasshouse/internal/watch/author"
	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/rawjson"
	"glasshouse/internal/watch/wire"
)

// memo is the data that belongs to a change: the managedFields that arrived with it, and texts that are encoded from it
// once and shared by all readers. The row texts stay in memory as long as the change, and its size includes them.
//
// A delta can be as long as the uncompressed object, so it is freed with its last reference. So is the health, which
// few readers need.
type memo struct {
	managed *wire.Managed // Nil if a list brought the change.
	sight   bool          // The object did not change: its namespace became visible or was lost.
	run     *run          // The changes that were merged into this update; otherwise nil.
	row     once[[]byte]
	inTable once[[]byte]
	delta   shared[delta]
	health  shared[healthText]
	seen    shared[change] // The change as guests see it.
}

// once is a value that the first caller of get computes, and that all other callers share.
type once[T any] struct {
	sync.Once

	value T
	err   error
}

func (o *once[T]) get(make func() (T, error)) (T, error) {
	o.Do(func() {
		o.err = errPanicked // Remains if make panics, so that other callers do not take the zero value for a result.
		o.value, o.err = make()
	})
	return o.value, o.err
}

var errPanicked = errors.New("the computation of a shared value panicked")

// shared is a value that the first caller of get computes. Other callers get the same value as long as it is
// referenced. After that, the next caller computes it again.
type shared[T any] struct {
	mu   sync.Mutex
	last weak.Pointer[T]
}

// get returns the value, and whether this call computed it.
func (s *shared[T]) get(make func() (*T, error)) (value *T, made bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := s.last.Value(); last != nil {
		return last, false, nil
	}
	value, err = make()
	if err != nil {
		return nil, false, err
	}
	s.last = weak.Make(value)
	return value, true, nil
}

// rowEvent encodes a change as an event of the rows view, once for all readers.
func rowEvent(c *change, recent *recent) ([]byte, error) {
	return c.Memo.row.get(func() ([]byte, error) {
		return newRowEvent(c, recent, (*wire.Object).AppendVersion, appendNamedAuthor)
	})
}

// tableEvent encodes a change as an event of the table view, once for all readers. An update is shorter than in the
// rows view: it omits what the reader already has, and the member names of the author.
func tableEvent(c *change, recent *recent) ([]byte, error) {
	if c.Op != journal.Update {
		return rowEvent(c, recent)
	}
	return c.Memo.inTable.get(func() ([]byte, error) {
		return newRowEvent(c, recent, appendResourceVersion, appendAuthor)
	})
}

// newRowEvent encodes a change as an event. The functions version and credit append the version and the author of an
// update, in the form of the view.
func newRowEvent(
	c *change, recent *recent, version func(*wire.Object, []byte) []byte,
	credit func([]byte, *author.Author) []byte,
) ([]byte, error) {
	var dst []byte
	switch c.Op {
	case journal.Add:
		dst = c.New.AppendRow([]byte(`{"op":"add","row":`))
	case journal.Delete:
		dst = rawjson.AppendString([]byte(`{"op":"delete","ns":`), c.Old.Namespace())
		dst = rawjson.AppendString(append(dst, `,"name":`...), c.Old.Name())
		dst = rawjson.AppendString(append(dst, `,"uid":`...), c.Old.UID())
	default: // Update.
		dst = rawjson.AppendString([]byte(`{"op":"update","ns":`), c.New.Namespace())
		dst = rawjson.AppendString(append(dst, `,"name":`...), c.New.Name())
		dst = version(c.New, dst)
		var err error
		if dst, err = appendChangedCells(append(dst, `,"cells":`...), c.Old.Cells(), c.New.Cells()); err != nil {
			return nil, err
		}
		by, err := rowAuthor(c, recent)
		if err != nil {
			return nil, err
		}
		if by != nil {
			dst = credit(dst, by)
		}
	}
	return bytes.Clone(append(dst, '}')), nil // Clone removes spare capacity: only the length is counted.
}

func appendNamedAuthor(dst []byte, by *author.Author) []byte { return appendMember(dst, "by", by) }

func appendAuthor(dst []byte, by *author.Author) []byte {
	when := ""
	if !by.Time.IsZero() {
		when = by.Time.Format(time.RFC3339)
	}
	dst = append(dst, `,"by":[`...)
	for n, text := range []string{by.Manager, by.Operation, by.Subresource, when} {
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = rawjson.AppendString(dst, text)
	}
	return append(dst, ']')
}

func appendResourceVersion(o *wire.Object, dst []byte) []byte {
	return rawjson.AppendString(append(dst, `,"rv":`...), o.ResourceVersion())
}

// objectEvent encodes a change as an event of the object view. The text is not shared, because an object has few
// readers. The expensive parts, the delta and the health, are computed once for all of them.
func objectEvent(c *change, recent *recent) ([]byte, error) {
	if c.Op == journal.Delete {
		return append(rawjson.AppendString([]byte(`{"op":"delete","uid":`), c.Old.UID()), '}'), nil
	}
	health, err := healthOf(c, recent)
	if err != nil {
		return nil, err
	}
	var event []byte
	if c.Op == journal.Add {
		text, err := c.New.JSON()
		if err != nil {
			return nil, err
		}
		event = append([]byte(`{"op":"add","object":`), text...)
	} else {
		d, err := deltaOf(c, recent)
		if err != nil {
			return nil, err
		}
		event = append(c.New.AppendVersion([]byte(`{"op":"update"`)), d.text...)
	}
	return append(append(event, health.text...), '}'), nil
}

// appendChangedCells appends a JSON object of the cells in after that differ from those in before, by column index.
func appendChangedCells(dst, before, after []byte) ([]byte, error) {
	old := make([]string, 0, 16)
	c := rawjson.NewCursor(before)
	err := c.Array(func(int) error {
		cell, err := c.Value()
		old = append(old, string(cell))
		return err
	})
	if err != nil {
		return nil, err
	}
	start := len(dst)
	dst = append(dst, '{')
	c = rawjson.NewCursor(after)
	err = c.Array(func(i int) error {
		cell, err := c.Value()
		if err != nil || i < len(old) && old[i] == string(cell) {
			return err
		}
		if len(dst) > start+1 {
			dst = append(dst, ',')
		}
		dst = append(dst, '"')
		dst = strconv.AppendInt(dst, int64(i), 10)
		dst = append(dst, `":`...)
		dst = append(dst, cell...)
		return nil
	})
	return append(dst, '}'), err
}
