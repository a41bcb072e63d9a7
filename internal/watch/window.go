package watch

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"glasshouse/internal/watch/journal"
)

const (
	// maxWindow is the maximum number of rows in a window.
	maxWindow = 1000
	// maxOffset is the maximum offset of a window's first row.
	maxOffset = 1 << 30
)

// A Window is the part of a sorted list of rows that a page shows, for the view Windowed. Any goroutine may move it at
// any time. Only one Subscription may use it.
type Window struct {
	sort   string
	wanted atomic.Pointer[wish]
	rings  chan time.Time // Receives when the window is moved, to wake the Subscription.
}

// NewWindow returns a window of count rows, beginning at offset. sort is the name of a column in lower case, or
// "namespace". A "-" before the name reverses the order. If sort is empty, rows are ordered by namespace and name.
func NewWindow(sort string, offset, count int) (*Window, error) {
	w := &Window{sort: sort, rings: make(chan time.Time, 1)}
	return w, w.Move(offset, count, "", "")
}

// Move requests a range of rows, which may be the same as before. All rows of the range are sent. If Move is called
// several times before that, only the newest range is sent. If name is set and the object's row exists, the range is
// centered on that row, and offset is ignored. Move returns a Problem if offset or count is out of range.
func (w *Window) Move(offset, count int, namespace, name string) error {
	if offset < 0 || offset > maxOffset || count < 1 || count > maxWindow {
		return invalid("Invalid window",
			"offset is %d and count %d; offset must be from 0 to %d, and count from 1 to %d.",
			offset, count, maxOffset, maxWindow)
	}
	to := &wish{place: place{offset, count}}
	if name != "" {
		to.around = keyOf(namespace, name)
	}
	w.wanted.Store(to)
	w.ring()
	return nil
}

func (w *Window) ring() {
	select {
	case w.rings <- time.Now():
	default: // A wake-up is already pending.
	}
}

// windowed is what a reader of a window records in addition to its cursor.
type windowed struct {
	*Window

	viewer  holder
	ranking *ranking
	letGo   func() // Releases the ranking; nil if there is none.
	held    *frame // The page (the rows in the range) that was sent last.
	at      *wish  // The request that held answers. It is compared by address, because each Move is answered.
	news    news   // All changes so far.
	told    news   // The changes that were sent.
	toldAt  time.Time
}

func (w *windowed) close() {
	if w.letGo != nil {
		w.letGo()
	}
}

// beginWindow sends all rows of the window with the columns. It returns nil if they cannot be sent yet.
func (s *reading) beginWindow(ctx context.Context) ([]byte, error) {
	now := s.filter.present(s.informer)
	if !now.synced && !now.none {
		return nil, nil // The list has not arrived yet.
	}
	by, err := sortingOf(s.window.sort, now.columns)
	if err != nil && len(now.columns) > 0 {
		return nil, err
	}
	ranking, letGo, err := s.informer.ranking(s.window.viewer, s.filter, &now, by)
	if err != nil {
		return nil, err
	}
	s.window.close()
	s.window.ranking, s.window.letGo = ranking, letGo
	at := s.window.wanted.Load()
	held, err := s.firstLook(ctx, at)
	if err != nil {
		return nil, err
	}
	if later := s.filter.present(s.informer); later.version != now.version || later.none != now.none {
		return nil, nil // Permissions or columns have changed since.
	}
	if held.counts.total == 0 {
		if err := s.check(ctx); err != nil {
			return nil, err
		}
	}
	s.window.held, s.window.at = held.frame, s.window.settle(at, held.frame)
	s.window.news, s.window.told = held.news, held.news
	s.begun(now.version)
	s.cursor.Offset = held.offset
	columns, err := appendColumns(nil, now.columns)
	if err != nil {
		return nil, err
	}
	return s.wholeWindow(columns)
}

// firstLook waits for its turn and returns the rows that at requests. It may have to sort all rows of the resource.
func (s *reading) firstLook(ctx context.Context, at *wish) (look, error) {
	leave, err := s.inTurn(ctx)
	if err != nil {
		return look{}, err
	}
	defer leave()
	return s.window.ranking.look(ctx, at)
}

// wholeWindow sends a message with all rows of the current page.
func (s *reading) wholeWindow(columns []byte) ([]byte, error) {
	bytes := int64(compressorMemory)
	for _, row := range s.window.held.rows {
		bytes += 3 * rowSize(row.object)
	}
	if !s.writing.acquire(bytes) {
		return nil, nil
	}
	text, err := s.window.held.text()
	if err != nil {
		return nil, err
	}
	message, err := s.windowMessage("window")
	if err != nil {
		return nil, err
	}
	return append(append(slices.Grow(message, len(columns)+len(text)), columns...), text...), nil
}

// windowMessage begins a message, with a summary of the changes outside the window since the last message.
func (s *reading) windowMessage(kind string) ([]byte, error) {
	w := s.window
	message, err := w.news.appendSince(s.message(kind), &w.told, s.recent)
	w.told, w.toldAt = w.news, time.Now()
	return message, err
}

// settle replaces a request that is centered on a row by the range that was found, so that the window stays there.
func (w *windowed) settle(at *wish, held *frame) *wish {
	if at.around == "" {
		return at
	}
	settled := &wish{place: held.place}
	if w.wanted.CompareAndSwap(at, settled) {
		return settled
	}
	return at // The window has been moved again in the meantime.
}

// newsWait returns the time until a message that reports only changes outside the window may be sent. It is negative if
// there are no such changes.
func (w *windowed) newsWait() time.Duration {
	if w.news.changes == w.told.changes {
		return -1
	}
	return max(0, newsEvery-time.Since(w.toldAt))
}

// readWindow waits until the rows have changed or the window was moved, and sends the effect on the rows of the window.
// It also returns after a Nudge, which wakes readers without a change. Changes that have left the history are not
// needed, because the rows show their result.
func (s *reading) readWindow(ctx context.Context) ([]byte, error) {
	if !s.behind && s.window.wanted.Load() != s.window.at {
		return s.lookAgain(ctx, time.Time{})
	}
	if !s.behind && s.window.newsWait() == 0 {
		return s.movedMessage()
	}
	changes, next, err := s.informer.NextWithin(ctx, s.alarm, s.cursor, 1)
	since := time.Now()
	switch {
	case errors.Is(err, journal.ErrGone):
		next = s.informer.Now()
	case err != nil:
		return s.silent(err)
	case len(changes) > 0:
		since = changes[0].Time
	case !s.behind:
		s.cursor = next // The reader was woken without a change (journal.Nudge).
		return nil, nil
	}
	if s.behind {
		s.cursor = s.informer.Now() // The window to be sent includes these changes.
		return nil, nil
	}
	if err := s.pauseWindow(ctx); err != nil {
		return nil, err
	}
	before := s.cursor
	s.cursor = next
	message, err := s.lookAgain(ctx, since)
	if err != nil {
		s.cursor = before // These changes must still be sent.
	}
	return message, err
}

// pauseWindow waits for the end of a pause. It returns earlier if the window is moved or something is due. A timer
// event alone proves neither, because the timer may have fired earlier.
func (s *reading) pauseWindow(ctx context.Context) error {
	long := time.Until(s.pace.until)
	if long <= 0 {
		return nil
	}
	ended := time.NewTimer(long)
	defer ended.Stop()
	for {
		select {
		case <-ended.C:
			return nil
		case <-s.rings:
		case <-ctx.Done():
			return ctx.Err()
		}
		due := s.isDue()
		s.alarm() // Starts the wait if necessary.
		s.wind()  // Sets the timer again.
		if due || s.window.wanted.Load() != s.window.at {
			return nil
		}
	}
}

// isDue reports whether a permission recheck, a heartbeat or another message that is not about changes of rows is due.
func (s *reading) isDue() bool {
	silent := !s.waiting.IsZero() && time.Since(s.waiting) >= Heartbeat
	check := !s.until.IsZero() && !time.Now().Before(s.until)
	return silent || check || s.digestDue() || s.window.newsWait() == 0
}

// windowDigest sends a digest of the rows that were sent.
func (s *reading) windowDigest() ([]byte, error) {
	if !s.isTold() {
		return s.movedMessage() // As in read: a digest repeats a cursor that was sent.
	}
	s.due = new(digest)
	for _, row := range s.window.held.rows {
		s.due.add(keyOf(row.object.Namespace(), row.object.Name()), row.object.ResourceVersion())
	}
	return s.digestMessage(), nil
}

// lookAgain sends the differences between the window as it is now and the page that was sent. since is the time of the
// first change.
func (s *reading) lookAgain(ctx context.Context, since time.Time) ([]byte, error) {
	w, at := s.window, s.window.wanted.Load()
	now, err := w.ranking.look(ctx, at)
	if err != nil {
		return nil, err
	}
	if s.filter.present(s.informer).version != s.version {
		return nil, nil // The next call of step sends the reason.
	}
	from, moved := w.held, at != w.at
	w.held, w.at, w.news, s.cursor.Offset = now.frame, w.settle(at, now.frame), now.news, now.offset
	if moved {
		return s.wholeWindow(nil)
	}
	if now.same(from) {
		if w.newsWait() > 0 && !s.waiting.IsZero() {
			s.wind()
		}
		return nil, nil // Changes outside the window may still have to be sent.
	}
	step, err := now.since(from, w.ranking, s.recent)
	if err != nil {
		return nil, err
	}
	s.pace.tell(since)
	if step.whole {
		return s.wholeWindow(nil)
	}
	// All readers of the page share the step. Only the message contains a copy of it, which needs memory.
	if !s.writing.acquire(MessageMemory(len(step.text), true)) {
		return nil, nil
	}
	message, err := s.windowMessage("window-events")
	return append(slices.Grow(message, len(step.text)), step.text...), err
}
