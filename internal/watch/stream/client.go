package stream

import (
	"context"

	"github.com/glasshouse-project/glasshouse/internal/watch/informer/shared"
	"github.com/glasshouse-project/glasshouse/internal/watch/messages"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

// client is the state of one client: its request, what it has received, and the message that is being built.
type client struct {
	informer   *shared.Informer
	filter     *query.Filter
	filterID   query.FilterID // Set by the first call of the method id.
	options    Options
	sentStatus status.Status
	position   position
	schedule   schedule
	coalescer  coalescer
	buffer     messages.Buffer
	unsent     *rowList // The rows of the snapshot that are not sent yet; nil for none.
}

// message returns the start of a message: its type and the client's cursor.
func (c *client) message(messageType string) []byte {
	text := append(c.buffer.Borrow(), `"type":"`...)
	text = append(append(text, messageType...), `","cursor":"`...)
	return append(c.position.appendCursor(text, messageType == "heartbeat" || messageType == "digest"), '"')
}

// isCurrent reports whether the data that was sent is still valid, see Reader.IsCurrent.
func (c *client) isCurrent() bool {
	return c.informer.VisibleState(c.filter).Version == c.position.version
}

// scan waits until the scan limiter allows work that keeps a processor busy, and then calls read.
func (c *client) scan(ctx context.Context, read func() error) error {
	release, err := c.options.AcquireScan(ctx)
	if err != nil {
		return err
	}
	defer release()
	return read()
}

// id returns the ID of the client's filter.
func (c *client) id() query.FilterID {
	if c.filterID == (query.FilterID{}) {
		c.filterID = c.filter.ID()
	}
	return c.filterID
}

// scheduleDigest sets the time of the next digest (a hash of the rows).
func (c *client) scheduleDigest() { c.schedule.digestAt = c.informer.NextDigest(c.id()) }
