package watch

import (
	"bytes"

	"glasshouse/internal/watch/health"
	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/listwatch"
)

// healthText is the encoded member `,"health":{..}` of an event: the health of the object after the change. It is empty
// if an update did not change the health.
type healthText struct{ text []byte }

// healthOf returns the healthText of a change, computed once for all concurrent readers. Only readers of the object
// view call it, so readers of other views do not cause that work.
func healthOf(c *change, cache *encodedCache) (*healthText, error) {
	h, computed, err := c.Memo.health.get(func() (*healthText, error) { return newHealth(c) })
	if computed {
		cache.add(h, len(h.text))
	}
	return h, err
}

func newHealth(c *change) (*healthText, error) {
	now, err := objectHealth(c.New)
	if err != nil || c.Op == journal.Add {
		return &healthText{now}, err
	}
	before, err := objectHealth(c.Old)
	if err != nil || bytes.Equal(before, now) {
		return &healthText{}, err
	}
	return &healthText{now}, nil
}

func objectHealth(o *listwatch.Object) ([]byte, error) {
	text, err := o.JSON()
	if err != nil {
		return nil, err
	}
	return appendHealth(nil, text), nil
}

// appendHealth appends the health of an object to dst as a JSON member.
func appendHealth(dst, object []byte) []byte { return appendMember(dst, "health", health.Of(object)) }
