// Package stream sends the objects of an informer to clients: first a snapshot, and then the changes. A Reader stores
// only its position, so a slow client needs no memory for pending changes.
package stream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer/shared"
	"github.com/glasshouse-project/glasshouse/internal/watch/journal"
	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
	"github.com/glasshouse-project/glasshouse/internal/watch/messages"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

const (
	// Heartbeat is the maximum time between two messages. After this time, a Subscription sends a heartbeat message.
	Heartbeat = 15 * time.Second
	batch     = 1000
)

// ErrClosed means that the resource is no longer watched because the program is stopping, or that the Subscription is
// closed.
var ErrClosed = errors.New("the resource is no longer watched")

// Reader sends one client the objects that a filter matches, and their changes. Only one goroutine may use it.
type Reader struct {
	Filter *query.Filter
	client client
	view   view

	needsSnapshot bool
	started       bool           // The client has data, because it received a snapshot or has resumed from a cursor.
	digest        *shared.Digest // The next digest (a hash of the rows). It is sent after the changes that it includes.
	resetMessage  []byte
}

// New returns a reader that starts with a snapshot. To start with changes instead, call ResumeFrom.
func New(options *Options) *Reader {
	options.Informer.Readers.Add(1)
	r := &Reader{needsSnapshot: true, Filter: options.Filter, client: client{
		informer: options.Informer, filter: options.Filter, options: *options,
		position: position{
			informer: options.Informer, filter: options.Filter, cipher: options.Cipher,
			everyChange: options.View == Changes,
		},
		schedule:  newSchedule(options.Window),
		coalescer: coalescer{every: options.Every},
		buffer:    messages.Buffer{Pool: options.Buffers, Slots: options.Slots, Reserve: options.Reserve},
	}}
	r.view = newView(&r.client)
	return r
}

// Close ends the reader. It does not release the informer.
func (r *Reader) Close() {
	r.client.schedule.timer.Stop()
	r.client.buffer.Release()
	r.view.close()
	r.client.informer.Readers.Add(-1)
}

// IsCurrent reports whether the sent data is still valid. For example, a lost permission makes it invalid.
func (r *Reader) IsCurrent() bool { return r.client.isCurrent() }

// RepeatStatus makes Next send the status again, even if it has not changed.
func (r *Reader) RepeatStatus() { r.client.sentStatus = status.Status{} }

// ResumeFrom makes the reader start after a cursor. If that is impossible, it sends a reset and a snapshot.
func (r *Reader) ResumeFrom(cursor string) {
	now := r.client.informer.VisibleState(r.Filter)
	r.Filter.Columns = now.Columns
	if err := r.client.position.resume(cursor, now.Version); err != nil {
		r.Restart(err.Error())
		return
	}
	r.recordStarted()
}

// Restart resets a reader whose client already has data from an earlier reader. See Reset.
func (r *Reader) Restart(reason string) {
	r.started = true
	r.Reset(reason)
}

// Reset discards everything unsent, and starts again. A client that has data gets a reset message before the
// snapshot.
func (r *Reader) Reset(reason string) {
	r.needsSnapshot, r.digest, r.client.unsent = true, nil, nil
	if r.started {
		r.client.informer.Resets.Add(1)
		r.resetMessage = jsonscan.AppendString([]byte(`"type":"reset","reason":`), reason)
	}
}

// Next waits for the next message, and returns it without its id and braces. The message is valid until the next
// call. At the deadline, Next returns nil.
func (r *Reader) Next(ctx context.Context, deadline time.Time) ([]byte, error) {
	c := &r.client
	c.schedule.recheckAt = deadline
	c.coalescer.recordSent()
	c.buffer.SetContext(ctx)
	if r.Filter.IsRestricted {
		// Start the timer before waiting. Otherwise, the time of the next heartbeat could reveal a hidden change.
		c.schedule.start()
	}
	for {
		// Release the reserved memory only after the last part of a snapshot: the list of rows uses it until then.
		if c.unsent == nil {
			c.buffer.Release()
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if isDue(c.schedule.recheckAt) {
			return nil, nil //nolint:nilnil // Allowed: Next may return neither a message nor an error.
		}
		message, err := r.advance(ctx)
		if message != nil {
			c.schedule.waitingSince = time.Time{}
		}
		if message != nil || err != nil {
			c.buffer.Store(message, c.options.View.IsPlain(message))
			return message, err
		}
	}
}

// advance returns the next message that is due, or nil if there is none yet.
func (r *Reader) advance(ctx context.Context) ([]byte, error) {
	if message := r.resetMessage; message != nil {
		r.resetMessage = nil
		return message, nil
	}
	c := &r.client
	now := c.informer.VisibleState(r.Filter)
	switch {
	case !now.Status.Same(c.sentStatus):
		c.sentStatus = now.Status
		return r.StateMessage(now.Status)
	case !r.needsSnapshot && now.Version != c.position.version, c.unsent != nil && now.HasNoRows:
		c.position.version = now.Version
		r.Reset("the resource was served again, its columns changed, or permissions were lost")
		return nil, nil
	// This case is after the case of the status, so that a new status is sent between two parts of a snapshot.
	case c.unsent != nil && !c.buffer.Acquire(messages.PartMemory):
		return nil, nil
	case c.unsent != nil:
		return c.unsent.next()
	case r.needsSnapshot && r.canBegin(&now):
		return r.beginSnapshot(ctx)
	case r.needsSnapshot:
		return r.finishWait(nil, r.awaitChange(ctx))
	case r.digest == nil && isDue(c.schedule.digestAt):
		return nil, r.computeDigest(ctx)
	case r.digest == nil:
		return r.finishWait(r.view.read(ctx, math.MaxUint64))
	case r.digest.Offset > c.position.cursor.Offset:
		return r.finishWait(r.view.read(ctx, r.digest.Offset))
	}
	return r.digestMessage()
}

// StateMessage returns the message that sends a status to the client.
func (r *Reader) StateMessage(current status.Status) ([]byte, error) {
	text, err := json.Marshal(struct {
		Type string `json:"type"`
		status.Status
	}{"state", current})
	if err != nil {
		return nil, fmt.Errorf("encode the watch state: %w", err)
	}
	return text[1 : len(text)-1], nil
}

// canBegin reports whether a snapshot can be sent. While the informer is not synced, only an empty snapshot can be
// sent, to remove rows that the client has. The Changes view waits until the informer is synced.
func (r *Reader) canBegin(now *informer.State) bool {
	if now.Synced || !r.started || !now.HasNoRows || r.client.options.View == Changes {
		return now.Synced
	}
	listing, _ := r.client.informer.Objects(r.Filter, 0)
	return len(listing.Objects) == 0
}

func (r *Reader) beginSnapshot(ctx context.Context) ([]byte, error) {
	message, err := r.view.begin(ctx)
	if message == nil || err != nil {
		r.client.unsent = nil
		return nil, err
	}
	r.recordStarted()
	return message, nil
}

// recordStarted records that the client gets the first data now. After that, it needs changes, not a snapshot.
func (r *Reader) recordStarted() {
	r.needsSnapshot, r.started = false, true
	if r.client.options.View.hasRows() {
		r.client.scheduleDigest()
	}
}

// awaitChange waits for a change before a snapshot. It skips all changes so far, because the snapshot includes them.
func (r *Reader) awaitChange(ctx context.Context) error {
	c := &r.client
	_, _, err := c.informer.NextWithin(ctx, c.schedule.start, c.position.cursor, 1)
	c.position.cursor = c.informer.Now()
	if errors.Is(err, journal.ErrGone) {
		return nil
	}
	return err
}

// computeDigest computes the next digest (a hash of the rows). The digest can include changes that were not sent yet.
func (r *Reader) computeDigest(ctx context.Context) (err error) {
	if r.digest, err = r.view.digest(ctx); err == nil {
		r.client.scheduleDigest()
	}
	return err
}

// digestMessage returns the digest. If the client does not have the newest cursor yet, it returns a message with this
// cursor instead, because a digest must repeat the last cursor.
func (r *Reader) digestMessage() ([]byte, error) {
	if !r.client.position.isCaughtUp() {
		return r.view.cursorMessage()
	}
	d := r.digest
	r.digest = nil
	r.client.scheduleDigest()
	return fmt.Appendf(r.client.message("digest"), `,"count":%d,"digest":%q`, d.Count, d.Text()), nil
}

// finishWait returns the message, or handles the error of the wait for the message. For example, if there was no change
// in time, finishWait returns a heartbeat.
func (r *Reader) finishWait(message []byte, err error) ([]byte, error) {
	switch {
	case errors.Is(err, journal.ErrNoChange):
		return r.heartbeat()
	case errors.Is(err, journal.ErrClosed):
		return nil, r.client.options.EndError
	case errors.Is(err, journal.ErrGone):
		if r.IsCurrent() {
			r.Reset("the missed changes are no longer in the history")
		}
		return nil, nil
	}
	return message, err
}

// heartbeat returns a heartbeat if one is due. If the client does not have the newest cursor yet, heartbeat returns a
// message with this cursor instead.
func (r *Reader) heartbeat() ([]byte, error) {
	switch {
	// The wait ended for another reason, such as a digest or a moved window. The next call of advance handles it.
	case !r.client.schedule.isHeartbeatDue():
		r.client.schedule.reset()
		return nil, nil
	case r.needsSnapshot:
		return []byte(`"type":"heartbeat","cursor":""`), nil // No cursor exists before the snapshot.
	case !r.client.position.isCaughtUp():
		return r.view.cursorMessage()
	}
	return r.client.message("heartbeat"), nil
}
