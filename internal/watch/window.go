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
	// maxWindow is how many rows a window has at most.
	maxWindow = 1000
	// maxOffset is where one begins at the latest.
	maxOffset = 1 << 30
)

// A Window is the part of the rows, in the order of a sort, that the view
// window tells. It may be moved by anybody at any time, and is for one
// Subscription.
type Window struct {
	sort   string
	wanted atomic.Pointer[wish]
	rings  chan time.Time // Wakes the Subscription.
}

// NewWindow returns a window of count rows from an offset on. The sort is a
// column's name in lower case, or namespace; "-" before it turns it round, and
// without one the order is that of namespace and name.
func NewWindow(sort string, offset, count int) (*Window, error) {
	w := &Window{sort: sort, rings: make(chan time.Time, 1)}
	return w, w.Move(offset, count, "", "")
}

// Move asks for other rows, or the same: they are told as a whole. Who moves
// again before that is told the newest. Where the row of an object is named and
// among them, that is in the middle, and the offset does not count.
func (w *Window) Move(offset, count int, namespace, name string) error {
	if offset < 0 || offset > maxOffset || count < 1 || count > maxWindow {
		return invalid("Not a window", "offset is %d and count %d; a window begins at an offset from 0 to %d, and has from 1 to %d rows.", offset, count, maxOffset, maxWindow)
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
	default: // It rings already.
	}
}

// windowed is what a Subscription to a window holds beside its cursor.
type windowed struct {
	*Window

	viewer  holder
	ranking *ranking
	letGo   func() // Of the ranking; nil where there is none.
	held    *frame // What was told.
	at      *wish  // Where that is: the wish itself, as each is answered.
	news    news   // What has happened,
	told    news   // and what of it was told,
	toldAt  time.Time
}

func (w *windowed) close() {
	if w.letGo != nil {
		w.letGo()
	}
}

// beginWindow tells the window as it is now, with the columns.
func (s *reading) beginWindow(ctx context.Context) ([]byte, error) {
	now := s.filter.present(s.informer)
	if !now.synced && !now.none {
		return nil, nil // They come in a moment.
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
		return nil, nil // What was read may not be seen any more.
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

// firstLook is what is at a place, for which all rows may have to be put in order.
func (s *reading) firstLook(ctx context.Context, at *wish) (look, error) {
	leave, err := s.inTurn(ctx)
	if err != nil {
		return look{}, err
	}
	defer leave()
	return s.window.ranking.look(ctx, at)
}

// wholeWindow tells all of the window that is held.
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

// windowMessage begins a message, with what has happened since the last.
func (s *reading) windowMessage(kind string) ([]byte, error) {
	w := s.window
	message, err := w.news.appendSince(s.message(kind), &w.told, s.recent)
	w.told, w.toldAt = w.news, time.Now()
	return message, err
}

// settle says that a window which went after a row stays where that was.
func (w *windowed) settle(at *wish, held *frame) *wish {
	if at.around == "" {
		return at
	}
	settled := &wish{place: held.place}
	if w.wanted.CompareAndSwap(at, settled) {
		return settled
	}
	return at // There is another wish by now.
}

// newsWait is how long it is until news alone may be told; negative where there
// are none.
func (w *windowed) newsWait() time.Duration {
	if w.news.changes == w.told.changes {
		return -1
	}
	return max(0, newsEvery-time.Since(w.toldAt))
}

// readWindow waits for changes, for a nudge, or for the window to be moved, and
// tells what that makes of it. What was missed need not be read: the window tells.
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
		s.cursor = next // A nudge.
		return nil, nil
	}
	if s.behind {
		s.cursor = s.informer.Now() // What has come is in the window that will be told.
		return nil, nil
	}
	if err := s.pauseWindow(ctx); err != nil {
		return nil, err
	}
	before := s.cursor
	s.cursor = next
	message, err := s.lookAgain(ctx, since)
	if err != nil {
		s.cursor = before // What has come is to be told still.
	}
	return message, err
}

// pauseWindow waits for the end of a pause, but no longer than until the window is moved
// or something is due. A ring alone says neither: it may have been left from before.
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
		s.alarm() // Once it has begun to wait,
		s.wind()  // the alarm is set anew.
		if due || s.window.wanted.Load() != s.window.at {
			return nil
		}
	}
}

// isDue reports whether something else than a change is to be sent, or checked.
func (s *reading) isDue() bool {
	silent := !s.waiting.IsZero() && time.Since(s.waiting) >= Heartbeat
	check := !s.until.IsZero() && !time.Now().Before(s.until)
	return silent || check || s.digestDue() || s.window.newsWait() == 0
}

// windowDigest is a digest of the rows that were told.
func (s *reading) windowDigest() ([]byte, error) {
	if !s.isTold() {
		return s.movedMessage() // As with other views.
	}
	s.due = new(digest)
	for _, row := range s.window.held.rows {
		s.due.add(keyOf(row.object.Namespace(), row.object.Name()), row.object.ResourceVersion())
	}
	return s.digestMessage(), nil
}

// lookAgain tells how the window differs from what was told, by changes since a
// time.
func (s *reading) lookAgain(ctx context.Context, since time.Time) ([]byte, error) {
	w, at := s.window, s.window.wanted.Load()
	now, err := w.ranking.look(ctx, at)
	if err != nil {
		return nil, err
	}
	if s.filter.present(s.informer).version != s.version {
		return nil, nil // The next step says why.
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
		return nil, nil // But perhaps news.
	}
	step, err := now.since(from, w.ranking, s.recent)
	if err != nil {
		return nil, err
	}
	s.pace.tell(since)
	if step.whole {
		return s.wholeWindow(nil)
	}
	// All readers of the frame share the step. Only the message has a copy of it.
	if !s.writing.acquire(MessageMemory(len(step.text), true)) {
		return nil, nil
	}
	message, err := s.windowMessage("window-events")
	return append(slices.Grow(message, len(step.text)), step.text...), err
}
