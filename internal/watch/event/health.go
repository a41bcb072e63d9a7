package event

import (
	"bytes"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/journal"
)

// healthText is the JSON member `,"health":{..}` of an event. The text is empty if an update did not change the health.
type healthText struct{ text []byte }

func healthOf(c *Change, cache *Cache) (*healthText, error) {
	h, computed, err := c.Memo.health.Get(func() (*healthText, error) { return newHealth(c, cache) })
	if computed {
		cache.Add(h, len(h.text))
	}
	return h, err
}

func newHealth(c *Change, cache *Cache) (*healthText, error) {
	now, err := objectHealth(c.New, cache)
	if err != nil || c.Op == journal.Add {
		return &healthText{now}, err
	}
	before, err := objectHealth(c.Old, cache)
	if err != nil || bytes.Equal(before, now) {
		return &healthText{}, err
	}
	return &healthText{now}, nil
}

func objectHealth(o *compact.Object, cache *Cache) ([]byte, error) {
	text, err := o.JSON()
	if err != nil {
		return nil, err
	}
	return cache.AppendHealth(nil, text), nil
}

// AppendHealth appends the health of an object to dst, as the JSON member "health". object is the JSON text of the
// object.
func (c *Cache) AppendHealth(dst, object []byte) []byte {
	return AppendMember(dst, "health", c.Health.Of(object))
}
