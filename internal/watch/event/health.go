package event

import (
	"bytes"

	"glasshouse/internal/watch/health"
	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/listwatch"
)

// healthText is the member `,"health":{..}` of an event in JSON: the health of the object after the change. text is
// empty if the change is an update that did not change the health.
type healthText struct{ text []byte }

// healthOf returns the health after a change. It is computed once for all concurrent readers, and only if a reader
// needs it.
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
