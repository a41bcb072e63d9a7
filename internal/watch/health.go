package watch

import (
	"bytes"

	"glasshouse/internal/watch/health"
	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/wire"
)

// healthText is `,"health":{..}` of the object that a change has made, or empty
// where an update has left its health as it was.
type healthText struct{ text []byte }

// healthOf judges the two versions of a change, once for all readers that come
// together. Those who do not look at the object view do not ask.
func healthOf(c *change, recent *recent) (*healthText, error) {
	h, made, err := c.Memo.health.get(func() (*healthText, error) { return newHealth(c) })
	if made {
		recent.hold(h, len(h.text))
	}
	return h, err
}

func newHealth(c *change) (*healthText, error) {
	now, err := judged(c.New)
	if err != nil || c.Op == journal.Add {
		return &healthText{now}, err
	}
	before, err := judged(c.Old)
	if err != nil || bytes.Equal(before, now) {
		return &healthText{}, err
	}
	return &healthText{now}, nil
}

func judged(o *wire.Object) ([]byte, error) {
	text, err := o.JSON()
	if err != nil {
		return nil, err
	}
	return appendHealth(nil, text), nil
}

// appendHealth appends the health of an object as one more member.
func appendHealth(dst, object []byte) []byte { return appendMember(dst, "health", health.Of(object)) }
