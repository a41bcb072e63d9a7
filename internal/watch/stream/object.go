package stream

import (
	"context"

	"github.com/glasshouse-project/glasshouse/internal/watch/messages"
)

// object sends the view Object: first the text of the object, and then a patch for each change.
type object struct{ events }

// begin returns the snapshot of the object. If the object does not exist, the snapshot is empty.
func (v *object) begin(context.Context) ([]byte, error) {
	c := v.client
	now := c.informer.VisibleState(c.filter)
	o, ok, cursor := c.informer.Get(c.options.Key)
	if !now.Status.Same(c.sentStatus) || !now.IsUnchanged(c.informer.VisibleState(c.filter)) ||
		!c.buffer.Acquire(messages.ObjectMemory) {
		return nil, nil
	}
	c.position.cursor, c.position.version, c.filter.Columns = cursor, now.Version, now.Columns
	message := c.message("snapshot")
	if ok && c.filter.Match(o) {
		text, err := c.options.GuestMask.Object(o).JSON()
		if err != nil {
			return nil, err
		}
		// messages.ObjectMemory is enough for a text of messages.LargestText bytes. For each further byte, reserve two
		// bytes: one in the text, and one in the message.
		c.buffer.Grow(2 * max(0, int64(len(text))-messages.LargestText))
		message = append(append(message, `,"object":`...), text...)
		message = c.filter.Shown(o).Verdict().AppendMember(c.options.Cache.AppendHealth(message, text))
	}
	return append(message, `,"last":true`...), nil
}
