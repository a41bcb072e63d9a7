package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"glasshouse/internal/watch/diff"
	"glasshouse/internal/watch/fieldmanager"
	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/jsonscan"
)

// Delta is the difference between the two versions of an updated object, with the authors of the change.
type Delta struct {
	// Text is the JSON `,"patch":[..],"by":BY,"authors":AUTHORS`. The member by is left out if the author is unknown.
	// The member authors is left out if the author in by made all operations of the patch.
	Text      []byte
	OldValues []byte // former values (see [diff.Compare]), for readers that do not have the object
	IsEmpty   bool
	by        *fieldmanager.Author // newest author of the operations; nil if unknown
}

const (
	// encodedCacheBytes is the approximate maximum size in bytes of all values in a Cache. All resources share one
	// Cache. These bytes are in addition to every other memory limit.
	encodedCacheBytes    = 4 << 20
	encodedCacheOverhead = 128
)

// Cache keeps the newest encoded values of changes, such as deltas, in memory, so that all readers share them. A
// Change has only weak references to these values. Without the Cache, the garbage collector could free a value before
// the next reader needs it.
type Cache struct {
	mu      sync.Mutex
	entries []encodedEntry
	bytes   int
}

type encodedEntry struct {
	value any
	bytes int
}

// Add stores a value with its approximate size in bytes. If the Cache is too large, it drops the oldest values.
func (r *Cache) Add(value any, bytes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	newest := encodedEntry{value, bytes + encodedCacheOverhead}
	r.entries = append(r.entries, newest)
	r.bytes += newest.bytes
	for r.bytes > encodedCacheBytes && len(r.entries) > 1 {
		r.bytes -= r.entries[0].bytes
		r.entries[0] = encodedEntry{}
		r.entries = r.entries[1:]
	}
}

// Values returns the cached values from the oldest to the newest. The result accounted is the size of the cache in
// bytes, which is limited to encodedCacheBytes. It is the sum of the sizes that were passed to Add, plus
// encodedCacheOverhead for each value.
func (r *Cache) Values() (all []any, accounted int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.entries {
		all = append(all, e.value)
	}
	return all, r.bytes
}

// DeltaOf returns the difference between the two versions of an update. It is computed once for all concurrent
// readers.
func DeltaOf(c *Change, cache *Cache) (*Delta, error) {
	d, computed, err := c.Memo.delta.Get(func() (*Delta, error) { return newDelta(c) })
	if computed {
		cache.Add(d, len(d.Text)+len(d.OldValues))
	}
	return d, err
}

func newDelta(c *Change) (*Delta, error) {
	before, err := c.Old.JSON()
	if err != nil {
		return nil, err
	}
	after, err := c.New.JSON()
	if err != nil {
		return nil, err
	}
	patch, oldValues, err := diff.Compare(before, after)
	if err != nil {
		return nil, fmt.Errorf("compare two versions of %s: %w", c.Key, err)
	}
	d := &Delta{IsEmpty: string(patch) == "[]", Text: append([]byte(`,"patch":`), patch...), OldValues: oldValues}
	if c.Memo.Managed == nil {
		return d, nil
	}
	managed, err := c.Memo.Managed.JSON()
	if err != nil {
		return nil, err
	}
	d.attribute(fieldmanager.Attribute(managed, patch, after, c.Old.ManagedTime()), operations(patch))
	return d, nil
}

// attribute adds the authors of a patch to d. The parameter shares contains each author with its operations of the
// patch, and operationCount is the number of all operations of the patch.
func (d *Delta) attribute(shares []fieldmanager.Share, operationCount int) {
	if len(shares) == 0 {
		return
	}
	d.by = &shares[0].Author
	d.Text = AppendMember(d.Text, "by", d.by)
	if len(shares) > 1 || len(shares[0].Ops) < operationCount {
		d.Text = AppendMember(d.Text, "authors", shares)
	}
}

func operations(patch []byte) (n int) {
	_ = jsonscan.NewCursor(patch).Array(func(int) error { n++; return nil })
	return n
}

// authorAge is a limit for changes that did not update the times in managedFields. The author of the newest entry
// counts as the author of such a change if the entry is at most this much older than the change. The reason is that
// the times are in whole seconds: a second write within one second does not change them.
const authorAge = 2 * time.Second

// NewestAuthor returns the newest managedFields entry as the author of a change. It returns nil if there is no entry,
// or if this entry is too old to explain the change. The result guess is true if several entries have the newest
// time, or if the change did not update that time. For example, a deletion and the binding of a pod do not update it.
func NewestAuthor(c *Change) (a *fieldmanager.Author, guess bool) {
	if c.Memo.Managed == nil {
		return nil, false
	}
	newest, isOnly := c.Memo.Managed.Newest()
	switch {
	case c.Old == nil || newest.Time.After(c.Old.ManagedTime()):
		return &newest, !isOnly
	case c.Time.Sub(newest.Time) > authorAge:
		return nil, false
	}
	return &newest, true
}

// Folding contains the changes that were merged into one update, oldest first. It contains at most MaxFolded + 1 of
// them, which is enough to show that there are too many to determine an author.
type Folding []*Change

// MaxFolded is the maximum number of merged changes for which an author is determined.
const MaxFolded = 16

// author returns the author of the merged changes, without those that changed no table cell. It returns nil if they
// have several authors, or if the author of one of them is unknown.
func (r Folding) author(cache *Cache) (*fieldmanager.Author, error) {
	var by, noAuthor *fieldmanager.Author
	for _, c := range slices.Backward(r) {
		switch {
		case len(r) > MaxFolded, c.Op != journal.Update:
			return noAuthor, nil
		case bytes.Equal(c.Old.Cells(), c.New.Cells()):
			continue
		}
		a, err := rowAuthor(c, cache)
		if a == nil || err != nil || by != nil && !sameManager(a, by) {
			return noAuthor, err
		}
		if by == nil {
			by = a
		}
	}
	return by, nil
}

func sameManager(a, b *fieldmanager.Author) bool {
	return a.Manager == b.Manager && a.Operation == b.Operation && a.Subresource == b.Subresource
}

// rowAuthor returns the author of an update. It returns nil if the author is unknown, or if the update merges changes
// of several authors. It computes the Delta only if NewestAuthor returns a guess, because comparing two versions is
// expensive.
func rowAuthor(c *Change, cache *Cache) (*fieldmanager.Author, error) {
	if c.Memo.Folded != nil {
		return c.Memo.Folded.author(cache)
	}
	by, guess := NewestAuthor(c)
	if !guess {
		return by, nil
	}
	d, err := DeltaOf(c, cache)
	if err != nil {
		return nil, err
	}
	return d.by, nil
}

// AppendRowAuthor appends the author of an update to a row event in JSON, as the member "by". It appends nothing if
// the author is unknown.
func AppendRowAuthor(dst []byte, c *Change, cache *Cache) ([]byte, error) {
	by, err := rowAuthor(c, cache)
	if by == nil {
		return dst, err
	}
	return AppendMember(dst, "by", by), err
}

// AppendMember appends a member to dst, which is a JSON object without its closing brace. It appends nothing if the
// value cannot be encoded, such as a time with an invalid zone.
func AppendMember(dst []byte, name string, value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		return dst
	}
	dst = append(dst, `,"`...)
	dst = append(dst, name...)
	dst = append(dst, `":`...)
	return append(dst, text...)
}
