package listwatch

import (
	"bytes"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Verdict returns the verdict on the object. Callers must not change it.
func (o *Object) Verdict() verdict.Packed { return o.data[o.ends[4]:o.ends[5]] }

// Reevaluate returns a copy of an object with its verdict at the time now.
func (c *Client) Reevaluate(o *Object, now time.Time) (*Object, error) {
	text, err := o.JSON()
	if err != nil {
		return nil, err
	}
	v := c.health.Evaluate(text, now, o.ManagedTime())
	other := *o
	other.data = append(verdict.Pack(bytes.Clone(o.data[:o.ends[4]]), &v), o.body()...)
	other.ends[5] = uint32(len(other.data) - len(o.body())) //nolint:gosec // The length is far below 4 GiB.
	return &other, nil
}
