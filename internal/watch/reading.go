package watch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/rawjson"
	"glasshouse/internal/watch/wire"
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

// reading is one reader: it sends the objects that a filter matches, and then their changes. It has a cursor, and
// records what it has sent. Only one goroutine may use it, and it must be closed.
type reading struct {
	informer *informer
	filter   *filter
	view     view
	veil     *wire.Veil // The guest mask, which masks values in objects' texts; nil for no masking.
	key      string     // The journal key of the object, if the query names one.
	seal     func() seal
	check    func(context.Context) error // Returns the reason why a result may be empty.
	inTurn   Turn                        // Waits before all rows are scanned.
	ended    error                       // The error that Next returns after the resource is no longer watched.

	cursor  journal.Cursor
	sent    uint64 // The newest offset that was sent.
	behind  bool   // A snapshot must be sent before any event.
	started bool   // A snapshot was sent, or a cursor was resumed.
	version int    // The version of the columns that were sent.
	columns []wire.Column
	told    Status

	restricted restrictedCursor // The newest cursor that a restricted reader has.
	repeated   bool             // The cursor was sent twice, by a heartbeat or digest, or it was resumed.

	filterID filterID       // Computed when it is first needed.
	bundled  *[]byte        // The part of the last message that other readers share. This reference keeps it alive.
	notice   []byte         // A reset to send before the snapshot.
	listing  *listing       // The snapshot that is being sent.
	rows     []*wire.Object // The rows of listing that are not sent yet.
	first    bool           // No part of the snapshot was sent yet.
	telling  bool           // A snapshot is being sent.

	window *windowed // Only in the view Windowed.

	digestAt time.Time // When the next digest is due.
	due      *digest   // The digest to send when the reader reaches its offset.

	// until is the time from which on Next returns without a message, so that its caller can do something else. Zero
	// means never.
	until   time.Time
	silence *time.Timer      // Fires when a heartbeat, digest, offscreen changes or until is due.
	waiting time.Time        // When Next began to wait.
	rings   <-chan time.Time // The channel of the timer silence.
	writing paper
	recent  *recent // Texts of recent changes, which all readers of the cluster share.
	pace    pace
}

// Next waits for the next message and returns it without its id and braces. The message is valid until the next call of
// Next, also after ctx has ended. At the time s.until, Next returns nil without an error.
func (s *reading) Next(ctx context.Context) ([]byte, error) {
	s.pace.told()
	s.bundled = nil
	s.writing.ctx = ctx //nolint:fatcontext // It replaces the context of the last call.
	if s.filter.hides {
		s.alarm() // Start the timer now. If it started with the first wait, hidden changes would delay it.
	}
	for {
		// A snapshot keeps its memory reservation until its last part is sent, because the list of rows stays in
		// memory.
		if !s.telling {
			s.writing.release()
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !s.until.IsZero() && !time.Now().Before(s.until) {
			return nil, nil //nolint:nilnil // As documented.
		}
		message, err := s.step(ctx)
		if message != nil {
			s.waiting = time.Time{}
		}
		if message != nil || err != nil {
			s.writing.keep(message, s.view.name.Plain(message))
			return message, err
		}
	}
}

// step does the next thing that is due: it sends the state, the next part of a snapshot, or changes. It returns nil if
// there is nothing to send yet.
func (s *reading) step(ctx context.Context) ([]byte, error) {
	if notice := s.notice; notice != nil {
		s.notice = nil
		return notice, nil
	}
	now := s.filter.present(s.informer)
	switch {
	case !now.status.same(s.told):
		s.told = now.status
		return s.stateMessage(now.status)
	case s.started && !s.behind && now.version != s.version, s.telling && now.none:
		s.version = now.version
		s.reset("the resource was served again, its columns changed, or permissions were lost")
		return nil, nil
	case s.telling && !s.writing.acquire(partMemory):
		return nil, nil
	// A snapshot may be long. If its state changes, the new state is sent between two parts.
	case s.telling:
		return s.view.next(s)
	case s.behind && (now.synced || s.emptied(&now)):
		return s.view.begin(s, ctx)
	case s.digestDue() && s.window != nil:
		return s.windowDigest()
	case s.digestDue():
		if err := s.count(ctx); err != nil {
			return nil, err
		}
		s.digestAt = s.informer.nextDigest(s.filter)
	case s.window != nil:
		return s.readWindow(ctx)
	}
	return s.read(ctx)
}

func (s *reading) count(ctx context.Context) error {
	leave, err := s.inTurn(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if s.due = s.informer.digest(ctx, s.filter, s.cursor.Offset); s.due == nil {
		return ctx.Err()
	}
	return nil
}

// objects returns all objects that the filter matches. If the filter matches everything, readers share one list.
func (s *reading) objects(ctx context.Context) (*listing, present, error) {
	if !s.filter.everything() {
		leave, err := s.inTurn(ctx)
		if err != nil {
			return nil, present{}, err
		}
		defer leave()
	}
	listing, now := s.informer.objects(s.filter, batch) // Later changes are sent as events.
	return listing, now, nil
}

// emptied reports whether a reader that was reset gets an empty snapshot, because all rows were removed.
func (s *reading) emptied(now *present) bool {
	if !s.started || !now.none || s.view.each {
		return false
	}
	listing, _ := s.informer.objects(s.filter, 0)
	return len(listing.objects) == 0
}

// begun records that a snapshot was sent, and that events follow.
func (s *reading) begun(version int) {
	s.behind, s.started, s.version, s.digestAt = false, true, version, s.informer.nextDigest(s.filter)
}

func (s *reading) close() {
	s.silence.Stop()
	s.writing.release()
	if s.window != nil {
		s.window.close()
	}
	s.informer.readers.Add(-1)
}

// read waits for changes and sends them. A Nudge, which wakes readers without a change, results in no message.
func (s *reading) read(ctx context.Context) ([]byte, error) {
	until := uint64(math.MaxUint64)
	if s.due != nil {
		switch {
		case s.due.offset == s.cursor.Offset && s.isTold():
			return s.digestMessage(), nil
		// With a cursor that was not sent, the client would assume that a message before the digest was lost.
		case s.due.offset == s.cursor.Offset:
			return s.movedMessage()
		}
		until = s.due.offset
	}
	next := s.nextChanges
	if s.filter.hides && !s.behind {
		next = s.nextVisible
	}
	changes, cursor, err := next(ctx, until)
	switch {
	case errors.Is(err, journal.ErrGone) && s.behind:
		s.cursor = s.informer.Now() // A list arrived during the wait.
		return nil, nil
	case errors.Is(err, journal.ErrGone) && s.filter.present(s.informer).version != s.version:
		return nil, nil // The next call of step sends the reason.
	case errors.Is(err, journal.ErrGone):
		s.reset("the missed changes are no longer in the history")
		return nil, nil
	case err != nil:
		return s.silent(err)
	case !s.writing.acquire(s.eventsMemory(changes)):
		return nil, nil
	}
	s.cursor = cursor // Set it even if no message follows: otherwise the same changes would be read again.
	if len(changes) == 0 || s.behind || s.filter.present(s.informer).version != s.version {
		// A snapshot will include these changes, or their cells belong to other columns than those that were sent.
		return nil, nil
	}
	return s.eventsMessage(changes)
}

// nextChanges waits for changes up to the offset until. It returns them with the cursor after them.
func (s *reading) nextChanges(ctx context.Context, until uint64) ([]*change, journal.Cursor, error) {
	limit := int(min(batch, until-s.cursor.Offset)) //nolint:gosec // At most batch.
	first := limit
	if s.pace.collects() {
		first = 1 // More are available after the pause.
	}
	changes, next, err := s.informer.NextWithin(ctx, s.alarm, s.cursor, first)
	if err != nil || len(changes) == 0 {
		return nil, next, err
	}
	//nolint:gosec // A limit is not negative.
	rested := s.informer.Now().Offset-s.cursor.Offset < uint64(limit) && s.pace.rest(ctx)
	if rested {
		limit = min(limit, int(s.stop()-s.cursor.Offset)) //nolint:gosec // Not below the cursor.
	}
	if rested || first < limit {
		return s.informer.Next(ctx, s.cursor, limit)
	}
	return changes, next, nil
}

// silent handles err, the reason why a wait ended without changes. It returns a message if one is due.
func (s *reading) silent(err error) ([]byte, error) {
	switch {
	// Something other than a heartbeat is due, or the window moved.
	case errors.Is(err, journal.ErrSilent) && time.Since(s.waiting) < Heartbeat:
		s.wind()
		return nil, nil
	case errors.Is(err, journal.ErrSilent):
		if s.behind {
			return []byte(`"type":"heartbeat","cursor":""`), nil // There is no cursor to resume from yet.
		}
		if !s.isTold() {
			return s.movedMessage()
		}
		return s.message("heartbeat"), nil
	case errors.Is(err, journal.ErrClosed):
		return nil, s.ended
	}
	return nil, err
}

// alarm returns the channel of the timer that ends the wait for changes. It starts the timer at the first wait for a
// message.
func (s *reading) alarm() <-chan time.Time {
	if s.waiting.IsZero() {
		s.waiting = time.Now()
		s.wind()
	}
	return s.rings
}

// wind sets the timer to the first thing that is due: a heartbeat, a digest, offscreen changes or s.until.
func (s *reading) wind() {
	long := Heartbeat - time.Since(s.waiting)
	if due := time.Until(s.digestAt); s.view.digests && due > 0 {
		long = min(long, due)
	}
	if s.window != nil && s.window.newsWait() > 0 {
		long = min(long, s.window.newsWait())
	}
	if !s.until.IsZero() {
		long = min(long, time.Until(s.until))
	}
	s.silence.Reset(max(0, long))
}

// isTold reports whether a heartbeat or digest may be sent now. It may not if the client has a cursor with another
// offset; movedMessage then sends the new cursor first.
//
// The offset is not compared for a restricted reader, because this would reveal hidden changes. Such a reader gets a
// new cursor whenever the last one was repeated, so that it can resume from a recent cursor.
func (s *reading) isTold() bool {
	if s.filter.hides {
		return !s.repeated
	}
	return s.sent == s.cursor.Offset
}

// message begins a message with its type and the reader's cursor. A heartbeat or digest repeats the cursor of the
// message before it. If that cursor differs, the client assumes that a message was lost.
func (s *reading) message(kind string) []byte {
	s.repeated = kind == "heartbeat" || kind == "digest"
	if !s.filter.hides || !s.repeated {
		s.sent = s.cursor.Offset
	}
	text := append(s.writing.borrow(), `"type":"`...)
	text = append(append(text, kind...), `","cursor":"`...)
	return append(s.writing.sign(s, text), '"')
}

// movedMessage sends the reader's new cursor in a message without changes; see isTold.
func (s *reading) movedMessage() ([]byte, error) {
	if s.window == nil {
		return append(s.message("events"), `,"events":[]`...), nil
	}
	message, err := s.windowMessage("window-events")
	return append(s.window.held.counts.append(message), `,"events":[]`...), err
}

// reset discards what was not sent yet, and starts again with a snapshot. If the client has data, a reset message with
// the reason is sent first.
func (s *reading) reset(reason string) {
	s.behind, s.due = true, nil
	s.listing, s.rows, s.telling = nil, nil, false
	if s.started {
		s.informer.resets.Add(1)
		s.notice = rawjson.AppendString([]byte(`"type":"reset","reason":`), reason)
	}
}

func (s *reading) stateMessage(status Status) ([]byte, error) {
	text, err := json.Marshal(struct {
		Type string `json:"type"`
		Status
	}{"state", status})
	if err != nil {
		return nil, fmt.Errorf("encode a state: %w", err)
	}
	return text[1 : len(text)-1], nil
}

func (s *reading) eventsMessage(changes []*change) ([]byte, error) {
	events, err := s.events(changes)
	if err != nil || len(events) == 0 {
		return nil, err
	}
	s.pace.tell(changes[0].Time)
	message := append(s.message("events"), `,"events":[`...)
	for n, event := range events {
		if n > 0 {
			message = append(message, ',')
		}
		message = append(message, event...)
	}
	return append(message, ']'), nil
}

func (s *reading) eventsOf(changes []*change) ([][]byte, error) {
	if !s.view.each {
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
		if size += len(event); s.view.each && size > chunk {
			s.cursor = journal.At(c.Offset) // The next message sends the rest.
			break
		}
	}
	return events, nil
}

// event returns a change as an event for this reader, or nil if the reader may not see it or its view does not show it.
func (s *reading) event(c *change) ([]byte, error) {
	if s.key != "" && c.Key != s.key {
		return nil, nil
	}
	if c = s.filter.see(c); c == nil {
		return nil, nil
	}
	c, err := s.seenChange(c)
	if err != nil {
		return nil, err
	}
	event, err := s.view.event(c, s.recent)
	if err == nil && event != nil && s.view.each && s.key != "" && c.Op == journal.Add {
		return withObject(event, c.New)
	}
	return event, err
}

// beginRows starts a snapshot of rows and sends its first part. It returns nil if the rows cannot be sent yet.
func (s *reading) beginRows(ctx context.Context) ([]byte, error) {
	var list int64
	if !s.filter.everything() {
		list = listedMemory * int64(s.informer.Len()) // Readers share the list of all objects.
	}
	if !s.writing.acquire(partMemory + list) {
		return nil, nil
	}
	s.writing.list = list
	listing, now, err := s.objects(ctx)
	if err != nil {
		return nil, err
	}
	s.cursor = listing.cursor
	if !now.status.same(s.told) || !now.synced && !now.none {
		// Either the state, which explains missing rows, must be sent first, or a list with other columns arrives soon.
		return nil, nil
	}
	s.listing, s.rows = listing, listing.objects
	s.begun(now.version)
	if len(s.rows) == 0 {
		if err := s.check(ctx); err != nil {
			return nil, err
		}
	}
	s.columns, s.first, s.telling = now.columns, true, true
	return s.view.next(s)
}

// nextRows sends the next part of a snapshot.
func (s *reading) nextRows() ([]byte, error) {
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
	s.toldRows(n)
	return fmt.Appendf(message, `],"last":%t`, !s.telling), nil
}

// partMessage begins the message for one part of a snapshot of rows. The first part contains the columns.
func (s *reading) partMessage() ([]byte, error) {
	message := s.message("snapshot")
	if !s.first {
		return message, nil
	}
	return appendColumns(message, s.columns)
}

// appendColumns appends the columns as a member of a JSON message.
func appendColumns(dst []byte, columns []wire.Column) ([]byte, error) {
	text, err := json.Marshal(append([]wire.Column{}, columns...)) // [] for no columns, not null.
	if err != nil {
		return nil, fmt.Errorf("encode the columns: %w", err)
	}
	return append(append(dst, `,"columns":`...), text...), nil
}

// toldRows records that the first n of the remaining rows were sent.
func (s *reading) toldRows(n int) {
	s.rows, s.first = s.rows[n:], false
	if len(s.rows) == 0 {
		s.listing, s.rows, s.telling = nil, nil, false
	}
}

// beginObject sends the snapshot of the view Object, which shows one object. A snapshot without an object means that
// the object does not exist.
func (s *reading) beginObject(context.Context) ([]byte, error) {
	now := s.filter.present(s.informer)
	o, ok, cursor := s.informer.Get(s.key)
	if !now.status.same(s.told) || !now.stays(s.filter.present(s.informer)) || !s.writing.acquire(objectMemory) {
		return nil, nil
	}
	s.begun(now.version)
	s.cursor = cursor
	s.filter.columns = now.columns
	message := s.message("snapshot")
	if ok && s.filter.match(o) {
		text, err := s.seen(o).JSON()
		if err != nil {
			return nil, err
		}
		s.writing.expect(text)
		message = appendHealth(append(append(message, `,"object":`...), text...), text)
	}
	return append(message, `,"last":true`...), nil
}
