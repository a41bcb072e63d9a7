package watch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/jsonscan"
	"glasshouse/internal/watch/listwatch"
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
	newCipher   func() cursorCipher
	check       func(context.Context) error // Returns the reason why a result may be empty.
	acquireScan ScanLimiter                 // Waits before all rows are scanned.
	endError    error                       // The error that Next returns after the resource is no longer watched.

	cursor        journal.Cursor
	sentOffset    uint64 // The newest offset that was sent.
	needsSnapshot bool   // A snapshot must be sent before any event.
	started       bool   // A snapshot was sent, or a cursor was resumed.
	version       int    // The version of the columns that were sent.
	columns       []listwatch.Column
	sentStatus    Status

	restrictedCursor restrictedCursor // The newest cursor that a restricted reader has.
	isCursorRepeated bool             // The cursor was sent twice, by a heartbeat or digest, or it was resumed.

	filterID          filterID            // Computed when it is first needed.
	sharedText        *[]byte             // The part of the last message that other readers share. This reference keeps it alive.
	resetMessage      []byte              // A reset to send before the snapshot.
	listing           *listing            // The snapshot that is being sent.
	rows              []*listwatch.Object // The rows of listing that are not sent yet.
	isFirstPart       bool                // No part of the snapshot was sent yet.
	isSendingSnapshot bool                // A snapshot is being sent.

	window *windowState // Only in the view Windowed.

	digestAt  time.Time // When the next digest is due.
	dueDigest *digest   // The digest to send when the reader reaches its offset.

	// until is the time from which on Next returns without a message, so that its caller can do something else. Zero
	// means never.
	until        time.Time
	timer        *time.Timer      // Fires when a heartbeat, digest, offscreen changes or until is due.
	waitingSince time.Time        // When Next began to wait.
	wakeups      <-chan time.Time // The channel of the timer.
	buffer       messageBuffer
	cache        *encodedCache // Texts of recent changes, which all readers of the cluster share.
	coalescer    coalescer
}

// Next waits for the next message and returns it without its id and braces. The message is valid until the next call of
// Next, also after ctx has ended. At the time s.until, Next returns nil without an error.
func (s *reader) Next(ctx context.Context) ([]byte, error) {
	s.coalescer.recordSent()
	s.sharedText = nil
	s.buffer.ctx = ctx //nolint:fatcontext // It replaces the context of the last call.
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
			return nil, nil //nolint:nilnil // As documented.
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

// advance does the next thing that is due: it sends the state, the next part of a snapshot, or changes. It returns nil if
// there is nothing to send yet.
func (s *reader) advance(ctx context.Context) ([]byte, error) {
	if message := s.resetMessage; message != nil {
		s.resetMessage = nil
		return message, nil
	}
	now := s.filter.currentState(s.informer)
	switch {
	case !now.status.same(s.sentStatus):
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

// recordSnapshotSent records that a snapshot was sent, and that events follow.
func (s *reader) recordSnapshotSent(version int) {
	s.needsSnapshot, s.started, s.version, s.digestAt = false, true, version, s.informer.nextDigest(s.filter)
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
func (s *reader) nextChanges(ctx context.Context, until uint64) ([]*change, journal.Cursor, error) {
	limit := int(min(batch, until-s.cursor.Offset)) //nolint:gosec // At most batch.
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
		limit = min(limit, int(s.batchBoundary()-s.cursor.Offset)) //nolint:gosec // Not below the cursor.
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

// startTimer returns the channel of the timer that ends the wait for changes. It starts the timer at the first wait for a
// message.
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

// message begins a message with its type and the reader's cursor. A heartbeat or digest repeats the cursor of the
// message before it. If that cursor differs, the client assumes that a message was lost.
func (s *reader) message(kind string) []byte {
	s.isCursorRepeated = kind == "heartbeat" || kind == "digest"
	if !s.filter.isRestricted || !s.isCursorRepeated {
		s.sentOffset = s.cursor.Offset
	}
	text := append(s.buffer.borrow(), `"type":"`...)
	text = append(append(text, kind...), `","cursor":"`...)
	return append(s.buffer.appendCursor(s, text), '"')
}

// cursorMessage sends the reader's new cursor in a message without changes; see isCaughtUp.
func (s *reader) cursorMessage() ([]byte, error) {
	if s.window == nil {
		return append(s.message("events"), `,"events":[]`...), nil
	}
	message, err := s.windowMessage("window-events")
	return append(s.window.sentPage.counts.append(message), `,"events":[]`...), err
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

func (s *reader) stateMessage(status Status) ([]byte, error) {
	text, err := json.Marshal(struct {
		Type string `json:"type"`
		Status
	}{"state", status})
	if err != nil {
		return nil, fmt.Errorf("encode a state: %w", err)
	}
	return text[1 : len(text)-1], nil
}

func (s *reader) eventsMessage(changes []*change) ([]byte, error) {
	events, err := s.events(changes)
	if err != nil || len(events) == 0 {
		return nil, err
	}
	s.coalescer.recordStart(changes[0].Time)
	message := append(s.message("events"), `,"events":[`...)
	for n, event := range events {
		if n > 0 {
			message = append(message, ',')
		}
		message = append(message, event...)
	}
	return append(message, ']'), nil
}

func (s *reader) encodeEvents(changes []*change) ([][]byte, error) {
	if !s.view.everyChange {
		changes = fold(changes)
	}
	events, size := make([][]byte, 0, len(changes)), 0
	for _, c := range changes {
		event, err := s.event(c)
		if err != nil {
			return nil, err
		}
		if event != nil {
			events = append(events, event)
		}
		if size += len(event); s.view.everyChange && size > chunk {
			s.cursor = journal.At(c.Offset) // The next message sends the rest.
			break
		}
	}
	return events, nil
}

// event returns a change as an event for this reader, or nil if the reader may not see it or its view does not show it.
func (s *reader) event(c *change) ([]byte, error) {
	if s.key != "" && c.Key != s.key {
		return nil, nil
	}
	if c = s.filter.visibleChange(c); c == nil {
		return nil, nil
	}
	c, err := s.maskChange(c)
	if err != nil {
		return nil, err
	}
	event, err := s.view.event(c, s.cache)
	if err == nil && event != nil && s.view.everyChange && s.key != "" && c.Op == journal.Add {
		return appendObject(event, c.New)
	}
	return event, err
}

// beginRows starts a snapshot of rows and sends its first part. It returns nil if the rows cannot be sent yet.
func (s *reader) beginRows(ctx context.Context) ([]byte, error) {
	var list int64
	if !s.filter.matchesAll() {
		list = listedMemory * int64(s.informer.Len()) // Readers share the list of all objects.
	}
	if !s.buffer.acquire(partMemory + list) {
		return nil, nil
	}
	s.buffer.listBytes = list
	listing, now, err := s.objects(ctx)
	if err != nil {
		return nil, err
	}
	s.cursor = listing.cursor
	if !now.status.same(s.sentStatus) || !now.synced && !now.hasNoRows {
		// Either the state, which explains missing rows, must be sent first, or a list with other columns arrives soon.
		return nil, nil
	}
	s.listing, s.rows = listing, listing.objects
	s.recordSnapshotSent(now.version)
	if len(s.rows) == 0 {
		if err := s.check(ctx); err != nil {
			return nil, err
		}
	}
	s.columns, s.isFirstPart, s.isSendingSnapshot = now.columns, true, true
	return s.view.next(s)
}

// nextRows sends the next part of a snapshot.
func (s *reader) nextRows() ([]byte, error) {
	message, err := s.partMessage()
	if err != nil {
		return nil, err
	}
	message = append(message, `,"rows":[`...)
	n := 0
	for ; n < len(s.rows) && len(message) < chunk; n++ {
		if n > 0 {
			message = append(message, ',')
		}
		message = s.rows[n].AppendRow(message)
	}
	s.recordRowsSent(n)
	return fmt.Appendf(message, `],"last":%t`, !s.isSendingSnapshot), nil
}

// partMessage begins the message for one part of a snapshot of rows. The first part contains the columns.
func (s *reader) partMessage() ([]byte, error) {
	message := s.message("snapshot")
	if !s.isFirstPart {
		return message, nil
	}
	return appendColumns(message, s.columns)
}

// appendColumns appends the columns as a member of a JSON message.
func appendColumns(dst []byte, columns []listwatch.Column) ([]byte, error) {
	text, err := json.Marshal(append([]listwatch.Column{}, columns...)) // [] for no columns, not null.
	if err != nil {
		return nil, fmt.Errorf("encode the columns: %w", err)
	}
	return append(append(dst, `,"columns":`...), text...), nil
}

// recordRowsSent records that the first n of the remaining rows were sent.
func (s *reader) recordRowsSent(n int) {
	s.rows, s.isFirstPart = s.rows[n:], false
	if len(s.rows) == 0 {
		s.listing, s.rows, s.isSendingSnapshot = nil, nil, false
	}
}

// beginObject sends the snapshot of the view Object, which shows one object. A snapshot without an object means that
// the object does not exist.
func (s *reader) beginObject(context.Context) ([]byte, error) {
	now := s.filter.currentState(s.informer)
	o, ok, cursor := s.informer.Get(s.key)
	if !now.status.same(s.sentStatus) || !now.isUnchanged(s.filter.currentState(s.informer)) || !s.buffer.acquire(objectMemory) {
		return nil, nil
	}
	s.recordSnapshotSent(now.version)
	s.cursor = cursor
	s.filter.columns = now.columns
	message := s.message("snapshot")
	if ok && s.filter.match(o) {
		text, err := s.maskObject(o).JSON()
		if err != nil {
			return nil, err
		}
		s.buffer.growReservation(text)
		message = appendHealth(append(append(message, `,"object":`...), text...), text)
	}
	return append(message, `,"last":true`...), nil
}
