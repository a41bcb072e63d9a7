package watch

import (
	"context"
	"errors"
	"math"
	"time"

	"glasshouse/internal/watch/cursor"
	"glasshouse/internal/watch/event"
	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/jsonscan"
	"glasshouse/internal/watch/listwatch"
	"glasshouse/internal/watch/status"
)

const (
	// Heartbeat is the longest time between two messages of a Subscription: after it, a heartbeat message is sent.
	Heartbeat = 15 * time.Second
	// batch is the maximum number of changes in one message.
	batch = 1000
	// chunk is the approximate size, in bytes, of the rows in one message of a snapshot.
	chunk = 128 << 10
)

// ErrClosed means that the resource is no longer watched, because the program is stopping.
var ErrClosed = errors.New("the resource is no longer watched")

// reader is one reader: it sends the objects that a filter matches, and then their changes. It has a cursor, and
// records what it has sent. Only one goroutine may use it, and it must be closed.
type reader struct {
	informer    *informer
	filter      *filter
	view        view
	guestMask   *listwatch.GuestMask // The guest mask, which masks values in objects' texts; nil for no masking.
	key         string               // The journal key of the object, if the query names one.
	newCipher   func() cursor.Cipher
	check       func(context.Context) error // check returns the reason why a result may be empty.
	acquireScan ScanLimiter                 // Waits before all rows are scanned.
	endError    error                       // The error that Next returns after the resource is no longer watched.

	cursor        journal.Cursor
	sentOffset    uint64 // The newest offset that was sent.
	needsSnapshot bool   // A snapshot must be sent before any event.
	started       bool   // A snapshot was sent, or a cursor was resumed.
	version       int    // The version of the columns that were sent.
	columns       []listwatch.Column
	sentStatus    status.Status

	restrictedCursor cursor.Restricted // The newest cursor that a restricted reader has.
	isCursorRepeated bool              // The cursor was sent twice, by a heartbeat or digest, or it was resumed.

	filterID filterID // Computed when it is first needed.
	// The part of the last message that other readers share. This reference keeps it alive.
	sharedText        *[]byte
	resetMessage      []byte              // A reset to send before the snapshot.
	listing           *listing            // The snapshot that is being sent.
	rows              []*listwatch.Object // The rows of listing that are not sent yet.
	isFirstPart       bool                // No part of the snapshot was sent yet.
	isSendingSnapshot bool                // A snapshot is being sent.

	window *windowState // The state of a window; nil except in the view Windowed.

	digestAt  time.Time // When the next digest is due.
	dueDigest *digest   // The digest to send when the reader reaches its offset.

	// until is the time from which on Next returns without a message, so that its caller can do something else. Zero
	// means never.
	until        time.Time
	timer        *time.Timer      // Fires when a heartbeat, digest, offscreen changes or until is due.
	waitingSince time.Time        // When Next began to wait.
	wakeups      <-chan time.Time // The channel of the timer.
	buffer       messageBuffer
	cache        *event.Cache // Texts of recent changes, which all readers of the cluster share.
	coalescer    coalescer
}

// Next waits for the next message and returns it without its id and braces. The message is valid until the next call of
// Next, also after ctx has ended. At the time s.until, Next returns nil without an error.
func (s *reader) Next(ctx context.Context) ([]byte, error) {
	s.coalescer.recordSent()
	s.sharedText = nil
	s.buffer.ctx = ctx //nolint:fatcontext // This replaces the context of the previous call.
	if s.filter.isRestricted {
		s.startTimer() // Start the timer now. If it started with the first wait, hidden changes would delay it.
	}
	for {
		// A snapshot keeps its memory reservation until its last part is sent, because the list of rows stays in
		// memory.
		if !s.isSendingSnapshot {
			s.buffer.release()
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !s.until.IsZero() && !time.Now().Before(s.until) {
			return nil, nil //nolint:nilnil // Next documents that it may return neither a message nor an error.
		}
		message, err := s.advance(ctx)
		if message != nil {
			s.waitingSince = time.Time{}
		}
		if message != nil || err != nil {
			s.buffer.store(message, s.view.name.IsPlain(message))
			return message, err
		}
	}
}

// advance does the next thing that is due: it sends the state, the next part of a snapshot, or changes. It returns nil
// if there is nothing to send yet.
func (s *reader) advance(ctx context.Context) ([]byte, error) {
	if message := s.resetMessage; message != nil {
		s.resetMessage = nil
		return message, nil
	}
	now := s.filter.currentState(s.informer)
	switch {
	case !now.status.Same(s.sentStatus):
		s.sentStatus = now.status
		return s.stateMessage(now.status)
	case s.started && !s.needsSnapshot && now.version != s.version, s.isSendingSnapshot && now.hasNoRows:
		s.version = now.version
		s.reset("the resource was served again, its columns changed, or permissions were lost")
		return nil, nil
	case s.isSendingSnapshot && !s.buffer.acquire(partMemory):
		return nil, nil
	// A snapshot may be long. If its state changes, the new state is sent between two parts.
	case s.isSendingSnapshot:
		return s.view.next(s)
	case s.needsSnapshot && (now.synced || s.isEmptied(&now)):
		return s.view.begin(s, ctx)
	case s.digestDue() && s.window != nil:
		return s.windowDigest()
	case s.digestDue():
		if err := s.computeDigest(ctx); err != nil {
			return nil, err
		}
		s.digestAt = s.informer.nextDigest(s.filter)
	case s.window != nil:
		return s.readWindow(ctx)
	}
	return s.read(ctx)
}

func (s *reader) computeDigest(ctx context.Context) error {
	release, err := s.acquireScan(ctx)
	if err != nil {
		return err
	}
	defer release()
	if s.dueDigest = s.informer.digest(ctx, s.filter, s.cursor.Offset); s.dueDigest == nil {
		return ctx.Err()
	}
	return nil
}

// objects returns all objects that the filter matches. If the filter matches everything, readers share one list.
func (s *reader) objects(ctx context.Context) (*listing, informerState, error) {
	if !s.filter.matchesAll() {
		release, err := s.acquireScan(ctx)
		if err != nil {
			return nil, informerState{}, err
		}
		defer release()
	}
	listing, now := s.informer.objects(s.filter, batch) // Later changes are sent as events.
	return listing, now, nil
}

// isEmptied reports whether a reader that was reset gets an empty snapshot, because all rows were removed.
func (s *reader) isEmptied(now *informerState) bool {
	if !s.started || !now.hasNoRows || s.view.everyChange {
		return false
	}
	listing, _ := s.informer.objects(s.filter, 0)
	return len(listing.objects) == 0
}

func (s *reader) close() {
	s.timer.Stop()
	s.buffer.release()
	if s.window != nil {
		s.window.close()
	}
	s.informer.readers.Add(-1)
}

// read waits for changes and sends them. A Nudge, which wakes readers without a change, results in no message.
func (s *reader) read(ctx context.Context) ([]byte, error) {
	until := uint64(math.MaxUint64)
	if s.dueDigest != nil {
		switch {
		case s.dueDigest.offset == s.cursor.Offset && s.isCaughtUp():
			return s.digestMessage(), nil
		// With a cursor that was not sent, the client would assume that a message before the digest was lost.
		case s.dueDigest.offset == s.cursor.Offset:
			return s.cursorMessage()
		}
		until = s.dueDigest.offset
	}
	next := s.nextChanges
	if s.filter.isRestricted && !s.needsSnapshot {
		next = s.nextVisible
	}
	changes, cursor, err := next(ctx, until)
	switch {
	case errors.Is(err, journal.ErrGone) && s.needsSnapshot:
		s.cursor = s.informer.Now() // A list arrived during the wait.
		return nil, nil
	case errors.Is(err, journal.ErrGone) && s.filter.currentState(s.informer).version != s.version:
		return nil, nil // The next call of advance sends the reason.
	case errors.Is(err, journal.ErrGone):
		s.reset("the missed changes are no longer in the history")
		return nil, nil
	case err != nil:
		return s.handleWaitError(err)
	case !s.buffer.acquire(s.eventsMemory(changes)):
		return nil, nil
	}
	s.cursor = cursor // Set it even if no message follows: otherwise the same changes would be read again.
	if len(changes) == 0 || s.needsSnapshot || s.filter.currentState(s.informer).version != s.version {
		// A snapshot will include these changes, or their cells belong to other columns than those that were sent.
		return nil, nil
	}
	return s.eventsMessage(changes)
}

// nextChanges waits for changes up to the offset until. It returns them with the cursor after them.
func (s *reader) nextChanges(ctx context.Context, until uint64) ([]*event.Change, journal.Cursor, error) {
	limit := int(min(batch, until-s.cursor.Offset)) //nolint:gosec // The result is at most batch.
	firstLimit := limit
	if s.coalescer.isPausing() {
		firstLimit = 1 // More are available after the pause.
	}
	changes, next, err := s.informer.NextWithin(ctx, s.startTimer, s.cursor, firstLimit)
	if err != nil || len(changes) == 0 {
		return nil, next, err
	}
	//nolint:gosec // A limit is not negative.
	hasPaused := s.informer.Now().Offset-s.cursor.Offset < uint64(limit) && s.coalescer.pause(ctx)
	if hasPaused {
		limit = min(limit, int(s.batchBoundary()-s.cursor.Offset)) //nolint:gosec // The boundary is not below the cursor.
	}
	if hasPaused || firstLimit < limit {
		return s.informer.Next(ctx, s.cursor, limit)
	}
	return changes, next, nil
}

// handleWaitError handles err, the reason why a wait ended without changes. It returns a message if one is due.
func (s *reader) handleWaitError(err error) ([]byte, error) {
	switch {
	// Something other than a heartbeat is due, or the window moved.
	case errors.Is(err, journal.ErrNoChange) && time.Since(s.waitingSince) < Heartbeat:
		s.resetTimer()
		return nil, nil
	case errors.Is(err, journal.ErrNoChange):
		if s.needsSnapshot {
			return []byte(`"type":"heartbeat","cursor":""`), nil // There is no cursor to resume from yet.
		}
		if !s.isCaughtUp() {
			return s.cursorMessage()
		}
		return s.message("heartbeat"), nil
	case errors.Is(err, journal.ErrClosed):
		return nil, s.endError
	}
	return nil, err
}

// startTimer returns the channel of the timer that ends the wait for changes. It starts the timer at the first wait for
// a message.
func (s *reader) startTimer() <-chan time.Time {
	if s.waitingSince.IsZero() {
		s.waitingSince = time.Now()
		s.resetTimer()
	}
	return s.wakeups
}

// resetTimer sets the timer to the first thing that is due: a heartbeat, a digest, offscreen changes or s.until.
func (s *reader) resetTimer() {
	delay := Heartbeat - time.Since(s.waitingSince)
	if due := time.Until(s.digestAt); s.view.digests && due > 0 {
		delay = min(delay, due)
	}
	if s.window != nil && s.window.offscreenWait() > 0 {
		delay = min(delay, s.window.offscreenWait())
	}
	if !s.until.IsZero() {
		delay = min(delay, time.Until(s.until))
	}
	s.timer.Reset(max(0, delay))
}

// isCaughtUp reports whether a heartbeat or digest may be sent now. It may not if the client has a cursor with another
// offset; cursorMessage then sends the new cursor first.
//
// The offset is not compared for a restricted reader, because this would reveal hidden changes. Such a reader gets a
// new cursor whenever the last one was repeated, so that it can resume from a recent cursor.
func (s *reader) isCaughtUp() bool {
	if s.filter.isRestricted {
		return !s.isCursorRepeated
	}
	return s.sentOffset == s.cursor.Offset
}

// reset discards what was not sent yet, and starts again with a snapshot. If the client has data, a reset message with
// the reason is sent first.
func (s *reader) reset(reason string) {
	s.needsSnapshot, s.dueDigest = true, nil
	s.listing, s.rows, s.isSendingSnapshot = nil, nil, false
	if s.started {
		s.informer.resets.Add(1)
		s.resetMessage = jsonscan.AppendString([]byte(`"type":"reset","reason":`), reason)
	}
}
