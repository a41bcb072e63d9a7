package inherit

import (
	"bytes"
	"sync"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/event"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
)

// maxSpecChanges is the maximum number of changes that a specChanges keeps.
const maxSpecChanges = 500

// SpecChange is an update of an object's specification.
type SpecChange struct {
	ID     graph.ID
	Change *event.Change
}

// specChanges keeps the newest changes of specifications, the oldest first.
type specChanges struct {
	mu      sync.Mutex
	changes []SpecChange
}

// record keeps an update if it changes the object's specification, data, or rules.
func (s *specChanges) record(kind graph.Kind, c *event.Change) {
	if c.Old == nil || c.New == nil || !hasSpec(kind) || c.Old.SameText(c.New) || !specDiffers(c.Old, c.New) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.changes) == maxSpecChanges {
		s.changes = append(s.changes[:0], s.changes[maxSpecChanges/5:]...)
	}
	s.changes = append(s.changes, SpecChange{graph.ID{Kind: kind, Key: c.Key}, c})
}

// hasSpec reports whether the history records changes of the specifications of a kind. It omits kinds whose objects are
// usually written by controllers, such as pods.
func hasSpec(kind graph.Kind) bool {
	switch kind.Kind {
	case "Pod", "Event", "ReplicaSet", "EndpointSlice", "Endpoints", "VolumeAttachment", "APIService", "Lease":
		return false
	}
	return true
}

func specDiffers(before, after *compact.Object) bool {
	old, err := before.JSON()
	if err != nil {
		return false
	}
	text, err := after.JSON()
	return err == nil && !bytes.Equal(specOf(old), specOf(text))
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

// SpecChanges returns the recorded changes of specifications since a time, the newest first.
func (e *Engine) SpecChanges(since time.Time) (changes []SpecChange) {
	e.specs.mu.Lock()
	defer e.specs.mu.Unlock()
	for n := len(e.specs.changes) - 1; n >= 0 && !e.specs.changes[n].Change.Time.Before(since); n-- {
		changes = append(changes, e.specs.changes[n])
	}
	return changes
}
