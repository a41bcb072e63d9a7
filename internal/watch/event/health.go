package event

import (
	"bytes"

	"glasshouse/internal/watch/health"
	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/listwatch"
)

// healthText contains the health of an object after a change, as the JSON member `,"health":{..}` of an event. It is
// empty if the change is an update that did not change the health.
type healthText struct{ text []byte }

// healthOf returns the health of an object after a change. It is computed when the first reader needs it, and shared
// by all readers at that time.
func healthOf(c *Change, cache *Cache) (*healthText, error) {
	h, computed, err := c.Memo.health.Get(func() (*healthText, error) { return newHealth(c) })
	if computed {
		cache.Add(h, len(h.text))
	}
	return h, err
}

func newHealth(c *Change) (*healthText, error) {
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
	return AppendHealth(nil, text), nil
}

// AppendHealth computes the health of an object and appends it to dst as a JSON member. object is its JSON text.
func AppendHealth(dst, object []byte) []byte { return AppendMember(dst, "health", health.Of(object)) }
