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

// delta is the result of comparing the two versions of an update: what changed, and the author.
type delta struct {
	text []byte         // `,"patch":[..]`, followed by `,"by":BY,"authors":AUTHORS` if they are known.
	was  []byte         // The values before the update, see [diff.Compare], for readers without the object.
	none bool           // True if the patch is empty.
	by   *author.Author // The first author; nil if unknown.
}

const (
	// recentBytes is the approximate maximum size of the values in recent, in bytes, for all resources together. No
	// other memory limit counts these bytes.
	recentBytes    = 4 << 20
	recentOverhead = 128
)

// recent keeps the newest values that were computed from changes, such as deltas, in memory, so that all readers of a
// change share them. A change references them weakly, so without recent a value could be freed between two readers.
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

// deltaOf compares the two versions of an update, once for all readers that need it at about the same time.
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

// credit adds the authors of a patch to d. shares are the parts of the patch by author, and operations is the number of
// operations in the patch.
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

// operations returns the number of operations of a patch.
func operations(patch []byte) (n int) {
	_ = rawjson.NewCursor(patch).Array(func(int) error { n++; return nil }) // The patch is well formed.
	return n
}

// authorAge is how old the newest managedFields entry may be if a change did not update its time; otherwise the entry
// does not belong to the change. These times have a resolution of one second. A manager that writes the same fields
// twice within one second leaves no other trace.
const authorAge = 2 * time.Second

// newestAuthor returns the author of a change according to the newest managedFields entry. It returns nil if that entry
// is too old to belong to the change. The result is a guess if several entries share the newest second, or if the
// entry's time is unchanged: a deletion does not update it, and neither does the binding of a pod.
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

// run lists the changes that were merged into one update, oldest first. If there are more than maxRun, the later ones
// are left out, and no author is named.
type run []*change

const maxRun = 16

// author returns the common author of all changes in r that changed a cell of the row. It returns nil if they have
// several authors, or if one of the authors is unknown.
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
			by = a // The author entry of the newest change.
		}
	}
	return by, nil
}

func sameWriter(a, b *author.Author) bool {
	return a.Manager == b.Manager && a.Operation == b.Operation && a.Subresource == b.Subresource
}

// rowAuthor returns the author of an update. It returns nil if the author is unknown, or if several authors made the
// merged changes. Otherwise one of them would get credit for everything that the row shows. It compares the two
// versions only if newestAuthor is a guess.
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

// appendMember appends a member to dst, a JSON object without its closing brace. It appends nothing if the value cannot
// be encoded, such as a time with an invalid zone.
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
