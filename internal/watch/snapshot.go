package watch

import (
	"context"
	"time"

	"glasshouse/internal/watch/authz"
	"glasshouse/internal/watch/informer"
	"glasshouse/internal/watch/listwatch"
	"glasshouse/internal/watch/query"
	"glasshouse/internal/watch/resource"
	"glasshouse/internal/watch/status"
	"glasshouse/internal/watch/stream"
)

// Item is one object of a Snapshot.
type Item = listwatch.Object

// Column is one column of a Snapshot's table.
type Column = listwatch.Column

// A Snapshot is the complete result of a query at one cursor (a position in the resource's history of changes).
type Snapshot struct {
	Resource *resource.Resource
	Columns  []Column
	// Objects is in the query's sort order, or by namespace and name. Callers must not change these shared objects.
	Objects   []*Item
	Total     int // The number of matching objects, including those beyond the limit.
	Status    status.Status
	Synced    bool // The first list of the resource has ended, and Objects is complete.
	IsPartial bool // Objects can exist that the viewer is not allowed to see.
	// Cursor is where a subscription can resume. It is empty without Synced, or if a limit left out objects.
	Cursor string
}

// Snapshot reads the result of a query. It waits for the informer's first list, but at most for wait.
func (a *Access) Snapshot(ctx context.Context, q query.Query, wait time.Duration) (*Snapshot, error) {
	resource, err := a.Resource(ctx, q.Resource)
	if err != nil {
		return nil, err
	}
	filter, err := a.check(ctx, &q, resource, authz.VerbList, authz.TTLRequest())
	if err != nil {
		return nil, err
	}
	open, err := a.open(&q, resource, filter) //nolint:contextcheck // An informer outlives the reader that starts it.
	if err != nil {
		return nil, err
	}
	defer a.releaseAfterResponse(open)
	informer := open.informer
	began := time.Now()
	informer.Wait(ctx, wait, func() bool { return informer.VisibleState(filter).Status.State != status.Syncing })
	listing, total, now, err := a.first(ctx, open, &q, began)
	if err != nil {
		return nil, err
	}
	snapshot := &Snapshot{
		Resource: resource, Columns: now.Columns, Status: now.Status, Synced: now.Synced, IsPartial: filter.IsPartial,
	}
	if !now.Synced && now.Status.State == status.Failed && now.Status.IsInvalidRequest && q.Fields != "" {
		return nil, status.Invalidf(
			"Invalid field selector", "The API server rejects %q for %s: %s", q.Fields, q.Resource, now.Status.Reason,
		)
	}
	if !now.Synced {
		return snapshot, ctx.Err()
	}
	a.recordRows(open, now.Version)
	snapshot.Objects, snapshot.Total = listing.Objects, total
	if mask := a.guestMask(resource); mask != nil {
		a.Grow(maskedMemory * int64(len(listing.Objects)))
		snapshot.Objects = make([]*Item, len(listing.Objects))
		for n, o := range listing.Objects {
			snapshot.Objects[n] = mask.Object(o)
		}
	}
	if len(snapshot.Objects) == total {
		snapshot.Cursor = a.cursor(&q, filter, informer, now.Version, listing.Cursor.Offset)
	}
	if total == 0 {
		err = a.checkNamespaces(ctx, filter.Named)
	}
	return snapshot, err
}

// first waits for the scan limiter, and reads the result. It repeats an access review that is too old.
func (a *Access) first(
	ctx context.Context, open *openedQuery, q *query.Query, reviewedAt time.Time,
) (*stream.Listing, int, informer.State, error) {
	check := func() error {
		if time.Since(reviewedAt) <= authz.TTLRecheck().Allowed {
			return nil
		}
		reviewedAt = time.Now()
		return a.restrict(ctx, open.resource, open.filter, authz.VerbList, authz.TTLRequest())
	}
	if err := check(); err != nil {
		return nil, 0, informer.State{}, err
	}
	release, err := a.acquireScan(ctx)
	if err != nil {
		return nil, 0, informer.State{}, err
	}
	defer release()
	if err := check(); err != nil {
		return nil, 0, informer.State{}, err
	}
	scan := scanMemory(q, open.filter, int64(open.informer.Len()))
	a.Grow(scan)
	found, total, now := open.informer.First(open.filter, q)
	// Replace the estimate by the memory that is used. If scan is 0, readers share the list.
	if scan > 0 {
		a.Grow(stream.ListedMemory*int64(cap(found.Objects)) - scan)
	}
	return found, total, now, nil
}

// scanMemory estimates the bytes that a query allocates for its list of rows. rows is their number in the informer.
func scanMemory(q *query.Query, f *query.Filter, rows int64) int64 {
	switch {
	case q.Sort != "" || q.Limit > 0:
		return rankedMemory * rows
	case f.MatchesAll():
		return 0
	}
	return scannedMemory * rows
}

// Estimates of the memory for one row of a list, in bytes.
const (
	// scannedMemory is for a list that grows by doubling. rankedMemory is for a sorted copy of the list.
	scannedMemory, rankedMemory = 3 * stream.ListedMemory, 56
	// maskedMemory is the additional memory for a row that is masked for a guest. 104 bytes were measured.
	maskedMemory = 104
)
