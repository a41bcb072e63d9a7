// Package ranking keeps the rows of an informer sorted. Readers with the same filter and order share one Ranking.
package ranking

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/glasshouse-project/glasshouse/internal/watch/cellsort"
	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/event"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/journal"
	"github.com/glasshouse-project/glasshouse/internal/watch/printer"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/sortedlist"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

const (
	maxChanges = 1000
	// rowWeight is the memory of one row in a ranking, in bytes, without its sort text.
	rowWeight = 40
	// maxTexts is the maximum number of different sort texts, such as node names, that rows of a ranking share.
	maxTexts = 1000
	// maxPages is the maximum number of pages (ranges of rows) that a ranking caches until its rows change.
	maxPages = 64
)

// Sort is the sort order of rows. Rows with equal sort keys are ordered by namespace and name.
type Sort struct {
	Column     int // The index of the column by which rows are sorted; -1 for none.
	namespace  bool
	severity   bool
	auto       bool // The order "auto": by severity while an object is failed, otherwise by namespace and name.
	descending bool
}

// ParseSort parses a column name, "namespace", or "severity" (the worst first). A "-" before it reverses the order.
// "auto" sorts by severity while any object is failed, otherwise by namespace and name. "" sorts by namespace and name.
func ParseSort(text string, columns []printer.Column) (Sort, error) {
	name, descending := strings.CutPrefix(cellsort.Lower(text), "-")
	by := Sort{Column: -1, descending: descending}
	if text == "" {
		return by, nil
	}
	by.Column = slices.IndexFunc(columns, func(c printer.Column) bool { return cellsort.Lower(c.Name) == name })
	by.namespace = by.Column < 0 && name == "namespace"
	by.severity = by.Column < 0 && name == "severity"
	by.auto = by.Column < 0 && name == "auto"
	if by.Column < 0 && !by.namespace && !by.severity && !by.auto {
		names := make([]string, len(columns))
		for i := range columns {
			names[i] = cellsort.Lower(columns[i].Name)
		}
		return by, status.Invalidf("Unknown column",
			"There is no column %.40q to sort by. The columns are %s, namespace, severity, and auto. "+
				"A - before the name reverses the order.",
			name, strings.Join(names, ", "))
	}
	return by, nil
}

// Resolve returns the order that "auto" means now, and other orders unchanged. hasFailed reports whether an object is
// failed. Resolve calls hasFailed only for "auto".
func (s Sort) Resolve(hasFailed func() bool) Sort {
	s.severity = s.severity || s.auto && hasFailed()
	return s
}

// IsWorstFirst reports whether rows are sorted by severity because of the order "auto".
func (s Sort) IsWorstFirst() bool { return s.auto && s.severity }

// Row returns the row of an object with its sort key.
func (s Sort) Row(o *compact.Object, columns []printer.Column) Row {
	return Row{o, s.rank(o, columns)}
}

func (s Sort) rank(o *compact.Object, columns []printer.Column) cellsort.Rank {
	switch {
	case s.Column >= 0:
		cell := o.Cell(s.Column)
		if columns[s.Column].IsExtra {
			cell = compact.ExtraCell(o, s.Column-len(printer.Printed(columns)))
		}
		return cellsort.RankCell(cell, columns[s.Column].Relative)
	case s.namespace:
		return cellsort.RankNatural(o.Namespace())
	case s.severity:
		return cellsort.RankCell([]byte{'0' + byte(verdict.Failed-o.Verdict().Severity())}, false)
	}
	return cellsort.Rank{}
}

// Compare orders two rows by their sort keys. If these are equal, it orders the rows by namespace and name.
func (s Sort) Compare(a, b *Row) int {
	if c := cellsort.Compare(a.rank, b.rank, s.descending); c != 0 {
		return c
	}
	return a.Object.Compare(b.Object)
}

// Row is one row of a sorted list: one version of an object, with its sort key. It is immutable.
type Row struct {
	Object *compact.Object
	rank   cellsort.Rank
}

// A Ranking is the sorted list of rows that a filter matches. The first reader after a change updates it.
type Ranking struct {
	informer *informer.Informer
	columns  []printer.Column
	// Elapsed times are ordered by timestamp, so the passage of time moves no rows.
	by        Sort
	hasFailed atomic.Bool // Whether the list contains a failed object. The order "auto" depends on this.
	lock      chan struct{}
	weight    atomic.Int64

	// The mutex in the field lock guards all fields from here on.
	filter    *query.Filter
	rows      *sortedlist.List[*Row] // Nil means that the list must be built first.
	cursor    journal.Cursor
	counts    rowCounts
	offscreen Offscreen
	texts     map[string]string
	pages     map[query.Range]*Page
	number    uint64
}

// New returns the ranking (a sorted list) of all rows of the informer i that the filter f matches.
func New(i *informer.Informer, f *query.Filter, columns []printer.Column, order Sort) *Ranking {
	r := &Ranking{
		informer: i, columns: columns, by: order, lock: make(chan struct{}, 1),
		filter: f.WithColumns(columns), texts: make(map[string]string), pages: make(map[query.Range]*Page),
	}
	r.lock <- struct{}{}
	return r
}

// View is one page of a ranking, and a summary of the changes of all its rows. Equal Page pointers mean equal rows.
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

// Lock locks the ranking until release is called. Lock returns the error of ctx if ctx ends first.
func (r *Ranking) Lock(ctx context.Context) (release func(), err error) {
	select {
	case <-r.lock:
		return func() { r.lock <- struct{}{} }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// rangeOf returns the range around the row that the request names. Without such a row, it returns the requested range.
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

// update applies all changes up to the newest one, or builds the list if there is none yet.
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
			// If apply returns false, r.rows stays nil, and the list is built again. apply returns false if the order
			// has changed, or if the list lacks a row to remove: the journal replaced the object of this row with an
			// equal version, without a Change.
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
	if r.isOrderOutdated() {
		r.hasFailed.Store(!r.hasFailed.Load())
		for n, row := range rows {
			rows[n] = r.row(row.Object)
		}
	}
	r.rows = sortedlist.New(slices.Clip(rows), r.by.Compare)
	clear(r.pages)
}

// isOrderOutdated reports whether the rows must be sorted again. In the order "auto", this is so if the number of
// failed objects was zero at the last sort and no longer is, or the reverse.
func (r *Ranking) isOrderOutdated() bool {
	return r.by.auto && r.hasFailed.Load() != (r.counts.bySeverity[verdict.Failed] > 0)
}

// apply applies changes. It returns false if the list must be built again: the order has changed, a removed row is
// missing, or an inserted row exists already.
func (r *Ranking) apply(rows *sortedlist.List[*Row], changes []*event.Change) bool {
	var removed, inserted []*Row
	before := r.counts
	for _, c := range event.Fold(changes) {
		if c.Op == 0 || r.filter.IsHidden(c) {
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
	return !r.isOrderOutdated() && rows.Change(removed, inserted)
}

// addToCounts adds n (1 or -1) to the total and to the count of o's severity, even if o lacks the words of the query.
func (r *Ranking) addToCounts(o *compact.Object, n int) {
	r.counts.Total += n
	r.counts.bySeverity[o.Verdict().Severity()] += n
}

// removalReason returns why a row is no longer on a page, and the current version of its object unless the object is
// gone. It is safe for concurrent use.
func (r *Ranking) removalReason(row *Row) (string, *compact.Object) {
	now, ok, _ := r.informer.Get(informer.Key(row.Object.Namespace(), row.Object.Name()))
	now = r.filter.Shown(now)
	selector := r.filter.Selector
	switch {
	// The object was deleted, or no longer matches labels or the share link.
	case !ok || !row.Object.SameUID(now) ||
		selector != nil && !selector.Matches(query.Labels(now.Labels().Value())),
		!r.filter.MatchesLink(now):
		return "gone", nil
	case !r.filter.MatchText(now):
		return "filtered", now
	case cellsort.Compare(row.rank, r.order().rank(now, r.columns), false) != 0:
		return "moved", now
	}
	// The row itself has not changed. Inserted or removed rows have moved it out of the page, so the reason is empty.
	return "", now
}

// order returns the present order. It is safe for concurrent use.
func (r *Ranking) order() Sort { return r.by.Resolve(r.hasFailed.Load) }

func (r *Ranking) row(o *compact.Object) *Row {
	o = r.filter.Shown(o)
	row := &Row{Object: o, rank: r.order().rank(o, r.columns)}
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

// rowWeight returns the approximate memory of one row in bytes. Rows share equal sort texts, but only maxTexts of them.
// After that, other rows have their own texts, so the result includes the average size of a text.
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
