package shared

import (
	"cmp"
	"slices"
	"sync"
	"time"
	"weak"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/journal"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/ranking"
	"github.com/glasshouse-project/glasshouse/internal/watch/sortedlist"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// ListedMemory is the memory of one element of a list of pointers, in bytes. The unused capacity of the list needs
// additional memory.
const ListedMemory = 8

// Listing is a list of the objects of an informer at one moment. Readers that start at about the same time share one
// Listing.
type Listing struct {
	Objects      []*compact.Object
	Cursor       journal.Cursor // The journal position up to which the list contains all changes.
	IsWorstFirst bool           // True for the order "auto" if it sorts by severity at this moment.
	createdAt    time.Time
}

// maxSharedAge is the maximum age of a listing (a list of all objects) that a new reader gets. If it is older, a new
// one is built.
const maxSharedAge = time.Second

// listings remembers the newest listing. The pointer is weak, so that the listing is freed when no reader uses it.
type listings struct {
	mu   sync.Mutex
	last weak.Pointer[Listing]
}

// find returns the newest listing. It returns nil if the listing is older than maxSharedAge, or if it lacks more than
// maxMissing of the changes before cursor.
func (l *listings) find(cursor journal.Cursor, maxMissing uint64) *Listing {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := l.last.Value()
	if last == nil || cursor.Offset > last.Cursor.Offset+maxMissing || time.Since(last.createdAt) > maxSharedAge {
		return nil
	}
	return last
}

func (l *listings) store(newest *Listing) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = weak.Make(newest)
}

// sharedListing returns a listing of all objects. At most the newest maxMissing changes are missing in it. The history
// still contains the missing changes, so readers can get them from there.
func (i *Informer) sharedListing(maxMissing uint64) *Listing {
	retained, _ := i.Retained()
	// At most half of the retained changes can be missing. The other half is a margin: while the list is sent, the
	// history can drop its oldest changes.
	maxMissing = min(maxMissing, uint64(retained+1)/2) //nolint:gosec // The result is not negative.
	if l := i.listings.find(i.Now(), maxMissing); l != nil {
		return l
	}
	entries, cursor := i.Snapshot()
	slices.SortFunc(entries, func(a, b informer.Entry) int { return a.Value.Compare(b.Value) })
	l := &Listing{Objects: make([]*compact.Object, len(entries)), Cursor: cursor, createdAt: time.Now()}
	for n := range entries {
		l.Objects[n] = entries[n].Value
	}
	return l
}

// Objects returns the objects that the filter f matches, sorted by namespace and name, and the informer's state. At
// most maxMissing of the newest changes can be missing in the result. Objects also sets the columns of f.
func (i *Informer) Objects(f *query.Filter, maxMissing uint64) (*Listing, informer.State) {
	for {
		now := i.VisibleState(f)
		f.Columns = now.Columns
		l := i.sharedListing(maxMissing)
		if !now.IsUnchanged(i.VisibleState(f)) {
			continue
		}
		i.listings.store(l)
		if f.MatchesAll() {
			return l, now
		}
		matching := &Listing{Cursor: l.Cursor}
		for _, o := range l.Objects {
			if f.Match(o) {
				matching.Objects = append(matching.Objects, f.Shown(o))
			}
		}
		return matching, now
	}
}

// First returns the objects that the filter f matches, in the order of q.Sort, and limited by q.Offset and q.Limit.
// total is their number without these limits. First also sets f.Columns, and ignores an unknown column in q.Sort. state
// is the state of the informer to which the result belongs.
func (i *Informer) First(f *query.Filter, q *query.Query) (first *Listing, total int, state informer.State) {
	if q.Sort == "" && q.Limit == 0 {
		first, state = i.Objects(f, 0)
		return first, len(first.Objects), state
	}
	for {
		state = i.VisibleState(f)
		f.Columns = state.Columns
		entries, cursor := i.Snapshot()
		if !state.IsUnchanged(i.VisibleState(f)) {
			continue
		}
		by, err := ranking.ParseSort(q.Sort, f.ShownColumns(state.Columns))
		if err != nil {
			by = ranking.Sort{Column: -1}
		}
		by = by.Resolve(func() bool {
			return slices.ContainsFunc(entries, func(e informer.Entry) bool {
				return e.Value.Verdict().Severity() == verdict.Failed && f.MatchesIgnoringText(e.Value)
			})
		})
		rows := make([]ranking.Row, 0, len(entries))
		for n := range entries {
			if o := entries[n].Value; f.Match(o) {
				rows = append(rows, by.Row(f.Shown(o), state.Columns))
			}
		}
		total = len(rows)
		offset := min(q.Offset, max(total, 1)-1)
		rows = sortedlist.First(rows, offset+min(cmp.Or(q.Limit, total), total), func(a, b ranking.Row) int {
			return by.Compare(&a, &b)
		})
		rows = rows[offset:]
		first = &Listing{
			Objects: make([]*compact.Object, len(rows)), Cursor: cursor, IsWorstFirst: by.IsWorstFirst(),
		}
		for n := range rows {
			first.Objects[n] = rows[n].Object
		}
		return first, total, state
	}
}
