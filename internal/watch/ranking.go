package watch

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"

	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/order"
	"glasshouse/internal/watch/sorted"
	"glasshouse/internal/watch/wire"
)

const (
	// rowWeight is what a row of a ranking takes, beside its text.
	rowWeight = 40
	// maxTexts is how many texts the rows of a ranking share: a status, a node.
	maxTexts = 1000
	// maxFrames is how many parts of a ranking are kept, as it is, for others.
	maxFrames = 64
)

// sorting is by which column rows are ordered; equal ones are by namespace and
// name.
type sorting struct {
	column     int // -1 for none.
	namespace  bool
	descending bool
}

// sortingOf reads a sort: a column's name in any case, or namespace, with "-"
// before it for the other way round. An empty one is by namespace and name.
func sortingOf(text string, columns []wire.Column) (sorting, error) {
	name, descending := strings.CutPrefix(order.Lower(text), "-")
	by := sorting{column: -1, descending: descending}
	if text == "" {
		return by, nil
	}
	by.column = slices.IndexFunc(columns, func(c wire.Column) bool { return order.Lower(c.Name) == name })
	by.namespace = by.column < 0 && name == "namespace"
	if by.column < 0 && !by.namespace {
		names := make([]string, len(columns))
		for i := range columns {
			names[i] = order.Lower(columns[i].Name)
		}
		return by, invalid("Unknown column", "There is no column %.40q to sort by; there are %s, and namespace. A - before it turns the order round.", name, strings.Join(names, ", "))
	}
	return by, nil
}

// rank is by what an object is ordered.
func (by sorting) rank(o *wire.Object, columns []wire.Column) order.Rank {
	switch {
	case by.column >= 0:
		return order.Cell(o.Cell(by.column), columns[by.column].Relative)
	case by.namespace:
		return order.Natural(o.Namespace())
	}
	return order.Rank{}
}

// compare is the order of rows.
func (by sorting) compare(a, b *rankRow) int {
	if c := order.Compare(a.rank, b.rank, by.descending); c != 0 {
		return c
	}
	return a.object.Compare(b.object)
}

// rankRow is a row of a ranking: of one version of an object. It does not change.
type rankRow struct {
	object *wire.Object
	rank   order.Rank
}

// A ranking is all rows that a filter lets through, in order, kept from the
// journal and shared by all who hold a window of it. It has no goroutine: who
// comes first when something has changed brings it up to date, in its turn, and
// the others find it done. What is read of it are frames, which do not change.
//
// As time passes nothing moves: relative cells are ordered by their timestamps.
type ranking struct {
	informer *informer
	columns  []wire.Column
	by       sorting
	turn     chan struct{} // Holds one token while it is nobody's turn.
	weight   atomic.Int64  // In bytes.

	// Of who has the turn.
	filter *filter
	rows   *sorted.List[*rankRow] // Nil before it is built.
	cursor journal.Cursor
	counts counts
	tones  *tones
	news   news
	texts  map[string]string // That rows share.
	frames map[place]*frame  // Of this cursor.
	number uint64            // Of the newest frame.
}

func newRanking(i *informer, f *filter, columns []wire.Column, by sorting) *ranking {
	r := &ranking{informer: i, columns: columns, by: by, turn: make(chan struct{}, 1), filter: f.alike(columns), tones: newTones(columns), texts: make(map[string]string), frames: make(map[place]*frame)}
	r.turn <- struct{}{}
	return r
}

// look is what there is at a moment: a frame, and what has happened. The frame is
// the same as long as nothing in it, and no number of rows, has changed.
type look struct {
	*frame

	news   news
	offset uint64 // Up to which that is so.
}

// look returns what is at a place now.
func (r *ranking) look(ctx context.Context, wanted *wish) (look, error) {
	select {
	case <-r.turn:
	case <-ctx.Done():
		return look{}, ctx.Err()
	}
	defer func() { r.turn <- struct{}{} }()
	if err := r.update(ctx); err != nil {
		return look{}, err
	}
	at := r.placeOf(wanted)
	f := r.frames[at]
	if f == nil {
		if len(r.frames) >= maxFrames {
			clear(r.frames)
		}
		r.number++
		f = &frame{number: r.number, place: at, newest: r.cursor.Offset, counts: r.counts, rows: r.rows.Part(at.offset, at.count)}
		r.frames[at] = f
	}
	return look{f, r.news, r.cursor.Offset}, nil
}

// placeOf is the place that a wish leads to.
func (r *ranking) placeOf(wanted *wish) place {
	if wanted.around == "" {
		return wanted.place
	}
	if o, ok, _ := r.informer.Get(wanted.around); ok && r.filter.match(o) {
		if n, ok := r.rows.Find(r.row(o)); ok {
			return place{max(0, n-wanted.count/2), wanted.count}
		}
	}
	return wanted.place
}

// update brings the ranking up to the newest change there was when it began.
func (r *ranking) update(ctx context.Context) error {
	for now := r.informer.Now().Offset; r.rows == nil || r.cursor.Offset < now; {
		if r.rows == nil {
			r.build()
			break
		}
		changes, next, err := r.informer.Next(ctx, r.cursor, batch)
		switch {
		case errors.Is(err, journal.ErrGone):
			r.rows = nil
			continue
		case err != nil:
			return err
		}
		r.cursor = next
		rows := r.rows
		r.rows = nil // Until all is applied, which may panic: nobody is to take a part for all.
		if r.apply(rows, changes) {
			r.rows = rows
		} // Otherwise the journal keeps another version of what is the same, and told nothing.
	}
	r.weight.Store(int64(r.rows.Len()) * r.rowWeight())
	return nil
}

// build sorts what there is.
func (r *ranking) build() {
	entries, cursor := r.informer.Snapshot()
	rows := make([]*rankRow, 0, len(entries))
	r.counts, r.cursor = counts{}, cursor
	for n := range entries {
		o := entries[n].Value
		if !r.filter.selects(o) {
			continue
		}
		r.count(o, 1)
		if r.filter.matchText(o) {
			rows = append(rows, r.row(o))
		}
	}
	r.counts.matching = len(rows)
	r.rows = sorted.New(slices.Clip(rows), r.by.compare)
	clear(r.frames)
}

// apply makes changes to the rows, and reports false where one does not fit.
func (r *ranking) apply(rows *sorted.List[*rankRow], changes []*change) bool {
	var gone, come []*rankRow
	before := r.counts
	for _, c := range fold(changes) {
		if c.Op == 0 { // A mark.
			continue
		}
		had := c.Op != journal.Add && r.filter.selects(c.Old)
		has := c.Op != journal.Delete && r.filter.selects(c.New)
		if had {
			r.count(c.Old, -1)
			if r.filter.matchText(c.Old) {
				gone = append(gone, r.row(c.Old))
			}
		}
		if has {
			r.count(c.New, 1)
			if r.filter.matchText(c.New) {
				come = append(come, r.row(c.New))
			}
		}
		r.news.add(c, had, has)
	}
	r.counts.matching += len(come) - len(gone)
	if len(gone) > 0 || len(come) > 0 || r.counts != before {
		clear(r.frames)
	}
	return rows.Change(gone, come)
}

// count counts an object that the namespaces and labels let through, or takes it
// out again.
func (r *ranking) count(o *wire.Object, n int) {
	failing, waiting := r.tones.of(o)
	r.counts.total += n
	if failing {
		r.counts.failing += n
	}
	if waiting {
		r.counts.waiting += n
	}
}

// why is why a row went from a frame: its object is gone, or is none of those that
// may be seen, by its labels or words; it does not have the words of the query any
// more; it has another place now. It is empty where others moved the row out. Where
// the object may still be seen it is returned as it is now. Anybody may ask.
func (r *ranking) why(row *rankRow) (string, *wire.Object) {
	now, ok, _ := r.informer.Get(keyOf(row.object.Namespace(), row.object.Name()))
	selector := r.filter.selector
	switch {
	case !ok || !sameThing(row.object, now) || selector != nil && !selector.Matches(labelText(now.Labels().Value())), !r.filter.within(now):
		return "gone", nil
	case !r.filter.matchText(now):
		return "filtered", now
	case order.Compare(row.rank, r.by.rank(now, r.columns), false) != 0:
		return "moved", now
	}
	return "", now
}

func (r *ranking) row(o *wire.Object) *rankRow {
	row := &rankRow{object: o, rank: r.by.rank(o, r.columns)}
	if text := row.rank.Text; text != "" {
		shared, ok := r.texts[text]
		if !ok && len(r.texts) < maxTexts {
			shared, ok = text, true
			r.texts[text] = text
		}
		if ok {
			row.rank.Text = shared
		}
	}
	return row
}

// rowWeight is about what a row takes: texts that are all different are as long
// as those that are shared.
func (r *ranking) rowWeight() int64 {
	if len(r.texts) < maxTexts {
		return rowWeight
	}
	sum := 0
	for text := range r.texts {
		sum += len(text)
	}
	return rowWeight + int64(sum/len(r.texts))
}
