package opened

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer/shared"
	"github.com/glasshouse-project/glasshouse/internal/watch/printer"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

// A Snapshot is the complete result of a query at one cursor (a position in the resource's history of changes).
type Snapshot struct {
	Resource *resource.Resource
	Columns  []printer.Column
	// Objects is sorted as the query requests, by default by namespace and name. Callers must not change the objects.
	Objects      []*compact.Object
	IsWorstFirst bool // The order is "auto", and at least one object is failed, so Objects is sorted by severity.
	Total        int  // The number of matching objects, including those beyond the limit.
	Status       status.Status
	Synced       bool // The first list of the resource has ended, and Objects is complete.
	IsPartial    bool // The viewer is possibly not allowed to see all objects of the query.
	// Cursor is the position at which a subscription can resume; empty if not Synced, or if a limit left out objects.
	Cursor string
}

// Cells returns the cells of an object as JSON, one for each of the Columns. A missing cell is nil.
func (s *Snapshot) Cells(o *compact.Object) ([]json.RawMessage, error) {
	cells, printed := make([]json.RawMessage, len(s.Columns)), len(printer.Printed(s.Columns))
	var read []json.RawMessage
	if err := json.Unmarshal(o.Cells(), &read); err != nil {
		return nil, fmt.Errorf("decode the cells of %s: %w", o.Name(), err)
	}
	copy(cells[:printed], read)
	if extra := compact.Extra(o); len(extra) > 0 {
		var added []json.RawMessage // Not read, because Unmarshal would overwrite its texts, which cells contains.
		if err := json.Unmarshal(extra, &added); err != nil {
			return nil, fmt.Errorf("decode the extra cells of %s: %w", o.Name(), err)
		}
		copy(cells[printed:], added)
	}
	return cells, nil
}

// Snapshot reads the result of a query. It waits for the informer's first list, but at most the duration wait.
func (o *Opener) Snapshot(ctx context.Context, q query.Query, wait time.Duration) (*Snapshot, error) {
	open, err := o.Open(ctx, &q, authz.VerbList, authz.TTLRequest())
	if err != nil {
		return nil, err
	}
	defer o.Checker.ReleaseAfterResponse(open.Release)
	resource, filter, informer := open.Resource, open.Filter, open.Informer
	began := time.Now()
	informer.Wait(ctx, wait, func() bool { return informer.VisibleState(filter).Status.State != status.Syncing })
	listing, total, now, err := open.first(ctx, began)
	if err != nil {
		return nil, err
	}
	snapshot := &Snapshot{
		Resource: resource, Columns: filter.ShownColumns(now.Columns), Status: now.Status, Synced: now.Synced,
		IsPartial: filter.IsPartial,
	}
	if !now.Synced && now.Status.State == status.Failed && now.Status.IsInvalidRequest && q.Fields != "" {
		return nil, status.Invalidf("Invalid field selector",
			"The API server rejects %q for %s: %s", q.Fields, resource.Plural(), now.Status.Reason)
	}
	if !now.Synced {
		return snapshot, ctx.Err()
	}
	// If this program loses a permission, the informer gets a new version, and the objects must no longer be sent.
	isCurrent := func() bool { return informer.CurrentState(nil).Version == now.Version }
	o.Checker.RecordRows(resource, filter, isCurrent)
	snapshot.Objects, snapshot.Total, snapshot.IsWorstFirst = listing.Objects, total, listing.IsWorstFirst
	if mask := o.Checker.Viewer.GuestMask(resource); mask != nil {
		o.Options.AdjustMemory(maskedMemory * int64(len(listing.Objects)))
		snapshot.Objects = make([]*compact.Object, len(listing.Objects))
		for n, object := range listing.Objects {
			snapshot.Objects[n] = mask.Object(object)
		}
	}
	if len(snapshot.Objects) == total {
		snapshot.Cursor = open.cursor(now.Version, listing.Cursor.Offset)
	}
	if total == 0 {
		err = open.checkNamespaces(ctx)
	}
	return snapshot, err
}

// first waits for the scan limiter. It then returns the result of the query, the total number of matching objects, and
// the state. If the last access review is too old, the function repeats the review before and after the wait.
func (q *Query) first(ctx context.Context, reviewedAt time.Time) (*shared.Listing, int, informer.State, error) {
	o := q.opener
	check := func() error {
		if time.Since(reviewedAt) <= authz.TTLRecheck().Allowed {
			return nil
		}
		reviewedAt = time.Now()
		return o.Checker.Restrict(ctx, q.Resource, q.Filter, authz.VerbList, authz.TTLRequest())
	}
	if err := check(); err != nil {
		return nil, 0, informer.State{}, err
	}
	release, err := o.Options.AcquireProcessor(ctx)
	if err != nil {
		return nil, 0, informer.State{}, err
	}
	defer release()
	if err := check(); err != nil {
		return nil, 0, informer.State{}, err
	}
	scan := scanMemory(q.query, q.Filter, int64(q.Informer.Len()))
	o.Options.AdjustMemory(scan)
	found, total, now := q.Informer.First(q.Filter, q.query)
	// Replace the reserved estimate (scan) with the actual memory of the list. If scan is 0, the list is shared with other
	// readers, and this query reserves no memory.
	if scan > 0 {
		o.Options.AdjustMemory(shared.ListedMemory*int64(cap(found.Objects)) - scan)
	}
	return found, total, now, nil
}

// scanMemory estimates how many bytes a query allocates for its list of rows. The parameter rows is the number of rows
// in the informer.
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
	// scannedMemory applies to a list that grows by doubling, including its unused capacity. rankedMemory applies to a
	// sorted copy of a list.
	scannedMemory, rankedMemory = 3 * shared.ListedMemory, 56
	// maskedMemory is the additional memory for a row that is masked for a guest. 104 bytes were measured.
	maskedMemory = 104
)
