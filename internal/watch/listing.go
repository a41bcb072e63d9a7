package watch

import (
	"cmp"
	"slices"
	"sync"
	"time"
	"weak"

	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/listwatch"
	"glasshouse/internal/watch/sortedlist"
)

// listing contains all objects of an informer at one moment, ordered by namespace and name. Readers that start together
// share one listing, as they do after an interruption. It is freed with its last reference.
type listing struct {
	objects   []*listwatch.Object // The objects of the list. They must not be changed.
	cursor    journal.Cursor
	createdAt time.Time
}

// maxSharedAge is how long after its creation a listing may be shared with further readers.
const maxSharedAge = time.Second

// listings keeps a weak reference to the newest listing.
type listings struct {
	mu   sync.Mutex
	last weak.Pointer[listing]
}

// find returns the newest listing if it is recent and at most the given number of changes behind the cursor now.
// Otherwise it returns nil. When readers are reset, the history is emptied, so no listing from before qualifies.
func (l *listings) find(now journal.Cursor, behind uint64) *listing {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := l.last.Value()
	if last == nil || now.Offset > last.cursor.Offset+behind || time.Since(last.createdAt) > maxSharedAge {
		return nil
	}
	return last
}

func (l *listings) store(newest *listing) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = weak.Make(newest)
}

// sharedListing returns a listing of all objects, which is at most behind changes old. The history contains all changes
// after the listing's cursor.
func (i *informer) sharedListing(behind uint64) *listing {
	retained, _ := i.Retained()
	// Allow at most half of the history, because it advances while the list is sent.
	behind = min(behind, uint64(retained+1)/2) //nolint:gosec // The result is not negative.
	if l := i.listings.find(i.Now(), behind); l != nil {
		return l
	}
	entries, cursor := i.Snapshot()
	slices.SortFunc(entries, func(a, b objectEntry) int { return a.Value.Compare(b.Value) })
	l := &listing{objects: make([]*listwatch.Object, len(entries)), cursor: cursor, createdAt: time.Now()}
	for n := range entries {
		l.objects[n] = entries[n].Value
	}
	return l
}

// objects returns a listing of the objects that the filter matches, which is at most behind changes old, and the
// informer's state at that time.
func (i *informer) objects(f *filter, behind uint64) (*listing, informerState) {
	for {
		now := f.currentState(i)
		f.columns = now.columns
		l := i.sharedListing(behind)
		if !now.isUnchanged(f.currentState(i)) {
			continue
		}
		i.listings.store(l)
		if f.matchesAll() {
			return l, now
		}
		matching := &listing{cursor: l.cursor}
		for _, o := range l.objects {
			if f.match(o) {
				matching.objects = append(matching.objects, o)
			}
		}
		return matching, now
	}
}

// first returns the objects that the filter matches, in the order and the range that Sort, Offset and Limit of the
// query request. total is the number of all objects that the filter matches, and now is the informer's state. A sort by
// a column that does not exist is ignored, as on the page.
func (i *informer) first(f *filter, q *Query) (first *listing, total int, now informerState) {
	if q.Sort == "" && q.Limit == 0 {
		first, now = i.objects(f, 0)
		return first, len(first.objects), now
	}
	for {
		now = f.currentState(i)
		f.columns = now.columns
		entries, cursor := i.Snapshot()
		if !now.isUnchanged(f.currentState(i)) {
			continue
		}
		by, err := sortingOf(q.Sort, now.columns)
		if err != nil {
			by = sorting{column: -1}
		}
		rows := make([]rankRow, 0, len(entries))
		for n := range entries {
			if o := entries[n].Value; f.match(o) {
				rows = append(rows, rankRow{o, by.rank(o, now.columns)})
			}
		}
		total = len(rows)
		offset := min(q.Offset, max(total, 1)-1)
		rows = sortedlist.First(rows, offset+min(cmp.Or(q.Limit, total), total), func(a, b rankRow) int {
			return by.compare(&a, &b)
		})
		rows = rows[offset:]
		first = &listing{objects: make([]*listwatch.Object, len(rows)), cursor: cursor}
		for n := range rows {
			first.objects[n] = rows[n].object
		}
		return first, total, now
	}
}
