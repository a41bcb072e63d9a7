package watch

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

// delta is the result of comparing the two versions of an update: what changed, and the author.
type delta struct {
	text      []byte               // `,"patch":[..]`, followed by `,"by":BY,"authors":AUTHORS` if they are known.
	oldValues []byte               // The values before the update, see [diff.Compare], for readers without the object.
	isEmpty   bool                 // True if the patch is empty.
	by        *fieldmanager.Author // The first author; nil if unknown.
}

const (
	// encodedCacheBytes is the approximate maximum size of the values in encodedCache, in bytes, for all resources together. No
	// other memory limit counts these bytes.
	encodedCacheBytes    = 4 << 20
	encodedCacheOverhead = 128
)

// encodedCache keeps the newest values that were computed from changes, such as deltas, in memory, so that all readers of a
// change share them. A change references them weakly, so without the cache a value could be freed between two readers.
type encodedCache struct {
	mu      sync.Mutex
	entries []encodedEntry // Oldest first.
	bytes   int
}

type encodedEntry struct {
	value any
	bytes int
}

func (r *encodedCache) add(value any, bytes int) {
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

// deltaOf compares the two versions of an update, once for all readers that need it at about the same time.
func deltaOf(c *change, cache *encodedCache) (*delta, error) {
	d, computed, err := c.Memo.delta.get(func() (*delta, error) { return newDelta(c) })
	if computed {
		cache.add(d, len(d.text)+len(d.oldValues))
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
	patch, oldValues, err := diff.Compare(before, after)
	if err != nil {
		return nil, fmt.Errorf("compare two versions of %s: %w", c.Key, err)
	}
	d := &delta{isEmpty: string(patch) == "[]", text: append([]byte(`,"patch":`), patch...), oldValues: oldValues}
	if c.Memo.managed == nil {
		return d, nil
	}
	managed, err := c.Memo.managed.JSON()
	if err != nil {
		return nil, err
	}
	d.attribute(fieldmanager.Attribute(managed, patch, after, c.Old.ManagedTime()), operations(patch))
	return d, nil
}

// attribute adds the authors of a patch to d. shares are the parts of the patch by author, and operations is the number of
// operations in the patch.
func (d *delta) attribute(shares []fieldmanager.Share, operationCount int) {
	if len(shares) == 0 {
		return
	}
	d.by = &shares[0].Author
	d.text = appendMember(d.text, "by", d.by)
	if len(shares) > 1 || len(shares[0].Ops) < operationCount {
		d.text = appendMember(d.text, "authors", shares)
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

// newestAuthor returns the author of a change according to the newest managedFields entry. It returns nil if that entry
// is too old to belong to the change. The result is a guess if several entries share the newest second, or if the
// entry's time is unchanged: a deletion does not update it, and neither does the binding of a pod.
func newestAuthor(c *change) (a *fieldmanager.Author, guess bool) {
	if c.Memo.managed == nil {
		return nil, false
	}
	newest, isOnly := c.Memo.managed.Newest()
	switch {
	case c.Old == nil || newest.Time.After(c.Old.ManagedTime()):
		return &newest, !isOnly
	case c.Time.Sub(newest.Time) > authorAge:
		return nil, false
	}
	return &newest, true
}

// foldedChanges lists the changes that were merged into one update, oldest first. If there are more than maxFolded, the later ones
// are left out, and no author is named.
type foldedChanges []*change

const maxFolded = 16

// author returns the common author of all changes in r that changed a cell of the row. It returns nil if they have
// several authors, or if one of the authors is unknown.
func (r foldedChanges) author(cache *encodedCache) (*fieldmanager.Author, error) {
	var by, noAuthor *fieldmanager.Author
	for _, c := range slices.Backward(r) {
		switch {
		case len(r) > maxFolded, c.Op != journal.Update:
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
// versions only if newestAuthor is a guess.
func rowAuthor(c *change, cache *encodedCache) (*fieldmanager.Author, error) {
	if c.Memo.folded != nil {
		return c.Memo.folded.author(cache)
	}
	by, guess := newestAuthor(c)
	if !guess {
		return by, nil
	}
	d, err := deltaOf(c, cache)
	if err != nil {
		return nil, err
	}
	return d.by, nil
}

func appendRowAuthor(dst []byte, c *change, cache *encodedCache) ([]byte, error) {
	by, err := rowAuthor(c, cache)
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
