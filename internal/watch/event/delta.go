package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/diff"
	"github.com/glasshouse-project/glasshouse/internal/watch/fieldmanager"
	"github.com/glasshouse-project/glasshouse/internal/watch/health"
	"github.com/glasshouse-project/glasshouse/internal/watch/journal"
	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
)

// Delta is the difference between the two versions of an updated object, with the authors of the change.
type Delta struct {
	// Text is the JSON `,"patch":[..],"by":BY,"authors":AUTHORS`. If no author is known, the members "by" and "authors"
	// are missing. If one author made all operations of the patch, only the member "authors" is missing.
	Text      []byte
	OldValues []byte
	IsEmpty   bool
	by        *fieldmanager.Author // the author of the change; of several, the last one; nil if unknown
}

const (
	// encodedCacheBytes is the approximate maximum size of a Cache, which all resources of a cluster share.
	encodedCacheBytes    = 4 << 20
	encodedCacheOverhead = 128
)

// Cache keeps recently encoded values of changes in memory. Without it, these values would be freed soon, because a
// Change has only weak references to them.
type Cache struct {
	Health *health.Evaluator // Determines the health of objects for events.

	mu      sync.Mutex
	entries []encodedEntry
	bytes   int
}

type encodedEntry struct {
	value any
	bytes int
}

// Add stores a value that uses about the given number of bytes. If the Cache is full, Add drops the oldest values.
func (c *Cache) Add(value any, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	newest := encodedEntry{value, bytes + encodedCacheOverhead}
	c.entries = append(c.entries, newest)
	c.bytes += newest.bytes
	for c.bytes > encodedCacheBytes && len(c.entries) > 1 {
		c.bytes -= c.entries[0].bytes
		c.entries[0] = encodedEntry{}
		c.entries = c.entries[1:]
	}
}

// Values returns the cached values from the oldest to the newest, and the sum of the sizes given to Add, in bytes.
func (c *Cache) Values() (all []any, accounted int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.entries {
		all = append(all, e.value)
	}
	return all, c.bytes
}

// DeltaOf returns the difference between the two versions of an updated object. Concurrent readers share the result.
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

func (d *Delta) attribute(contributions []fieldmanager.Contribution, operationCount int) {
	if len(contributions) == 0 {
		return
	}
	d.by = &contributions[0].Author
	d.Text = AppendMember(d.Text, "by", d.by)
	if len(contributions) > 1 || len(contributions[0].Ops) < operationCount {
		d.Text = AppendMember(d.Text, "authors", contributions)
	}
}

func operations(patch []byte) (n int) {
	_ = jsonscan.NewCursor(patch).Array(func(int) error { n++; return nil })
	return n
}

// authorAge is a limit for changes that did not update the time of the newest managedFields entry. This entry can name
// the author of such a change only if it is at most authorAge older than the change. Such changes exist, because times
// have no fractions of seconds: of two writes within one second, the second does not update the time.
const authorAge = 2 * time.Second

// newestAuthor returns the author in the newest managedFields entry. It returns nil if the change did not update the
// time of this entry and the entry is older than authorAge. guess reports that the author is not certain: several
// entries have the newest time, or the change did not update this time.
func newestAuthor(c *Change) (a *fieldmanager.Author, guess bool) {
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

// Folding contains the changes that were merged into one update, oldest first. If there are more than MaxFolded, it
// contains only the first MaxFolded + 1, which is enough to detect this case.
type Folding []*Change

// MaxFolded is the maximum number of merged changes for which the author of the resulting update is determined.
const MaxFolded = 16

// author returns the author who changed the table cells in the merged changes. It returns nil if several authors
// changed cells, or if the author of one of these changes is unknown.
func (f Folding) author(cache *Cache) (*fieldmanager.Author, error) {
	var by, noAuthor *fieldmanager.Author
	for _, c := range slices.Backward(f) {
		switch {
		case len(f) > MaxFolded, c.Op != journal.Update:
			return noAuthor, nil
		case bytes.Equal(c.Old.Cells(), c.New.Cells()) && bytes.Equal(compact.Extra(c.Old), compact.Extra(c.New)):
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

// rowAuthor returns the author of an update, or nil if unknown. It compares the two versions of the object only if the
// result of newestAuthor is not certain, because this comparison is expensive.
func rowAuthor(c *Change, cache *Cache) (*fieldmanager.Author, error) {
	if c.Memo.Folded != nil {
		return c.Memo.Folded.author(cache)
	}
	by, guess := newestAuthor(c)
	if !guess {
		return by, nil
	}
	return AuthorOf(c, cache)
}

// AuthorOf returns the author of an add or an update, or nil if the author is unknown. The author of a delete is always
// unknown, because managedFields do not record deletions. The cache can be the zero Cache.
func AuthorOf(c *Change, cache *Cache) (*fieldmanager.Author, error) {
	switch {
	case c.Memo.CoverageOnly || c.Op == journal.Delete:
		return nil, nil //nolint:nilnil // The author is unknown.
	case c.Op == journal.Add:
		author, _ := newestAuthor(c)
		return author, nil
	}
	d, err := DeltaOf(c, cache)
	if err != nil {
		return nil, err
	}
	return d.by, nil
}

// AppendRowAuthor appends the author of an update to an event, as the JSON member "by". It appends nothing if the
// author is unknown.
func AppendRowAuthor(dst []byte, c *Change, cache *Cache) ([]byte, error) {
	by, err := rowAuthor(c, cache)
	if by == nil {
		return dst, err
	}
	return AppendMember(dst, "by", by), err
}

// AppendMember appends a member to a JSON object that has no closing brace yet. It appends nothing if the value cannot
// be encoded.
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
