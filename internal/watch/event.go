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

// memo is what belongs to a change: the managedFields that came with it, and
// what is made of it once and shared by all readers. Its rows are kept as long as
// the change, which weighs them. A delta can be as long as the object is when it
// is not compressed: it goes with the last who holds it, and so does the health,
// which few ask for.
type memo struct {
	managed *wire.Managed // Nil where a list brought the change.
	sight   bool          // What the program may see has changed, not the object.
	run     *run          // Of an update that stands for several changes; else nil.
	row     once[[]byte]
	inTable once[[]byte]
	delta   shared[delta]
	health  shared[healthText]
	seen    shared[change] // As those see it whom something is shared with.
}

// once is a value that the first who asks for it makes.
type once[T any] struct {
	sync.Once

	value T
	err   error
}

func (o *once[T]) get(make func() (T, error)) (T, error) {
	o.Do(func() {
		o.err = errPanicked // Unless make returns: the others must not take nothing for an answer.
		o.value, o.err = make()
	})
	return o.value, o.err
}

var errPanicked = errors.New("making it panicked")

// shared is a value that the first who asks for it makes, while somebody holds
// it.
type shared[T any] struct {
	mu   sync.Mutex
	last weak.Pointer[T]
}

// get returns it, and whether it was made for the purpose.
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

// rowEvent is a change as an event of the rows view.
func rowEvent(c *change, recent *recent) ([]byte, error) {
	return c.Memo.row.get(func() ([]byte, error) { return newRowEvent(c, recent, (*wire.Object).AppendVersion, appendNamedAuthor) })
}

// tableEvent is a change as an event of the table view: of an update it leaves
// out what the reader knows, and the names in its author.
func tableEvent(c *change, recent *recent) ([]byte, error) {
	if c.Op != journal.Update {
		return rowEvent(c, recent)
	}
	return c.Memo.inTable.get(func() ([]byte, error) { return newRowEvent(c, recent, appendResourceVersion, appendAuthor) })
}

// newRowEvent makes an event, of an update with the version and the author as
// they are given.
func newRowEvent(c *change, recent *recent, version func(*wire.Object, []byte) []byte, credit func([]byte, *author.Author) []byte) ([]byte, error) {
	var dst []byte
	switch c.Op {
	case journal.Add:
		dst = c.New.AppendRow([]byte(`{"op":"add","row":`))
	case journal.Delete:
		dst = rawjson.AppendString([]byte(`{"op":"delete","ns":`), c.Old.Namespace())
		dst = rawjson.AppendString(append(dst, `,"name":`...), c.Old.Name())
		dst = rawjson.AppendString(append(dst, `,"uid":`...), c.Old.UID())
	default: // An update.
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
	return bytes.Clone(append(dst, '}')), nil // As long as it is weighed.
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

// objectEvent is a change as an event of the object view. Few look at one object,
// and what is dear of it, the delta and the health, is made once.
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

// appendChangedCells appends the cells of after that differ, by column index.
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
