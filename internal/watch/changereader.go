package watch

import (
	"context"
	"errors"
	"fmt"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/event"
	"github.com/glasshouse-project/glasshouse/internal/watch/journal"
	"github.com/glasshouse-project/glasshouse/internal/watch/opened"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"
)

// maxBatch is the maximum number of changes in one ChangeBatch.
const maxBatch = 1000

// A ChangeReader reads every change of the objects that a query matches, and combines no changes. It is not safe for
// concurrent use.
type ChangeReader struct {
	opened        *opened.Query
	cursor        journal.Cursor
	version       int // The version of the informer's columns and history to which the field cursor belongs.
	needsSnapshot bool
	status        status.Status // The status that the last ChangeBatch reported.
}

// A ChangeBatch is a result of ChangeReader.Next. Objects and changes are shared by all readers: do not modify them.
type ChangeBatch struct {
	// IsSnapshot means that Objects contains all objects that match, and Changes is empty. The first batch is usually a
	// snapshot. A later batch is a snapshot if the history no longer has all changes since the previous batch.
	IsSnapshot bool
	Objects    []*Item
	// Changes are in the order in which they happened. If a change has Memo.CoverageOnly, its object did not change: the
	// namespace has just been added to or removed from the watched namespaces. If the resourceVersion of an update is the
	// previous one, only the verdict of the object is new.
	Changes []*event.Change
	// Status describes how current the data is. If a batch has neither objects nor changes, only the status is new. If
	// Status.Namespaces is not nil, the batch contains objects of these namespaces only.
	Status status.Status
	// Position identifies the state after this batch. While the Cluster runs, ReadChanges can continue at a Position.
	// After a restart of the program, ReadChanges starts with a snapshot instead. To find what has changed meanwhile,
	// store the resourceVersion of each object, and compare it with the snapshot.
	Position string
}

// ReadChanges returns a reader of the changes after the Position of an earlier ChangeBatch. If position is empty or
// too old, the first batch is a snapshot. ReadChanges returns a *Problem if Cluster.Run has not started yet, or if the
// API server does not respond. Call it again later.
func (a *Access) ReadChanges(ctx context.Context, q query.Query, position string) (*ChangeReader, error) {
	// Only this program itself may use a ChangeReader, because a ChangeReader does not check permissions again after it
	// was opened.
	if !a.checker.Viewer.Program || a.checker.Viewer.Scope != nil {
		return nil, status.Refusedf("Forbidden", "Only the program itself can read all changes.")
	}
	found, err := a.opener().Open(ctx, &q, authz.VerbWatch, authz.TTLOpen())
	if err != nil {
		return nil, err
	}
	filter := found.Filter
	found.Informer.Readers.Add(1)
	r := &ChangeReader{opened: found, needsSnapshot: true}
	var epoch, offset uint64
	if n, _ := fmt.Sscanf(position, "%x-%d", &epoch, &offset); n == 2 {
		now := found.Informer.VisibleState(filter)
		isKnown := epoch == found.Informer.EpochOf(now.Version) && found.Informer.RetainsAfter(offset)
		if isKnown && !found.Informer.HasGap(filter.Namespaces, offset) {
			r.cursor, r.version, r.needsSnapshot = journal.At(offset), now.Version, false
			filter.Columns = now.Columns
		}
	}
	return r, nil
}

// Next waits for the next batch. It returns stream.ErrClosed if the program stops watching the resource.
func (r *ChangeReader) Next(ctx context.Context) (ChangeBatch, error) {
	i, filter := r.opened.Informer, r.opened.Filter
	for {
		now := i.VisibleState(filter)
		r.needsSnapshot = r.needsSnapshot || now.Version != r.version
		switch {
		case r.needsSnapshot && now.Synced:
			if batch, ok := r.snapshot(); ok {
				return batch, nil
			}
			continue // Read the state again, because it changed after the call of VisibleState.
		case !now.Status.Same(r.status):
			r.status = now.Status
			return ChangeBatch{Status: now.Status, Position: r.position()}, nil
		}
		changes, next, err := i.Next(ctx, r.cursor, maxBatch)
		switch {
		case errors.Is(err, journal.ErrGone):
			r.cursor, r.needsSnapshot = i.Now(), true
			continue
		case errors.Is(err, journal.ErrClosed):
			return ChangeBatch{}, stream.ErrClosed
		case err != nil:
			return ChangeBatch{}, err
		}
		r.cursor = next
		if r.needsSnapshot || i.VisibleState(filter).Version != r.version {
			continue // Do not send these changes: the next snapshot includes them.
		}
		batch := ChangeBatch{Status: now.Status, Position: r.position()}
		for _, c := range changes {
			if visible := filter.VisibleChange(c); visible != nil {
				batch.Changes = append(batch.Changes, visible)
			}
		}
		if len(batch.Changes) > 0 {
			return batch, nil
		}
	}
}

// snapshot returns a batch with the complete state. ok is false if the informer does not have all objects at this
// moment.
func (r *ChangeReader) snapshot() (batch ChangeBatch, ok bool) {
	listing, now := r.opened.Informer.Objects(r.opened.Filter, 0)
	if !now.Synced {
		return ChangeBatch{}, false
	}
	r.cursor, r.version, r.status, r.needsSnapshot = listing.Cursor, now.Version, now.Status, false
	return ChangeBatch{IsSnapshot: true, Objects: listing.Objects, Status: now.Status, Position: r.position()}, true
}

// position returns the cursor as text, together with the epoch to which the cursor belongs. It returns an empty text if
// the next batch must be a snapshot.
func (r *ChangeReader) position() string {
	if r.needsSnapshot {
		return ""
	}
	return fmt.Sprintf("%x-%d", r.opened.Informer.EpochOf(r.version), r.cursor.Offset)
}

// Close ends the reader and releases its informer.
func (r *ChangeReader) Close() {
	r.opened.Informer.Readers.Add(-1)
	r.opened.Release()
}
