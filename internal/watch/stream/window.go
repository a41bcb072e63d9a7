package stream

import (
	"context"
	"errors"
	"slices"
	"time"

	"glasshouse/internal/watch/informer"
	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/query"
	"glasshouse/internal/watch/ranking"
)

// windowState contains what a reader needs for the view Windowed only.
type windowState struct {
	*query.Window

	viewer   informer.Owner
	ranking  *ranking.Ranking
	release  func()
	sentPage *ranking.Page
	// answered is the request to which sentPage is the response. Requests are compared by address, because each call
	// of Move gets a response.
	answered      *query.RangeRequest
	offscreen     ranking.Offscreen // Summary of all changes so far in the sorted list.
	sentOffscreen ranking.Offscreen // The part of offscreen that was sent.
	summarySentAt time.Time
}

func (w *windowState) close() {
	if w.release != nil {
		w.release()
	}
}

// beginWindow returns a message with the columns and all rows of the window, or nil if they cannot be sent yet.
func (s *Reader) beginWindow(ctx context.Context) ([]byte, error) {
	now := s.informer.VisibleState(s.Filter)
	if !now.Synced && !now.HasNoRows {
		return nil, nil
	}
	by, err := ranking.ParseSort(s.window.Sort(), now.Columns)
	if err != nil && len(now.Columns) > 0 {
		return nil, err
	}
	sorted, release, err := s.informer.Rankings.Open(s.informer.Informer, s.window.viewer, s.Filter, &now, by)
	if err != nil {
		return nil, err
	}
	s.window.close()
	s.window.ranking, s.window.release = sorted, release
	request := s.window.Request()
	view, err := s.firstView(ctx, request)
	if err != nil {
		return nil, err
	}
	if later := s.informer.VisibleState(s.Filter); later.Version != now.Version || later.HasNoRows != now.HasNoRows {
		return nil, nil // The permissions or columns changed during the read.
	}
	if view.Counts.Total == 0 {
		if err := s.options.Check(ctx); err != nil {
			return nil, err
		}
	}
	s.window.sentPage, s.window.answered = view.Page, s.window.fixRange(request, view.Page)
	s.window.offscreen, s.window.sentOffscreen = view.Offscreen, view.Offscreen
	s.schedule.summaryAt = time.Time{}
	s.recordSnapshotSent(now.Version)
	s.position.cursor.Offset = view.Offset
	columns, err := appendColumns(nil, now.Columns)
	if err != nil {
		return nil, err
	}
	return s.fullWindow(columns)
}

// firstView returns the requested rows. It waits for the scan limiter first: if no other window has the same ranking
// (sorted rows), it must sort all rows of the resource.
func (s *Reader) firstView(ctx context.Context, request *query.RangeRequest) (ranking.View, error) {
	release, err := s.options.AcquireScan(ctx)
	if err != nil {
		return ranking.View{}, err
	}
	defer release()
	return s.window.ranking.View(ctx, request)
}

func (s *Reader) fullWindow(columns []byte) ([]byte, error) {
	bytes := int64(compressorMemory)
	for _, row := range s.window.sentPage.Rows {
		bytes += 3 * rowSize(row.Object)
	}
	if !s.buffer.acquire(bytes) {
		return nil, nil
	}
	text, err := s.window.sentPage.Encode()
	if err != nil {
		return nil, err
	}
	message, err := s.windowMessage("window")
	if err != nil {
		return nil, err
	}
	return append(append(slices.Grow(message, len(columns)+len(text)), columns...), text...), nil
}

// windowMessage returns the start of a message of the type kind, with a summary of the changes in the sorted list
// that were not sent yet.
func (s *Reader) windowMessage(kind string) ([]byte, error) {
	w := s.window
	message, err := w.offscreen.AppendUnsent(s.message(kind), &w.sentOffscreen, s.options.Cache)
	w.sentOffscreen, w.summarySentAt, s.schedule.summaryAt = w.offscreen, time.Now(), time.Time{}
	return message, err
}

// fixRange converts a request for the rows around an object into a request for a fixed range, that of the returned
// page. The window then stays at this range, even if the object's row moves.
func (w *windowState) fixRange(request *query.RangeRequest, page *ranking.Page) *query.RangeRequest {
	if request.Around == "" {
		return request
	}
	fixed := &query.RangeRequest{Range: page.Range}
	if w.ReplaceRequest(request, fixed) {
		return fixed
	}
	return request // The window was moved again during the read.
}

// readWindow waits until rows have changed or the window was moved, and returns a message with the present rows. It
// returns no message if the reader was woken without a change, see journal.Wake.
//
// Changes that are no longer in the history are not needed, because the rows already include them.
func (s *Reader) readWindow(ctx context.Context) ([]byte, error) {
	if !s.needsSnapshot && s.window.Request() != s.window.answered {
		return s.updateWindow(ctx, time.Time{})
	}
	if !s.needsSnapshot && isDue(s.schedule.summaryAt) {
		return s.cursorMessage()
	}
	changes, next, err := s.informer.NextWithin(ctx, s.schedule.start, s.position.cursor, 1)
	since := time.Now()
	switch {
	case errors.Is(err, journal.ErrGone):
		next = s.informer.Now()
	case err != nil:
		return s.handleWaitError(err)
	case len(changes) > 0:
		since = changes[0].Time
	case !s.needsSnapshot:
		s.position.cursor = next
		return nil, nil
	}
	if s.needsSnapshot {
		s.position.cursor = s.informer.Now()
		return nil, nil
	}
	if err := s.pauseWindow(ctx); err != nil {
		return nil, err
	}
	before := s.position.cursor
	s.position.cursor = next
	message, err := s.updateWindow(ctx, since)
	if err != nil {
		s.position.cursor = before // After an error, read these changes again, because they were not sent.
	}
	return message, err
}

// pauseWindow waits for the end of a coalescing pause. It returns earlier if the window is moved or another message
// is due. It checks these conditions after each wake-up, because the timer can also have fired before the pause.
func (s *Reader) pauseWindow(ctx context.Context) error {
	duration := time.Until(s.coalescer.until)
	if duration <= 0 {
		return nil
	}
	timer := time.NewTimer(duration)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			return nil
		case <-s.schedule.wakeups:
		case <-ctx.Done():
			return ctx.Err()
		}
		due := s.schedule.isAnyDue()
		s.schedule.start()
		s.schedule.reset()
		if due || s.window.Request() != s.window.answered {
			return nil
		}
	}
}

// windowDigest returns a digest message: a hash of the rows that were sent, by which the client verifies its rows.
func (s *Reader) windowDigest() ([]byte, error) {
	if !s.position.isCaughtUp() {
		return s.cursorMessage() // Send the new cursor first, because the digest (a hash of the rows) must repeat it.
	}
	s.dueDigest = new(digest)
	for _, row := range s.window.sentPage.Rows {
		s.dueDigest.add(informer.Key(row.Object.Namespace(), row.Object.Name()), row.Object.ResourceVersion())
	}
	return s.digestMessage(), nil
}

// updateWindow returns a message with the differences between the rows that were sent and the present rows of the
// window. The parameter since is the time of the first change.
func (s *Reader) updateWindow(ctx context.Context, since time.Time) ([]byte, error) {
	w, request := s.window, s.window.Request()
	now, err := w.ranking.View(ctx, request)
	if err != nil {
		return nil, err
	}
	if s.informer.VisibleState(s.Filter).Version != s.position.version {
		return nil, nil
	}
	from, moved := w.sentPage, request != w.answered
	w.sentPage, w.answered = now.Page, w.fixRange(request, now.Page)
	w.offscreen, s.position.cursor.Offset = now.Offscreen, now.Offset
	if w.offscreen.Changes != w.sentOffscreen.Changes {
		s.schedule.summaryAt = w.summarySentAt.Add(ranking.OffscreenEvery)
	}
	if moved {
		return s.fullWindow(nil)
	}
	if now.Equal(from) {
		if !s.schedule.waitingSince.IsZero() {
			s.schedule.reset()
		}
		return nil, nil
	}
	diff, err := now.DiffFrom(from, w.ranking, s.options.Cache)
	if err != nil {
		return nil, err
	}
	s.coalescer.recordStart(since)
	if diff.IsFullPage {
		return s.fullWindow(nil)
	}
	// Reserve memory for the copy of diff in this message. All readers of the page share the text of diff itself.
	if !s.buffer.acquire(MessageMemory(len(diff.Text), true)) {
		return nil, nil
	}
	message, err := s.windowMessage("window-events")
	return append(slices.Grow(message, len(diff.Text)), diff.Text...), err
}
