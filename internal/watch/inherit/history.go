package inherit

import (
	"bytes"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/event"
	"github.com/glasshouse-project/glasshouse/internal/watch/fieldmanager"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/journal"
	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
)

const (
	// maxSpecChanges is the maximum number of changes that a specChanges keeps.
	maxSpecChanges = 500
	// MaxLimited is the maximum number of these changes of one kind and namespace for which IsLimited is true. Otherwise,
	// a program that creates many objects, or often writes a ConfigMap, would push out all other changes.
	MaxLimited = 10
)

// SpecChange is an update of an object's specification, or the creation or deletion of an object.
type SpecChange struct {
	ID     graph.ID
	Change *event.Change
	// By is the author of a creation, or of an update of an object whose content is not read, such as a ConfigMap. It is
	// nil otherwise.
	By *fieldmanager.Author
	// Parts are the parts of an object without content that By owns, of which at least one has changed.
	Parts []string
}

// IsLimited reports whether a change is a creation, a deletion, or an update of an object whose content is not read,
// such as a ConfigMap. Some programs make many such changes.
func (c *SpecChange) IsLimited() bool { return c.By != nil || c.Change.Op == journal.Delete }

// specChanges keeps the newest changes, the oldest first.
type specChanges struct {
	mu      sync.Mutex
	changes []SpecChange
}

func (s *specChanges) add(c SpecChange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	limited, oldest := 0, 0
	for n := len(s.changes) - 1; n >= 0 && c.IsLimited(); n-- {
		if id := s.changes[n].ID; id.Kind == c.ID.Kind && id.Namespace() == c.ID.Namespace() && s.changes[n].IsLimited() {
			limited, oldest = limited+1, n
		}
	}
	switch {
	case limited == MaxLimited:
		s.changes = slices.Delete(s.changes, oldest, oldest+1)
	case len(s.changes) == maxSpecChanges:
		s.changes = slices.Delete(s.changes, 0, maxSpecChanges/5)
	}
	s.changes = append(s.changes, c)
}

// recordChange keeps a change of a specification. It also keeps a creation or a deletion of an object without an owner,
// and an update of an object whose content is not read, but no such creation or update by a controller.
func (r *reader) recordChange(c *event.Change) {
	s := SpecChange{ID: graph.ID{Kind: r.resource.kind, Key: c.Key}, Change: c}
	if !fieldmanager.HasEditors(r.resource.resource.Resource) || c.Memo.CoverageOnly {
		return
	}
	var isRecorded bool
	switch {
	case c.Op == journal.Add:
		isRecorded = setCreator(&s) && !hasOwner(c.New)
	case c.Op == journal.Delete:
		isRecorded = !hasOwner(c.Old) && !isTerminating(r.Engine, s.ID.Namespace())
	case r.resource.informer.Scope.Metadata:
		isRecorded = setEditor(&s)
	default:
		isRecorded = !c.Old.SameText(c.New) && !compact.SameSpec(c.Old, c.New)
	}
	if isRecorded {
		r.specs.add(s)
	}
}

// setCreator sets the author of a creation. It returns false if the author is a controller, or unknown. An object that
// a list adds has no known author, because it is possibly not new.
func setCreator(s *SpecChange) bool {
	managed := s.Change.Memo.Managed
	if managed == nil {
		return false
	}
	by, isUnambiguous := managed.Newest()
	s.By = &by
	return isUnambiguous && !fieldmanager.IsController(by.Manager)
}

// setEditor sets the author of an update of an object of which only the metadata is read, with the parts that the
// author owns. It returns false if there is no such author, for example because only the labels have changed.
func setEditor(s *SpecChange) bool {
	if s.Change.Memo.Managed == nil {
		return false
	}
	managed, err := s.Change.Memo.Managed.JSON()
	if err != nil {
		return false
	}
	newest := fieldmanager.NewestSpec(managed, fieldmanager.IsController)
	if newest == nil || !newest.Time.After(s.Change.Old.ManagedTime()) {
		return false
	}
	s.By, s.Parts = &newest.Author, newest.Parts
	if !bytes.Equal(stableMetadata(s.Change.Old), stableMetadata(s.Change.New)) {
		s.Parts = append(s.Parts, "metadata")
	}
	return true
}

// stableMetadata returns the metadata of an object without the members that each update changes.
func stableMetadata(o *compact.Object) (metadata []byte) {
	text, _ := o.JSON() // This never fails: objects in the cache are valid.
	c := jsonscan.NewCursor(text)
	_ = c.Object(func(key []byte) error {
		if string(key) != "metadata" {
			return nil
		}
		return c.Object(func(key []byte) error {
			value, err := c.Value()
			if string(key) != "resourceVersion" && string(key) != "generation" {
				metadata = append(append(metadata, key...), value...)
			}
			return err
		})
	})
	return metadata
}

func hasOwner(o *compact.Object) bool {
	text, err := o.JSON()
	return err != nil || len(objectrefs.Owners(text)) > 0
}

// isTerminating reports whether a namespace is being deleted, or does not exist any more. All its objects are then
// deleted with it.
func isTerminating(e *Engine, namespace string) bool {
	if namespace == "" {
		return false
	}
	n := e.Find(graph.NewID(graph.Kind{Kind: "Namespace"}, "", namespace))
	return n.Presence == neighbor.Missing ||
		n.Object != nil && neighbor.Decode[corev1.Namespace](n.Object).DeletionTimestamp != nil
}

// SpecChanges returns the recorded changes since a time, the newest first.
func (e *Engine) SpecChanges(since time.Time) (changes []SpecChange) {
	e.specs.mu.Lock()
	defer e.specs.mu.Unlock()
	for n := len(e.specs.changes) - 1; n >= 0 && !e.specs.changes[n].Change.Time.Before(since); n-- {
		changes = append(changes, e.specs.changes[n])
	}
	return changes
}
