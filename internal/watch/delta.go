package watch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"glasshouse/internal/watch/author"
	"glasshouse/internal/watch/diff"
	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/rawjson"
)

// delta is what an update changed, and who did.
type delta struct {
	text []byte         // `,"patch":[..]`, and as far as they are known `,"by":BY,"authors":AUTHORS`.
	was  []byte         // What stood there, as [diff.Compare] tells it, for who does not hold the object.
	none bool           // The patch is empty.
	by   *author.Author // Nil where not known.
}

const (
	// recentBytes is about what the texts of recent hold together, of all
	// resources: it is not counted anywhere else.
	recentBytes    = 4 << 20
	recentOverhead = 128
)

// recent holds the newest texts that were made of changes, so that all who are
// told of a change share them: between two of them nobody may hold it.
type recent struct {
	mu    sync.Mutex
	held  []kept // Oldest first.
	bytes int
}

type kept struct {
	value any
	bytes int
}

func (r *recent) hold(value any, bytes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	newest := kept{value, bytes + recentOverhead}
	r.held = append(r.held, newest)
	r.bytes += newest.bytes
	for r.bytes > recentBytes && len(r.held) > 1 {
		r.bytes -= r.held[0].bytes
		r.held[0] = kept{}
		r.held = r.held[1:]
	}
}

// deltaOf compares the two versions of an update, once for all readers that
// come together.
func deltaOf(c *change, recent *recent) (*delta, error) {
	d, made, err := c.Memo.delta.get(func() (*delta, error) { return newDelta(c) })
	if made {
		recent.hold(d, len(d.text)+len(d.was))
	}
	return d, err
}

func newDelta(c *change) (*delta, error) {
	before, err := c.Old.JSON()
	if err != nil {
		return nil, err
	}
	after, err := c.New.JSON()
	if err != nil {
		return nil, err
	}
	patch, was, err := diff.Compare(before, after)
	if err != nil {
		return nil, fmt.Errorf("compare two versions of %s: %w", c.Key, err)
	}
	d := &delta{none: string(patch) == "[]", text: append([]byte(`,"patch":`), patch...), was: was}
	if c.Memo.managed == nil {
		return d, nil
	}
	managed, err := c.Memo.managed.JSON()
	if err != nil {
		return nil, err
	}
	d.credit(author.Of(managed, patch, after, c.Old.Managed()), operations(patch))
	return d, nil
}

// credit names the authors of a patch of so many operations.
func (d *delta) credit(shares []author.Share, operations int) {
	if len(shares) == 0 {
		return
	}
	d.by = &shares[0].Author
	d.text = appendMember(d.text, "by", d.by)
	if len(shares) > 1 || len(shares[0].Ops) < operations {
		d.text = appendMember(d.text, "authors", shares)
	}
}

// operations is how many a patch has.
func operations(patch []byte) (n int) {
	_ = rawjson.NewCursor(patch).Array(func(int) error { n++; return nil }) // It is well formed.
	return n
}

// authorAge is how old the newest entry of managedFields may be where the change
// left its time as it was: their times are in seconds, and a manager that writes
// the same fields twice within one leaves no other trace.
const authorAge = 2 * time.Second

// newestAuthor is who made a change as far as the newest entry of managedFields
// tells, which is nobody where that is older than the change. Where several
// share the newest second it is a guess, and where its time did not move: a
// deletion takes none, nor does a pod's binding.
func newestAuthor(c *change) (a *author.Author, guess bool) {
	if c.Memo.managed == nil {
		return nil, false
	}
	newest, alone := c.Memo.managed.Newest()
	switch {
	case c.Old == nil || newest.Time.After(c.Old.Managed()):
		return &newest, !alone
	case c.Time.Sub(newest.Time) > authorAge:
		return nil, false
	}
	return &newest, true
}

// run are the changes that an update stands for, oldest first. Of more than maxRun
// nobody is named, and the others are left out.
type run []*change

const maxRun = 16

// author is who made all that a row shows of them; nil where that is not one, or
// not known of one of them.
func (r run) author(recent *recent) (*author.Author, error) {
	var by, nobody *author.Author
	for _, c := range slices.Backward(r) {
		switch {
		case len(r) > maxRun, c.Op != journal.Update:
			return nobody, nil
		case bytes.Equal(c.Old.Cells(), c.New.Cells()):
			continue
		}
		a, err := rowAuthor(c, recent)
		if a == nil || err != nil || by != nil && !sameWriter(a, by) {
			return nobody, err
		}
		if by == nil {
			by = a // The newest.
		}
	}
	return by, nil
}

func sameWriter(a, b *author.Author) bool {
	return a.Manager == b.Manager && a.Operation == b.Operation && a.Subresource == b.Subresource
}

// rowAuthor is who made an update, nil where that is not known, or were several:
// what a row shows of it would be laid to one of them. It compares two versions only
// where the newest entry is a guess.
func rowAuthor(c *change, recent *recent) (*author.Author, error) {
	if c.Memo.run != nil {
		return c.Memo.run.author(recent)
	}
	by, guess := newestAuthor(c)
	if !guess {
		return by, nil
	}
	d, err := deltaOf(c, recent)
	if err != nil {
		return nil, err
	}
	return d.by, nil
}

func appendRowAuthor(dst []byte, c *change, recent *recent) ([]byte, error) {
	by, err := rowAuthor(c, recent)
	if by == nil {
		return dst, err
	}
	return appendMember(dst, "by", by), err
}

// appendMember appends one more member to an object, unless it cannot be
// encoded: a time zone may be none.
func appendMember(dst []byte, name string, value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		return dst
	}
	dst = append(dst, `,"`...)
	dst = append(dst, name...)
	dst = append(dst, `":`...)
	return append(dst, text...)
}
