package watch

import (
	"bytes"
	"errors"
	"strconv"
	"sync"
	"time"
	"weak"

	"glasshouse/internal/watch/fieldmanager"
	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/jsonscan"
	"glasshouse/internal/watch/listwatch"
)

// changeCache is the data that belongs to a change: the managedFields that arrived with it, and texts that are encoded from it
// once and shared by all readers. The row texts stay in memory as long as the change, and its size includes them.
//
// A delta can be as long as the uncompressed object, so it is freed with its last reference. So is the health, which
// few readers need.
type changeCache struct {
	managed      *listwatch.Managed // Nil if a list brought the change.
	coverageOnly bool               // The object did not change: its namespace became visible or was lost.
	folded       *foldedChanges     // The changes that were merged into this update; otherwise nil.
	rowText      lazy[[]byte]
	tableText    lazy[[]byte]
	delta        weakLazy[delta]
	health       weakLazy[healthText]
	masked       weakLazy[change] // The change as guests see it.
}

// lazy is a value that the first caller of get computes, and that all other callers share.
type lazy[T any] struct {
	sync.Once

	value T
	err   error
}

func (o *lazy[T]) get(compute func() (T, error)) (T, error) {
	o.Do(func() {
		o.err = errPanicked // Remains if compute panics, so that other callers do not take the zero value for a result.
		o.value, o.err = compute()
	})
	return o.value, o.err
}

var errPanicked = errors.New("the computation of a shared value panicked")

// weakLazy is a value that the first caller of get computes. Other callers get the same value as long as it is
// referenced. After that, the next caller computes it again.
type weakLazy[T any] struct {
	mu   sync.Mutex
	last weak.Pointer[T]
}

// get returns the value, and whether this call computed it.
func (s *weakLazy[T]) get(compute func() (*T, error)) (value *T, computed bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := s.last.Value(); last != nil {
		return last, false, nil
	}
	value, err = compute()
	if err != nil {
		return nil, false, err
	}
	s.last = weak.Make(value)
	return value, true, nil
}

// rowEvent encodes a change as an event of the rows view, once for all readers.
func rowEvent(c *change, cache *encodedCache) ([]byte, error) {
	return c.Memo.rowText.get(func() ([]byte, error) {
		return newRowEvent(c, cache, (*listwatch.Object).AppendVersion, appendNamedAuthor)
	})
}

// tableEvent encodes a change as an event of the table view, once for all readers. An update is shorter than in the
// rows view: it omits what the reader already has, and the member names of the author.
func tableEvent(c *change, cache *encodedCache) ([]byte, error) {
	if c.Op != journal.Update {
		return rowEvent(c, cache)
	}
	return c.Memo.tableText.get(func() ([]byte, error) {
		return newRowEvent(c, cache, appendResourceVersion, appendAuthor)
	})
}

// newRowEvent encodes a change as an event. The functions version and appendBy append the version and the author of an
// update, in the form of the view.
func newRowEvent(
	c *change, cache *encodedCache, version func(*listwatch.Object, []byte) []byte,
	appendBy func([]byte, *fieldmanager.Author) []byte,
) ([]byte, error) {
	var dst []byte
	switch c.Op {
	case journal.Add:
		dst = c.New.AppendRow([]byte(`{"op":"add","row":`))
	case journal.Delete:
		dst = jsonscan.AppendString([]byte(`{"op":"delete","ns":`), c.Old.Namespace())
		dst = jsonscan.AppendString(append(dst, `,"name":`...), c.Old.Name())
		dst = jsonscan.AppendString(append(dst, `,"uid":`...), c.Old.UID())
	default: // Update.
		dst = jsonscan.AppendString([]byte(`{"op":"update","ns":`), c.New.Namespace())
		dst = jsonscan.AppendString(append(dst, `,"name":`...), c.New.Name())
		dst = version(c.New, dst)
		var err error
		if dst, err = appendChangedCells(append(dst, `,"cells":`...), c.Old.Cells(), c.New.Cells()); err != nil {
			return nil, err
		}
		by, err := rowAuthor(c, cache)
		if err != nil {
			return nil, err
		}
		if by != nil {
			dst = appendBy(dst, by)
		}
	}
	return bytes.Clone(append(dst, '}')), nil // Clone removes spare capacity: only the length is counted.
}

func appendNamedAuthor(dst []byte, by *fieldmanager.Author) []byte {
	return appendMember(dst, "by", by)
}

func appendAuthor(dst []byte, by *fieldmanager.Author) []byte {
	timeText := ""
	if !by.Time.IsZero() {
		timeText = by.Time.Format(time.RFC3339)
	}
	dst = append(dst, `,"by":[`...)
	for n, text := range []string{by.Manager, by.Operation, by.Subresource, timeText} {
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = jsonscan.AppendString(dst, text)
	}
	return append(dst, ']')
}

func appendResourceVersion(o *listwatch.Object, dst []byte) []byte {
	return jsonscan.AppendString(append(dst, `,"rv":`...), o.ResourceVersion())
}

// objectEvent encodes a change as an event of the object view. The text is not shared, because an object has few
// readers. The expensive parts, the delta and the health, are computed once for all of them.
func objectEvent(c *change, cache *encodedCache) ([]byte, error) {
	if c.Op == journal.Delete {
		return append(jsonscan.AppendString([]byte(`{"op":"delete","uid":`), c.Old.UID()), '}'), nil
	}
	health, err := healthOf(c, cache)
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
		d, err := deltaOf(c, cache)
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
	c := jsonscan.NewCursor(before)
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
	c = jsonscan.NewCursor(after)
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
