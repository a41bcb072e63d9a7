package compact

import (
	"bytes"

	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
)

// SameSpec reports whether two versions of an object have the same specification: all members except the metadata and
// the status.
func SameSpec(before, after *Object) bool {
	old, _ := before.JSON() // This never fails: objects in the cache are valid.
	text, _ := after.JSON()
	return bytes.Equal(specOf(old), specOf(text))
}

// specOf returns an object's text without its status and metadata.
func specOf(text []byte) (spec []byte) {
	c := jsonscan.NewCursor(text)
	_ = c.Object(func(key []byte) error {
		switch string(key) {
		case "status", "metadata", "kind", "apiVersion":
			return nil
		}
		value, err := c.Value()
		spec = append(spec, value...)
		return err
	})
	return spec
}
