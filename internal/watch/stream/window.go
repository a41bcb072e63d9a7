package stream

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer/shared"
	"github.com/glasshouse-project/glasshouse/internal/watch/journal"
	"github.com/glasshouse-project/glasshouse/internal/watch/messages"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/ranking"
)

// window sends the view Windowed: first a page of a ranking (a sorted list of rows), then the changes of this page.
type window struct {
	client    *client
	requested *query.Window
	ranking   *ranking.Ranking
	release   func()
	sentPage  *ranking.Page
	// answered is the request to which sentPage is the response. Each Move gets a response, even for the same range.
	answered      *query.RangeRequest
	offscreen     ranking.Offscreen // The newest summary of the changes of all rows, also outside the window.
	sentOffscreen ranking.Offscreen // The value of offscreen that was sent last.
	summarySentAt time.Time
}

func (w *window) close() {
	if w.release != nil {
		w.release()
	}
}

// begin returns a message with the columns and all rows of the window.
func (w *window) begin(ctx context.Context) ([]byte, error) {
	c := w.client
	now := c.informer.VisibleState(c.filter)
	if !now.Synced && !now.HasNoRows {
		return nil, nil
	}
	by, err := ranking.ParseSort(w.requested.Sort(), c.filter.ShownColumns(now.Columns))
	if err != nil && len(now.Columns) > 0 {
		return nil, err
	}
	sorted, release, err := c.informer.Rankings.Open(c.informer.Informer, c.options.Owner, c.filter, &now, by)
	if err != nil {
		return nil, err
	}
	w.close()
	w.ranking, w.release = sorted, release
	request := w.requested.Request()
	var view ranking.View
	// Use the scan limiter: View must sort all rows of the resource, unless another window already uses the same ranking
	// (a sorted list of rows).
	err = c.scan(ctx, func() (err error) {
		view, err = sorted.View(ctx, request)
		return err
	})
	if err != nil {
		return nil, err
	}
	if later := c.informer.VisibleState(c.filter); later.Version != now.Version || later.HasNoRows != now.HasNoRows {
		return nil, nil // Discard the page, because the permissions or columns changed during the read.
	}
	if view.Counts.Total == 0 {
		if err := c.options.Check(ctx); err != nil {
			return nil, err
		}
	}
	w.sentPage, w.answered = view.Page, w.fixRange(request, view.Page)
	w.offscreen, w.sentOffscreen, c.schedule.summaryAt = view.Offscreen, view.Offscreen, time.Time{}
	c.position.cursor.Offset, c.position.version = view.Offset, now.Version
	columns, err := messages.AppendColumns(nil, c.filter.ShownColumns(now.Columns))
	if err != nil {
		return nil, err
	}
	return w.fullMessage(columns)
}

// fixRange changes a request for the rows around an object to a request for the page's range, so that the window keeps
// this range even if the object's row moves.
func (w *window) fixRange(request *query.RangeRequest, page *ranking.Page) *query.RangeRequest {
	if request.Around == "" {
		return request
	}
	fixed := &query.RangeRequest{Range: page.Range}
	if w.requested.ReplaceRequest(request, fixed) {
		return fixed
	}
	return request // The window was moved again during the read, so keep its newer request.
}

// read waits until rows have changed or the window was moved, and returns an update. It does not need all changes since
// the last update, because it compares the present page with the sent one.
func (w *window) read(ctx context.Context, _ uint64) ([]byte, error) {
	c := w.client
	switch {
	case w.isMoved():
		return w.update(ctx, time.Time{})
	case isDue(c.schedule.summaryAt):
		return w.cursorMessage()
	}
	before := c.position.cursor
	changes, next, err := c.informer.NextWithin(ctx, c.schedule.start, before, 1)
	since := time.Now()
	switch {
	case errors.Is(err, journal.ErrGone):
		next = c.informer.Now()
	case err != nil:
		return nil, err
	case len(changes) == 0:
		c.position.cursor = next
		return nil, nil
	default:
		since = changes[0].Time
	}
	if err := w.pause(ctx); err != nil {
		return nil, err
	}
	c.position.cursor = next
	message, err := w.update(ctx, since)
	if err != nil {
		c.position.cursor = before // After an error, read these changes again, because they were not sent.
	}
	return message, err
}

func (w *window) isMoved() bool { return w.requested.Request() != w.answered }

// pause waits for the end of a coalescing pause, or until the window is moved or a message is due.
func (w *window) pause(ctx context.Context) error {
	schedule := &w.client.schedule
	duration := time.Until(w.client.coalescer.until)
	if duration <= 0 {
		return nil
	}
	timer := time.NewTimer(duration)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			return nil
		// A wake-up does not always end the wait: the code below checks whether a message is due or the window was moved.
		case <-schedule.wakeups:
		case <-ctx.Done():
			return ctx.Err()
		}
		due := schedule.isAnyDue()
		schedule.start()
		schedule.reset()
		if due || w.isMoved() {
			return nil
		}
	}
}

// update returns the differences between the sent and the current rows. The first change was at changedAt.
func (w *window) update(ctx context.Context, changedAt time.Time) ([]byte, error) {
	c, request := w.client, w.requested.Request()
	now, err := w.ranking.View(ctx, request)
	if err != nil {
		return nil, err
	}
	if !c.isCurrent() {
		return nil, nil
	}
	from, moved := w.sentPage, request != w.answered
	w.sentPage, w.answered = now.Page, w.fixRange(request, now.Page)
	w.offscreen, c.position.cursor.Offset = now.Offscreen, now.Offset
	if w.offscreen.Changes != w.sentOffscreen.Changes {
		c.schedule.summaryAt = w.summarySentAt.Add(ranking.OffscreenEvery)
	}
	if moved {
		return w.fullMessage(nil)
	}
	if now.Equal(from) {
		if !c.schedule.waitingSince.IsZero() {
			c.schedule.reset()
		}
		return nil, nil
	}
	diff, err := now.DiffFrom(from, w.ranking, c.options.Cache)
	if err != nil {
		return nil, err
	}
	c.coalescer.recordStart(changedAt)
	if diff.IsFullPage {
		return w.fullMessage(nil)
	}
	// Reserve memory for the copy of diff in this message. All readers share the text of diff itself.
	if !c.buffer.Acquire(messages.Memory(len(diff.Text), true)) {
		return nil, nil
	}
	message, err := w.message("window-events")
	return append(slices.Grow(message, len(diff.Text)), diff.Text...), err
}

// fullMessage returns a message with all rows of the window.
func (w *window) fullMessage(columns []byte) ([]byte, error) {
	bytes := int64(messages.CompressorMemory)
	for _, row := range w.sentPage.Rows {
		bytes += 3 * int64(row.Object.RowSize())
	}
	if !w.client.buffer.Acquire(bytes) {
		return nil, nil
	}
	text, err := w.sentPage.Encode(!w.client.filter.HidesExtra)
	if err != nil {
		return nil, err
	}
	message, err := w.message("window")
	if err != nil {
		return nil, err
	}
	return append(append(slices.Grow(message, len(columns)+len(text)), columns...), text...), nil
}

func (w *window) cursorMessage() ([]byte, error) {
	message, err := w.message("window-events")
	return append(w.sentPage.Counts.Append(message), `,"events":[]`...), err
}

// message starts a message of the given type. It adds a summary of those changes in the sorted list that were not sent
// yet.
func (w *window) message(messageType string) ([]byte, error) {
	c := w.client
	message, err := w.offscreen.AppendUnsent(c.message(messageType), &w.sentOffscreen, c.options.Cache)
	w.sentOffscreen, w.summarySentAt, c.schedule.summaryAt = w.offscreen, time.Now(), time.Time{}
	return message, err
}

// digest returns a hash of the rows of the window that was sent, and not of all rows that the filter matches.
func (w *window) digest(context.Context) (*shared.Digest, error) {
	d := &shared.Digest{Offset: w.client.position.cursor.Offset}
	for _, row := range w.sentPage.Rows {
		d.Add(informer.Key(row.Object.Namespace(), row.Object.Name()), row.Object.ResourceVersion())
	}
	return d, nil
}
