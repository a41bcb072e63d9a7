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

// Delta is the result of comparing the two versions of an update: what changed, and the author.
type Delta struct {
	Text      []byte               // `,"patch":[..]`, followed by `,"by":BY,"authors":AUTHORS` if they are known.
	OldValues []byte               // The Values before the update, see [diff.Compare], for readers without the object.
	IsEmpty   bool                 // True if the patch is empty.
	by        *fieldmanager.Author // The first author; nil if unknown.
}

const (
	// encodedCacheBytes is the approximate maximum size of the values in Cache, in bytes, for all resources
	// together. No other memory limit counts these bytes.
	encodedCacheBytes    = 4 << 20
	encodedCacheOverhead = 128
)

// Cache keeps the newest values that were computed from changes, such as deltas, in memory, so that all readers
// of a change share them. A change references them weakly, so without the cache a value could be freed between two
// readers.
type Cache struct {
	mu      sync.Mutex
	entries []encodedEntry // The oldest change is first.
	bytes   int
}

type encodedEntry struct {
	value any
	bytes int
}

// Add stores a value with its approximate size in bytes. It drops the oldest values beyond the maximum size.
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

// Values returns the cached values, the oldest first, and their accounted size in bytes.
func (r *Cache) Values() (all []any, accounted int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.entries {
		all = append(all, e.value)
	}
	return all, r.bytes
}

// DeltaOf compares the two versions of an update, once for all readers that need it at about the same time.
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

// attribute adds the authors of a patch to d. shares are the parts of the patch by author, and operationCount is the
// number of operations in the patch.
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

// operations returns the number of operations of a patch.
func operations(patch []byte) (n int) {
	_ = jsonscan.NewCursor(patch).Array(func(int) error { n++; return nil }) // The patch is well formed.
	return n
}

// authorAge is how old the newest managedFields entry may be if a change did not update its time; otherwise the entry
// does not belong to the change. These times have a resolution of one second. A manager that writes the same fields
// twice within one second leaves no other trace.
const authorAge = 2 * time.Second

// NewestAuthor returns the author of a change according to the newest managedFields entry. It returns nil if that entry
// is too old to belong to the change. The result is a guess if several entries share the newest second, or if the
// entry's time is unchanged: a deletion does not update it, and neither does the binding of a pod.
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

// Folding lists the changes that were merged into one update, oldest first. If there are more than MaxFolded, the
// later ones are left out, and no author is named.
type Folding []*Change

// MaxFolded is the maximum number of changes in a Folding.
const MaxFolded = 16

// author returns the common author of all changes in r that changed a cell of the row. It returns nil if they have
// several authors, or if one of the authors is unknown.
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
			by = a // The author entry of the newest change.
		}
	}
	return by, nil
}

func sameManager(a, b *fieldmanager.Author) bool {
	return a.Manager == b.Manager && a.Operation == b.Operation && a.Subresource == b.Subresource
}

// rowAuthor returns the author of an update. It returns nil if the author is unknown, or if several authors made the
// merged changes. Otherwise one of them would get credit for everything that the row shows. It compares the two
// versions only if NewestAuthor is a guess.
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

// AppendRowAuthor appends the author of an update to its row event as the member "by"; nothing if the author is
// unknown.
func AppendRowAuthor(dst []byte, c *Change, cache *Cache) ([]byte, error) {
	by, err := rowAuthor(c, cache)
	if by == nil {
		return dst, err
	}
	return AppendMember(dst, "by", by), err
}

// AppendMember appends a member to dst, a JSON object without its closing brace. It appends nothing if the value cannot
// be encoded, such as a time with an invalid zone.
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
