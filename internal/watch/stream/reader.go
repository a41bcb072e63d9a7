// Package stream sends the objects of an informer to clients: first a snapshot, and then the changes. Each client has
// a Reader, which keeps only its position in the changes, and what it has sent. A slow client therefore needs no
// memory for pending changes: the Reader combines them when it reads them. Results that several readers need are
// computed once and shared, see SharedInformer.
package stream

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"time"

	"glasshouse/internal/watch/event"
	"glasshouse/internal/watch/informer"
	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/jsonscan"
	"glasshouse/internal/watch/listwatch"
	"glasshouse/internal/watch/query"
	"glasshouse/internal/watch/status"
)

const (
	// Heartbeat is the maximum time between two messages of a Subscription. After this time without a message, a
	// heartbeat message is sent.
	Heartbeat = 15 * time.Second
	batch     = 1000
	// chunk is the approximate size, in bytes, of the rows in one message of a snapshot.
	chunk = 128 << 10
)

// ErrClosed means that the resource is no longer watched because the program is stopping, or that the Subscription is
// closed.
var ErrClosed = errors.New("the resource is no longer watched")

// Reader sends one client the objects that a filter matches, and then their changes. It keeps its position in the
// changes, and what it has sent. Only one goroutine may use it. The caller must close it.
type Reader struct {
	informer *SharedInformer
	Filter   *query.Filter
	options  Options
	view     view

	position      position
	schedule      schedule
	needsSnapshot bool
	started       bool // The client has data, because it received a snapshot or has resumed from a cursor.
	columns       []listwatch.Column
	sentStatus    status.Status

	filterID query.FilterID
	// sharedText is the part of the last message that other readers can also send. This field keeps it in memory,
	// because other readers find it by a weak pointer.
	sharedText        *[]byte
	resetMessage      []byte
	listing           *Listing
	rows              []*listwatch.Object
	isFirstPart       bool
	isSendingSnapshot bool

	window *windowState

	dueDigest *digest // A digest (a hash of the rows) to send after the changes that it includes.

	buffer    messageBuffer
	coalescer coalescer
}

// New returns a reader that starts with a snapshot. To start with changes instead, call ResumeFrom.
func New(options *Options) *Reader {
	options.Informer.Readers.Add(1)
	s := &Reader{
		informer: options.Informer, Filter: options.Filter, options: *options, view: viewOf(options.View),
		position: position{
			informer: options.Informer, filter: options.Filter, newCipher: options.NewCipher,
			everyChange: options.View == Changes,
		},
		schedule: newSchedule(options.Window), needsSnapshot: true,
		buffer: messageBuffer{pool: options.Buffers, slots: options.Slots, reserve: options.Reserve},
		coalescer: coalescer{
			every: options.Every, fanOut: options.FanOut, slot: rand.N(fanOutSlots), //nolint:gosec // No secret.
		},
	}
	if w := options.Window; w != nil {
		s.window = &windowState{Window: w, viewer: options.Owner}
	}
	return s
}

// IsCurrent reports whether the data that was sent is still valid. It is invalid if, for example, a permission was
// lost or the columns changed since, which changes the informer's version.
func (s *Reader) IsCurrent() bool {
	return s.informer.VisibleState(s.Filter).Version == s.position.version
}

// RepeatStatus makes Next send the status again, even if it has not changed.
func (s *Reader) RepeatStatus() { s.sentStatus = status.Status{} }

// ResumeFrom makes the reader send the changes after a cursor. If that is impossible, the reader sends a reset with
// the reason, and a snapshot.
func (s *Reader) ResumeFrom(cursor string) {
	now := s.informer.VisibleState(s.Filter)
	s.Filter.Columns = now.Columns
	if err := s.position.resume(cursor, now.Version); err != nil {
		s.Restart(err.Error())
		return
	}
	s.recordSnapshotSent(now.Version)
}

// Restart resets a reader whose client already has data from an earlier reader. See Reset.
func (s *Reader) Restart(reason string) {
	s.started = true
	s.Reset(reason)
}

// Next waits for the next message and returns it without its id and braces. The message is valid until the next call
// of Next, even after ctx has ended. At the given time until, Next returns nil without an error, so that its caller
// can recheck permissions. A zero until means never.
func (s *Reader) Next(ctx context.Context, until time.Time) ([]byte, error) {
	s.schedule.recheckAt = until
	s.coalescer.recordSent()
	s.sharedText = nil
	s.buffer.ctx = ctx //nolint:fatcontext // This replaces the context of the previous call.
	if s.Filter.IsRestricted {
		// Start the timer before waiting. Otherwise, a hidden change could delay the start of the timer, and
		// therefore the next heartbeat, which would reveal the change.
		s.schedule.start()
	}
	for {
		// Until the last part of a snapshot is sent, keep the reserved memory, because the list of rows is still in
		// memory.
		if !s.isSendingSnapshot {
			s.buffer.release()
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if isDue(s.schedule.recheckAt) {
			return nil, nil //nolint:nilnil // Allowed: Next may return neither a message nor an error.
		}
		message, err := s.advance(ctx)
		if message != nil {
			s.schedule.waitingSince = time.Time{}
		}
		if message != nil || err != nil {
			s.buffer.store(message, s.view.name.IsPlain(message))
			return message, err
		}
	}
}

// advance returns the next message that is due: a reset, the status, the next part of a snapshot, changes or a
// heartbeat. It returns nil if there is no message yet; Next then calls it again.
func (s *Reader) advance(ctx context.Context) ([]byte, error) {
	if message := s.resetMessage; message != nil {
		s.resetMessage = nil
		return message, nil
	}
	now := s.informer.VisibleState(s.Filter)
	switch {
	case !now.Status.Same(s.sentStatus):
		s.sentStatus = now.Status
		return s.StateMessage(now.Status)
	case s.started && !s.needsSnapshot && now.Version != s.position.version, s.isSendingSnapshot && now.HasNoRows:
		s.position.version = now.Version
		s.Reset("the resource was served again, its columns changed, or permissions were lost")
		return nil, nil
	case s.isSendingSnapshot && !s.buffer.acquire(partMemory):
		return nil, nil
	// Check this after the status, so that a new status is sent between two parts of a snapshot.
	case s.isSendingSnapshot:
		return s.view.next(s)
	case s.needsSnapshot && (now.Synced || s.isEmptied(&now)):
		return s.view.begin(s, ctx)
	case s.digestDue() && s.window != nil:
		return s.windowDigest()
	case s.digestDue():
		if err := s.computeDigest(ctx); err != nil {
			return nil, err
		}
		s.schedule.digestAt = s.informer.nextDigest(s.Filter)
	case s.window != nil:
		return s.readWindow(ctx)
	}
	return s.read(ctx)
}

func (s *Reader) computeDigest(ctx context.Context) error {
	release, err := s.options.AcquireScan(ctx)
	if err != nil {
		return err
	}
	defer release()
	if s.dueDigest = s.informer.digest(ctx, s.Filter, s.position.cursor.Offset); s.dueDigest == nil {
		return ctx.Err()
	}
	return nil
}

// objects returns all objects that the filter matches. If these are all objects of the resource, readers share one
// list.
func (s *Reader) objects(ctx context.Context) (*Listing, informer.State, error) {
	if !s.Filter.MatchesAll() {
		release, err := s.options.AcquireScan(ctx)
		if err != nil {
			return nil, informer.State{}, err
		}
		defer release()
	}
	// The list can lack the newest changes (at most 1000, the value of batch). They follow as events.
	listing, now := s.informer.Objects(s.Filter, batch)
	return listing, now, nil
}

// isEmptied reports whether the client must get an empty snapshot. This is so if the client has data, but the
// informer has removed all rows that the filter matches, for example after a lost permission.
func (s *Reader) isEmptied(now *informer.State) bool {
	if !s.started || !now.HasNoRows || s.view.everyChange {
		return false
	}
	listing, _ := s.informer.Objects(s.Filter, 0)
	return len(listing.Objects) == 0
}

// Close ends the reader. It does not release the informer.
func (s *Reader) Close() {
	s.schedule.timer.Stop()
	s.buffer.release()
	if s.window != nil {
		s.window.close()
	}
	s.informer.Readers.Add(-1)
}

// read waits for changes and returns a message with them. It returns nil if it was woken without a change, see
// journal.Wake.
func (s *Reader) read(ctx context.Context) ([]byte, error) {
	until := uint64(math.MaxUint64)
	if s.dueDigest != nil {
		switch {
		case s.dueDigest.offset == s.position.cursor.Offset && s.position.isCaughtUp():
			return s.digestMessage(), nil
		// Send the new cursor before the digest (a hash of the rows), which must repeat the last cursor that was
		// sent. With another cursor, the client would assume that a message before the digest was lost.
		case s.dueDigest.offset == s.position.cursor.Offset:
			return s.cursorMessage()
		}
		until = s.dueDigest.offset
	}
	next := s.nextChanges
	if s.Filter.IsRestricted && !s.needsSnapshot {
		next = s.nextVisible
	}
	changes, cursor, err := next(ctx, until)
	switch {
	case errors.Is(err, journal.ErrGone) && s.needsSnapshot:
		s.position.cursor = s.informer.Now() // A list arrived during the wait, and the snapshot will include it.
		return nil, nil
	case errors.Is(err, journal.ErrGone) && s.informer.VisibleState(s.Filter).Version != s.position.version:
		return nil, nil
	case errors.Is(err, journal.ErrGone):
		s.Reset("the missed changes are no longer in the history")
		return nil, nil
	case err != nil:
		return s.handleWaitError(err)
	case !s.buffer.acquire(s.eventsMemory(changes)):
		return nil, nil
	}
	// Advance the cursor even if no message follows. Otherwise, these changes would be read again.
	s.position.cursor = cursor
	if len(changes) == 0 || s.needsSnapshot || s.informer.VisibleState(s.Filter).Version != s.position.version {
		// Do not send these changes: a snapshot will include them, or their cells belong to new columns.
		return nil, nil
	}
	return s.eventsMessage(changes)
}

// nextChanges waits for changes, and returns them with the cursor after them. It returns at most those up to the
// journal offset until.
func (s *Reader) nextChanges(ctx context.Context, until uint64) ([]*event.Change, journal.Cursor, error) {
	limit := int(min(batch, until-s.position.cursor.Offset)) //nolint:gosec // The result is at most batch.
	firstLimit := limit
	if s.coalescer.isPausing() {
		// Wait only for the first change, because all changes are read again after the pause.
		firstLimit = 1
	}
	changes, next, err := s.informer.NextWithin(ctx, s.schedule.start, s.position.cursor, firstLimit)
	if err != nil || len(changes) == 0 {
		return nil, next, err
	}
	//nolint:gosec // A limit is not negative.
	hasPaused := s.informer.Now().Offset-s.position.cursor.Offset < uint64(limit) && s.coalescer.pause(ctx)
	if hasPaused {
		limit = min(limit, int(s.batchBoundary()-s.position.cursor.Offset)) //nolint:gosec // The boundary is not below the cursor.
	}
	if hasPaused || firstLimit < limit {
		return s.informer.Next(ctx, s.position.cursor, limit)
	}
	return changes, next, nil
}

// handleWaitError handles the error err with which a wait for changes ended. If a heartbeat is due, it returns the
// heartbeat, or a message with the new cursor that must be sent first.
func (s *Reader) handleWaitError(err error) ([]byte, error) {
	switch {
	// No heartbeat is due yet. Something else is, or the client moved its window of rows. The next call of advance
	// handles that.
	case errors.Is(err, journal.ErrNoChange) && !s.schedule.isHeartbeatDue():
		s.schedule.reset()
		return nil, nil
	case errors.Is(err, journal.ErrNoChange):
		if s.needsSnapshot {
			return []byte(`"type":"heartbeat","cursor":""`), nil // No cursor exists before the snapshot.
		}
		if !s.position.isCaughtUp() {
			return s.cursorMessage()
		}
		return s.message("heartbeat"), nil
	case errors.Is(err, journal.ErrClosed):
		return nil, s.options.EndError
	}
	return nil, err
}

// Reset discards everything that was not sent yet, and starts again with a snapshot. If the client has data, it first
// gets a reset message with the reason.
func (s *Reader) Reset(reason string) {
	s.needsSnapshot, s.dueDigest = true, nil
	s.listing, s.rows, s.isSendingSnapshot = nil, nil, false
	if s.started {
		s.informer.Resets.Add(1)
		s.resetMessage = jsonscan.AppendString([]byte(`"type":"reset","reason":`), reason)
	}
}
