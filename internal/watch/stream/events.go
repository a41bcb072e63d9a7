package stream

import (
	"bytes"
	"context"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/event"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer/shared"
	"github.com/glasshouse-project/glasshouse/internal/watch/journal"
	"github.com/glasshouse-project/glasshouse/internal/watch/messages"
)

// events contains what all views except Windowed have in common: they send changes as events.
type events struct {
	client *client
	encode func(*event.Change, *event.Cache) ([]byte, error)
}

func (e *events) read(ctx context.Context, lastOffset uint64) ([]byte, error) {
	changes, next, err := changeSource{e.client}.next(ctx, lastOffset)
	if err != nil || !e.client.buffer.Acquire(e.memory(changes)) {
		return nil, err
	}
	// Advance the cursor even if no message follows. Otherwise, these changes would be read again.
	e.client.position.cursor = next
	if len(changes) == 0 || !e.client.isCurrent() {
		return nil, nil // No changes, or a new snapshot includes them, so send no events.
	}
	texts, err := e.texts(changes)
	if err != nil || len(texts) == 0 {
		return nil, err
	}
	e.client.coalescer.recordStart(changes[0].Time)
	return appendEvents(e.client.message("events"), texts), nil
}

func appendEvents(message []byte, events [][]byte) []byte {
	message = append(message, `,"events":[`...)
	for n, event := range events {
		if n > 0 {
			message = append(message, ',')
		}
		message = append(message, event...)
	}
	return append(message, ']')
}

// texts encodes changes as events. In a view of rows, readers that send the same batch share one text.
func (e *events) texts(changes []*event.Change) ([][]byte, error) {
	c := e.client
	if !c.options.View.hasRows() || len(changes) == 1 {
		return e.encodeAll(changes)
	}
	key := shared.BatchKey{
		View: string(c.options.View), Filter: c.id(), Version: c.position.version,
		From: changes[0].Offset, To: changes[len(changes)-1].Offset,
	}
	text, err := c.informer.Batches.Text(key, func() (*[]byte, error) {
		texts, err := e.encodeAll(changes)
		text := bytes.Join(texts, []byte{','})
		return &text, err
	})
	if err != nil || len(*text) == 0 {
		return nil, err
	}
	c.buffer.KeepShared(text)
	return [][]byte{*text}, nil
}

// encodeAll encodes changes as events. In the Changes view, it stops when the events fill one message.
func (e *events) encodeAll(changes []*event.Change) ([][]byte, error) {
	everyChange := e.client.options.View == Changes
	if !everyChange {
		changes = event.Fold(changes)
	}
	texts, size := make([][]byte, 0, len(changes)), 0
	for _, c := range changes {
		text, err := e.event(c)
		if err != nil {
			return nil, err
		}
		if text != nil {
			texts = append(texts, text)
		}
		if size += len(text); everyChange && size > messages.PartBytes {
			e.client.position.cursor = journal.At(c.Offset)
			break
		}
	}
	return texts, nil
}

// event encodes a change as an event for this client. It returns nil if the client cannot see the change.
func (e *events) event(c *event.Change) ([]byte, error) {
	options := &e.client.options
	if options.Key != "" && c.Key != options.Key {
		return nil, nil
	}
	if c = e.client.filter.VisibleChange(c); c == nil {
		return nil, nil
	}
	if options.GuestMask != nil && !options.View.hasRows() {
		var err error
		if c, err = event.Masked(c, options.GuestMask, options.Cache); err != nil {
			return nil, err
		}
	}
	return e.encode(c, options.Cache)
}

// memory estimates the memory, in bytes, of a message with the changes.
func (e *events) memory(changes []*event.Change) (bytes int64) {
	options := &e.client.options
	if options.View == Object && len(changes) > 0 {
		bytes = messages.CompressorMemory
	}
	for _, c := range changes {
		switch {
		case options.Key != "" && c.Key != options.Key:
		case !options.View.hasRows():
			bytes += textSize(c.Old) + textSize(c.New)
		case c.New != nil:
			bytes += int64(c.New.RowSize())
		}
	}
	return bytes
}

// textMultiple is the assumed ratio of text size to compressed size of an object. It can be too low: 10 was measured.
const textMultiple = 8

func textSize(o *compact.Object) int64 {
	if o == nil {
		return 0
	}
	return int64(o.Size() * textMultiple)
}

func (e *events) cursorMessage() ([]byte, error) { //nolint:unparam // window.cursorMessage can return an error.
	return append(e.client.message("events"), `,"events":[]`...), nil
}

func (e *events) digest(ctx context.Context) (d *shared.Digest, err error) {
	c := e.client
	err = c.scan(ctx, func() error {
		d = c.informer.Digest(ctx, c.filter, c.id(), c.position.cursor.Offset)
		if d == nil {
			return ctx.Err()
		}
		return nil
	})
	return d, err
}

func (*events) close() {}
