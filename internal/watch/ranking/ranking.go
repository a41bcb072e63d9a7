// Package ranking keeps the rows of an informer in a sort order, so that a reader can show a page of a long list.
// Readers with the same filter and order share one Ranking (the sorted list), and its encoded pages.
package ranking

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"

	"glasshouse/internal/watch/cellsort"
	"glasshouse/internal/watch/event"
	"glasshouse/internal/watch/informer"
	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/listwatch"
	"glasshouse/internal/watch/query"
	"glasshouse/internal/watch/severity"
	"glasshouse/internal/watch/sortedlist"
	"glasshouse/internal/watch/status"
)

const (
	maxChanges = 1000
	// rowWeight is the memory of one row in a ranking (a sorted list of rows), in bytes, without its sort text.
	rowWeight = 40
	// maxTexts is the maximum number of different sort texts, such as node names, that a ranking stores once each.
	// Rows with the same text share it.
	maxTexts = 1000
	// maxPages is the maximum number of pages (ranges of rows) that a ranking caches until its rows change.
	maxPages = 64
)

// Sort is the sort order of rows: by a column, or by namespace. Rows with equal sort keys are ordered by namespace
// and name.
type Sort struct {
	Column     int // The index of the column by which rows are sorted; -1 for none.
	namespace  bool
	descending bool
}

// ParseSort parses a sort order: the name of a column in any case, or "namespace". A "-" before the name reverses the
// order. An empty text means the order by namespace and name.
func ParseSort(text string, columns []listwatch.Column) (Sort, error) {
	name, descending := strings.CutPrefix(cellsort.Lower(text), "-")
	by := Sort{Column: -1, descending: descending}
	if text == "" {
		return by, nil
	}
	by.Column = slices.IndexFunc(columns, func(c listwatch.Column) bool { return cellsort.Lower(c.Name) == name })
	by.namespace = by.Column < 0 && name == "namespace"
	if by.Column < 0 && !by.namespace {
		names := make([]string, len(columns))
		for i := range columns {
			names[i] = cellsort.Lower(columns[i].Name)
		}
		return by, status.Invalidf("Unknown column",
			"There is no column %.40q to sort by. The columns are %s, and namespace. "+
				"A - before the name reverses the order.",
			name, strings.Join(names, ", "))
	}
	return by, nil
}

// Row returns the row of an object with its sort key.
func (by Sort) Row(o *listwatch.Object, columns []listwatch.Column) Row {
	return Row{o, by.rank(o, columns)}
}

func (by Sort) rank(o *listwatch.Object, columns []listwatch.Column) cellsort.Rank {
	switch {
	case by.Column >= 0:
		return cellsort.RankCell(o.Cell(by.Column), columns[by.Column].Relative)
	case by.namespace:
		return cellsort.RankNatural(o.Namespace())
	}
	return cellsort.Rank{}
}

// Compare orders two rows by their sort keys. If these are equal, it orders the rows by namespace and name.
func (by Sort) Compare(a, b *Row) int {
	if c := cellsort.Compare(a.rank, b.rank, by.descending); c != 0 {
		return c
	}
	return a.Object.Compare(b.Object)
}

// Row is one row of a sorted list: one version of an object, with its sort key. It is immutable.
type Row struct {
	Object *listwatch.Object
	rank   cellsort.Rank
}

// A Ranking is the sorted list of all rows that a filter matches. All windows (parts of the list that web pages show)
// share it. Readers get pages (ranges of rows) of it, which are immutable. The first reader after a change updates
// the Ranking from the informer's journal of changes, so it needs no goroutine.
//
// The passage of time alone does not move rows: cells that show an elapsed time are ordered by their timestamps.
type Ranking struct {
	informer *informer.Informer
	columns  []listwatch.Column
	by       Sort
	lock     chan struct{}
	weight   atomic.Int64

	// The mutex in the field lock guards all fields from here on.
	filter     *query.Filter
	rows       *sortedlist.List[*Row] // Nil means that the list must be built first.
	cursor     journal.Cursor
	counts     rowCounts
	classifier *severity.Classifier
	offscreen  Offscreen
	texts      map[string]string
	pages      map[query.Range]*Page
	number     uint64
}

// New returns the ranking (a sorted list) of all rows of the informer i that the filter f matches.
func New(i *informer.Informer, f *query.Filter, columns []listwatch.Column, order Sort) *Ranking {
	r := &Ranking{
		informer: i, columns: columns, by: order, lock: make(chan struct{}, 1),
		filter: f.WithColumns(columns), classifier: severity.NewClassifier(columns),
		texts: make(map[string]string), pages: make(map[query.Range]*Page),
	}
	r.lock <- struct{}{}
	return r
}

// View is the result of reading a ranking (a sorted list of rows): one page of rows, and a summary of all
// changes so far. If two views of a ranking have the same page pointer, their rows and counts are equal.
type View struct {
	*Page

	Offscreen Offscreen
	Offset    uint64 // The journal offset of the newest change that Page and Offscreen include.
}

// View applies all new changes to the ranking (a sorted list of rows), and returns the requested page of rows.
func (r *Ranking) View(ctx context.Context, request *query.RangeRequest) (View, error) {
	release, err := r.Lock(ctx)
	if err != nil {
		return View{}, err
	}
	defer release()
	if err := r.update(ctx); err != nil {
		return View{}, err
	}
	at := r.rangeOf(request)
	f := r.pages[at]
	if f == nil {
		if len(r.pages) >= maxPages {
			clear(r.pages)
		}
		r.number++
		f = &Page{
			number: r.number, Range: at, newest: r.cursor.Offset,
			Counts: r.counts, Rows: r.rows.Part(at.Offset, at.Count),
		}
		r.pages[at] = f
	}
	return View{f, r.offscreen, r.cursor.Offset}, nil
}

// Lock locks the ranking. The caller must call release to unlock it. Lock returns the error of ctx if ctx ends first.
func (r *Ranking) Lock(ctx context.Context) (release func(), err error) {
	select {
	case <-r.lock:
		return func() { r.lock <- struct{}{} }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// rangeOf returns the range of rows that a request means. If the request is for the range around a row, and that row
// exists, rangeOf computes the offset from the position of the row.
func (r *Ranking) rangeOf(request *query.RangeRequest) query.Range {
	if request.Around == "" {
		return request.Range
	}
	if o, ok, _ := r.informer.Get(request.Around); ok && r.filter.Match(o) {
		if n, ok := r.rows.Find(r.row(o)); ok {
			return query.Range{Offset: max(0, n-request.Count/2), Count: request.Count}
		}
	}
	return request.Range
}

// update applies all changes up to the newest one at the time of the call. If there is no list yet (r.rows is nil),
// it builds the list instead.
func (r *Ranking) update(ctx context.Context) error {
	for now := r.informer.Now().Offset; r.rows == nil || r.cursor.Offset < now; {
		if r.rows == nil {
			r.build()
			break
		}
		changes, next, err := r.informer.Next(ctx, r.cursor, maxChanges)
		switch {
		case errors.Is(err, journal.ErrGone):
			r.rows = nil
			continue
		case err != nil:
			return err
		}
		r.cursor = next
		rows := r.rows
		r.rows = nil // If apply panics, the next reader must not get a partly updated list.
		if r.apply(rows, changes) {
			r.rows = rows
			// If apply returns false, the list is wrong. The cause is that the journal replaced an object by an equal
			// version, for which there is no Change. r.rows is then nil, so the list is built again.
		}
	}
	r.weight.Store(int64(r.rows.Len()) * r.rowWeight())
	return nil
}

func (r *Ranking) build() {
	entries, cursor := r.informer.Snapshot()
	rows := make([]*Row, 0, len(entries))
	r.counts, r.cursor = rowCounts{}, cursor
	for n := range entries {
		o := entries[n].Value
		if !r.filter.MatchesIgnoringText(o) {
			continue
		}
		r.addToCounts(o, 1)
		if r.filter.MatchText(o) {
			rows = append(rows, r.row(o))
		}
	}
	r.counts.matching = len(rows)
	r.rows = sortedlist.New(slices.Clip(rows), r.by.Compare)
	clear(r.pages)
}

// apply applies changes to the rows. It returns false if a change does not fit the rows: a row to remove is missing,
// or a row to insert exists already.
func (r *Ranking) apply(rows *sortedlist.List[*Row], changes []*event.Change) bool {
	var removed, inserted []*Row
	before := r.counts
	for _, c := range event.Fold(changes) {
		if c.Op == 0 {
			continue
		}
		wasVisible := c.Op != journal.Add && r.filter.MatchesIgnoringText(c.Old)
		isVisible := c.Op != journal.Delete && r.filter.MatchesIgnoringText(c.New)
		if wasVisible {
			r.addToCounts(c.Old, -1)
			if r.filter.MatchText(c.Old) {
				removed = append(removed, r.row(c.Old))
			}
		}
		if isVisible {
			r.addToCounts(c.New, 1)
			if r.filter.MatchText(c.New) {
				inserted = append(inserted, r.row(c.New))
			}
		}
		r.offscreen.add(c, wasVisible, isVisible)
	}
	r.counts.matching += len(inserted) - len(removed)
	if len(removed) > 0 || len(inserted) > 0 || r.counts != before {
		clear(r.pages)
	}
	return rows.Change(removed, inserted)
}

// addToCounts adds n (1 or -1) to the row counts, for the object o. Objects without the words of the query count,
// too.
func (r *Ranking) addToCounts(o *listwatch.Object, n int) {
	hasError, hasWarning := r.classifier.Classify(o)
	r.counts.Total += n
	if hasError {
		r.counts.errors += n
	}
	if hasWarning {
		r.counts.warnings += n
	}
}

// removalReason returns why a row is no longer on a page, and the present version of its object:
//   - "gone": the object was deleted, or no longer matches the label selector or the conditions of the viewer's share
//     link. The returned object is nil.
//   - "filtered": the row no longer contains the words of the query.
//   - "moved": the sort key of the row has changed.
//   - "": the row is the same, but other rows have moved it out of the page.
//
// It is safe for concurrent use.
func (r *Ranking) removalReason(row *Row) (string, *listwatch.Object) {
	now, ok, _ := r.informer.Get(informer.Key(row.Object.Namespace(), row.Object.Name()))
	selector := r.filter.Selector
	switch {
	case !ok || !row.Object.SameUID(now) ||
		selector != nil && !selector.Matches(query.Labels(now.Labels().Value())),
		!r.filter.MatchesLink(now):
		return "gone", nil
	case !r.filter.MatchText(now):
		return "filtered", now
	case cellsort.Compare(row.rank, r.by.rank(now, r.columns), false) != 0:
		return "moved", now
	}
	return "", now
}

func (r *Ranking) row(o *listwatch.Object) *Row {
	row := &Row{Object: o, rank: r.by.rank(o, r.columns)}
	if text := row.rank.Text; text != "" {
		interned, ok := r.texts[text]
		if !ok && len(r.texts) < maxTexts {
			interned, ok = text, true
			r.texts[text] = text
		}
		if ok {
			row.rank.Text = interned
		}
	}
	return row
}

// rowWeight returns the approximate memory of one row, in bytes. If there are too many different sort texts, rows do
// not share them, and rowWeight adds the average length of a text.
func (r *Ranking) rowWeight() int64 {
	if len(r.texts) < maxTexts {
		return rowWeight
	}
	sum := 0
	for text := range r.texts {
		sum += len(text)
	}
	return rowWeight + int64(sum/len(r.texts))
}
