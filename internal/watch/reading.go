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
	// Heartbeat is how long a Subscription stays silent at most.
	Heartbeat = 15 * time.Second
	// batch is how many changes one message carries at most.
	batch = 1000
	// chunk is about how many bytes of rows one message of a snapshot carries.
	chunk = 128 << 10
)

// ErrClosed says that the resource is watched no more: the program ends.
var ErrClosed = errors.New("the resource is watched no more")

// reading is one reader of what a filter lets through: a cursor, and what it was
// told. It is for one goroutine, and must be closed.
type reading struct {
	informer *informer
	filter   *filter
	view     view
	veil     *wire.Veil // Nil where texts are told as they are.
	key      string     // Of the one object, where it is one that is asked for.
	seal     func() seal
	check    func(context.Context) error // Why there may be no rows at all.
	inTurn   Turn                        // For what goes through all rows.
	ended    error                       // What Next ends with where the resource is watched no more.

	cursor  journal.Cursor
	sent    uint64 // The newest offset that was told.
	behind  bool   // A snapshot must come before any event.
	started bool   // A snapshot, or a resumed cursor, came before.
	version int    // Of the columns that were told.
	columns []wire.Column
	told    Status

	restricted restrictedCursor // The newest that a restricted reader has.
	repeated   bool             // A heartbeat or digest has repeated it, or it was resumed from.

	filterID filterID       // Made when it is needed.
	bundled  *[]byte        // What of the message that is on its way others are told, too.
	notice   []byte         // A reset that is to be told before the snapshot.
	listing  *listing       // The snapshot that is being told.
	rows     []*wire.Object // The rest of it.
	first    bool           // None of rows has been told.
	telling  bool           // A snapshot is being told.

	window *windowed // In the Windowed view; nil in others.

	digestAt time.Time // When the next digest is due.
	due      *digest   // The digest to be told at its offset.

	until   time.Time        // Next returns nothing from then on, that something else is done first; zero for never.
	silence *time.Timer      // Rings when one of Heartbeat, digest, news and until is due,
	waiting time.Time        // from when Next has begun to wait,
	rings   <-chan time.Time // here.
	writing paper
	recent  *recent // Of the cluster.
	pace    pace
}

// Next waits for the next message of the wire and returns it without its id and
// braces. It is good until Next is called again, which may be after ctx has
// ended. There is none, and no error, where until has come.
func (s *reading) Next(ctx context.Context) ([]byte, error) {
	s.pace.told()
	s.bundled = nil
	s.writing.ctx = ctx //nolint:fatcontext // It replaces that of the last call.
	if s.filter.hides {
		s.alarm() // Now, and not at the first wait: hidden changes would put that off.
	}
	for {
		if !s.telling { // A snapshot keeps its memory until its last part: the list of rows is a part of it.
			s.writing.release()
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !s.until.IsZero() && !time.Now().Before(s.until) {
			return nil, nil //nolint:nilnil // As it says.
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

// step does what is due: it tells a state, the rest of a snapshot, or what has
// changed. It may come to nothing.
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
		s.reset("the resource came back, has other columns, or some of it may not be seen any more")
		return nil, nil
	case s.telling && !s.writing.acquire(partMemory):
		return nil, nil
	case s.telling: // It may be long, and that it is not live any more is told between two parts.
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

// count counts the digest that is due.
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

// objects are all that the filter lets through. Where that is all there are, others
// share the list.
func (s *reading) objects(ctx context.Context) (*listing, present, error) {
	if !s.filter.everything() {
		leave, err := s.inTurn(ctx)
		if err != nil {
			return nil, present{}, err
		}
		defer leave()
	}
	listing, now := s.informer.objects(s.filter, batch) // What it lacks comes as events.
	return listing, now, nil
}

// emptied reports whether who must begin anew is to be told that there is
// nothing: all that was held has gone.
func (s *reading) emptied(now *present) bool {
	if !s.started || !now.none || s.view.each {
		return false
	}
	listing, _ := s.informer.objects(s.filter, 0)
	return len(listing.objects) == 0
}

// begun says that what follows goes on from a snapshot.
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

// read waits for changes, or for a nudge, which gives no message.
func (s *reading) read(ctx context.Context) ([]byte, error) {
	until := uint64(math.MaxUint64)
	if s.due != nil {
		switch {
		case s.due.offset == s.cursor.Offset && s.isTold():
			return s.digestMessage(), nil
		case s.due.offset == s.cursor.Offset: // A digest at a cursor that was not told would seem to come after a lost frame.
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
		s.cursor = s.informer.Now() // Listed while waiting for it.
		return nil, nil
	case errors.Is(err, journal.ErrGone) && s.filter.present(s.informer).version != s.version:
		return nil, nil // The next step says why.
	case errors.Is(err, journal.ErrGone):
		s.reset("more has changed than is kept; what was missed cannot be told one by one")
		return nil, nil
	case err != nil:
		return s.silent(err)
	case !s.writing.acquire(s.eventsMemory(changes)):
		return nil, nil
	}
	s.cursor = cursor // Also without a message: otherwise the same changes would be read again.
	if len(changes) == 0 || s.behind || s.filter.present(s.informer).version != s.version {
		return nil, nil // A snapshot will tell; cells of other columns would mean something else.
	}
	return s.eventsMessage(changes)
}

// nextChanges waits for changes up to an offset, and returns them with the cursor behind
// them.
func (s *reading) nextChanges(ctx context.Context, until uint64) ([]*change, journal.Cursor, error) {
	limit := int(min(batch, until-s.cursor.Offset)) //nolint:gosec // At most batch.
	first := limit
	if s.pace.collects() {
		first = 1 // There are more when that is over.
	}
	changes, next, err := s.informer.NextWithin(ctx, s.alarm, s.cursor, first)
	if err != nil || len(changes) == 0 {
		return nil, next, err
	}
	rested := s.informer.Now().Offset-s.cursor.Offset < uint64(limit) && s.pace.rest(ctx) //nolint:gosec // A limit is not negative.
	if rested {
		limit = min(limit, int(s.stop()-s.cursor.Offset)) //nolint:gosec // Not below the cursor.
	}
	if rested || first < limit {
		return s.informer.Next(ctx, s.cursor, limit)
	}
	return changes, next, nil
}

// silent is what is told where waiting for changes gave none.
func (s *reading) silent(err error) ([]byte, error) {
	switch {
	case errors.Is(err, journal.ErrSilent) && time.Since(s.waiting) < Heartbeat: // Something else is due, or the window moved.
		s.wind()
		return nil, nil
	case errors.Is(err, journal.ErrSilent):
		if s.behind {
			return []byte(`"type":"heartbeat","cursor":""`), nil // There is nothing yet to go on from.
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

// alarm ends the wait of one Next.
func (s *reading) alarm() <-chan time.Time {
	if s.waiting.IsZero() {
		s.waiting = time.Now()
		s.wind()
	}
	return s.rings
}

// wind sets the alarm to what is due first.
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

// isTold reports whether a heartbeat or digest may come next. It may not while the
// client has the cursor of another offset: movedMessage sends a new one first. For a
// restricted reader that would show hidden changes. It gets a new cursor whenever the
// last one was repeated, so that the one it may resume from is recent.
func (s *reading) isTold() bool {
	if s.filter.hides {
		return !s.repeated
	}
	return s.sent == s.cursor.Offset
}

// message begins a message that belongs to the cursor. A heartbeat and a digest repeat
// the cursor of the message before, by which a client finds out that a frame was lost.
func (s *reading) message(kind string) []byte {
	s.repeated = kind == "heartbeat" || kind == "digest"
	if !s.filter.hides || !s.repeated {
		s.sent = s.cursor.Offset
	}
	text := append(s.writing.borrow(), `"type":"`...)
	text = append(append(text, kind...), `","cursor":"`...)
	return append(s.writing.sign(s, text), '"')
}

// movedMessage sends a cursor without a change: see isTold.
func (s *reading) movedMessage() ([]byte, error) {
	if s.window == nil {
		return append(s.message("events"), `,"events":[]`...), nil
	}
	message, err := s.windowMessage("window-events")
	return append(s.window.held.counts.append(message), `,"events":[]`...), err
}

// reset begins anew. What was still to be told is not.
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
			s.cursor = journal.At(c.Offset) // The rest is told by the next message.
			break
		}
	}
	return events, nil
}

// event is a change as this subscription tells it; nil where that is nothing.
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

// beginRows tells the first part of the rows.
func (s *reading) beginRows(ctx context.Context) ([]byte, error) {
	var list int64
	if !s.filter.everything() {
		list = listedMemory * int64(s.informer.Len()) // Others share the list of everything.
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
		return nil, nil // Why there are none is told first; or other columns come in a moment.
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

// nextRows tells the next part of a snapshot.
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

// partMessage begins a part of a snapshot of rows; the first has the columns.
func (s *reading) partMessage() ([]byte, error) {
	message := s.message("snapshot")
	if !s.first {
		return message, nil
	}
	return appendColumns(message, s.columns)
}

// appendColumns appends the member that tells them.
func appendColumns(dst []byte, columns []wire.Column) ([]byte, error) {
	text, err := json.Marshal(append([]wire.Column{}, columns...)) // [] for none, not null.
	if err != nil {
		return nil, fmt.Errorf("encode the columns: %w", err)
	}
	return append(append(dst, `,"columns":`...), text...), nil
}

// toldRows says that the first n of the rows were told.
func (s *reading) toldRows(n int) {
	s.rows, s.first = s.rows[n:], false
	if len(s.rows) == 0 {
		s.listing, s.rows, s.telling = nil, nil, false
	}
}

// beginObject tells the one object; without it, it does not exist.
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
