// Package redact takes out of an object's text what must never be kept, before
// anything else reads it: managedFields, the last-applied-configuration
// annotation (a whole second copy of the object, Secrets included:
// CVE-2023-40029), and masked values. What never came in cannot leak.
//
// It fails closed: a masked member of a type that was not expected is masked
// whole.
package redact

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"sync"

	"glasshouse/internal/watch/rawjson"
)

// LastApplied is the annotation in which client-side apply keeps its input.
const LastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// Memory is what the Redactors of one resource remember together: a keyed digest
// of every masked value, so that a value that changes shows as changed, also to
// the Redactor after the one that saw it before. What is shown (a count of
// changes) says nothing of the value, and A, B, A shows three different masks.
// It holds what was listed and not deleted since. Safe for concurrent use.
type Memory struct {
	key [32]byte // Of this Memory alone, so that digests mean nothing elsewhere.

	mu   sync.Mutex
	seen map[string]object // By UID.
	held int64             // About what it holds, in bytes.
}

// objectHeld and maskHeld are about what an object and a mask hold beside texts.
const (
	objectHeld = 400
	maskHeld   = 60
)

// Weight is about what is remembered, in bytes.
func (m *Memory) Weight() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.held
}

// dropLocked drops what is remembered of the objects that which chooses.
func (m *Memory) dropLocked(which func(uid string, o object) bool) {
	maps.DeleteFunc(m.seen, func(uid string, o object) bool {
		if !which(uid, o) {
			return false
		}
		m.held -= objectHeld + int64(len(uid))
		m.dropMasksLocked(o, func(string) bool { return true })
		return true
	})
}

func (m *Memory) dropMasksLocked(o object, which func(path string) bool) {
	maps.DeleteFunc(o.masks, func(path string, _ mask) bool {
		if !which(path) {
			return false
		}
		m.held -= maskHeld + int64(len(path))
		return true
	})
}

// object is what is known of the masked values of an object, by their path.
type object struct {
	namespace string
	masks     map[string]mask
}

// mask is what is known of a masked value.
type mask struct {
	digest  uint64
	changes int
}

// NewMemory returns a Memory of nothing.
func NewMemory() *Memory {
	m := &Memory{seen: make(map[string]object)}
	_, _ = rand.Read(m.key[:]) // Never fails (crypto/rand).
	return m
}

// Forget drops what is remembered of the objects of namespaces.
func (m *Memory) Forget(which func(namespace string) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dropLocked(func(_ string, o object) bool { return which(o.namespace) })
}

// Redactor redacts the objects of one resource. One list is read at a time;
// otherwise it is safe for concurrent use.
type Redactor struct {
	*Memory

	masked    map[string]bool // Top-level members whose values are masked.
	namespace string          // That is listed; "" is all.
	listed    map[string]bool // UIDs since BeginList; nil outside a list.
	anew      int64           // What was not remembered before the list, in bytes.
}

// Remembered is about how many bytes the list that began last, or tries at it that
// did not end, has added to what is remembered.
func (r *Redactor) Remembered() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.anew
}

// New returns a Redactor for a resource, with a Memory of its own; group is ""
// for the core group.
func New(group, resource string) *Redactor { return NewMemory().Redactor(group, resource, "") }

// Redactor returns a Redactor for a resource, whose lists are of a namespace;
// "" is all.
func (m *Memory) Redactor(group, resource, namespace string) *Redactor {
	r := &Redactor{Memory: m, namespace: namespace}
	if group == "" && resource == "secrets" {
		r.masked = map[string]bool{"data": true, "stringData": true}
	}
	return r
}

// Object appends the redacted text of an object to dst. managed is the text of
// its metadata.managedFields, nil where it has none, and shares raw's bytes.
func (r *Redactor) Object(dst, raw []byte) (clean, managed []byte, err error) {
	var of *subject
	if len(r.masked) > 0 {
		if of, err = subjectOf(raw); err != nil {
			return nil, nil, err
		}
	}
	clean, err = edit(dst, raw, func(out []byte, key string, value []byte) ([]byte, error) {
		switch {
		case key == "metadata":
			out, managed, err = metadata(out, value)
			return out, err
		case r.masked[key]:
			return r.maskAll(out, of, key, value)
		}
		return append(out, value...), nil
	})
	if of != nil {
		r.tidy(of)
	}
	return clean, managed, err
}

// metadata appends an object's metadata without what is dropped. Metadata of
// another type holds nothing that could be kept.
func metadata(dst, raw []byte) (clean, managed []byte, err error) {
	clean, err = edit(dst, raw, func(out []byte, key string, value []byte) ([]byte, error) {
		switch key {
		case "managedFields":
			managed = value
			return nil, nil
		case "annotations":
			return edit(out, value, func(out []byte, key string, value []byte) ([]byte, error) {
				if key == LastApplied {
					return nil, nil
				}
				return append(out, value...), nil
			})
		}
		return append(out, value...), nil
	})
	return clean, managed, err
}

// edit appends the object raw with every value as change appends it; nil drops
// the member. What is no object becomes null.
func edit(dst, raw []byte, change func(out []byte, key string, value []byte) ([]byte, error)) ([]byte, error) {
	c := rawjson.NewCursor(raw)
	if c.Peek() != '{' {
		return append(dst, "null"...), nil
	}
	dst = append(dst, '{')
	first := true
	err := c.Object(func(key []byte) error {
		name := string(key)
		value, err := c.Value()
		if err != nil {
			return err
		}
		out := dst
		if !first {
			out = append(out, ',')
		}
		out = rawjson.AppendString(out, name)
		out = append(out, ':')
		out, err = change(out, name, value)
		if err == nil && out != nil {
			dst, first = out, false
		}
		return err
	})
	if err == nil {
		err = c.End()
	}
	return append(dst, '}'), err
}

// maskAll masks each value of an object by its key, and any other type whole.
func (r *Redactor) maskAll(out []byte, of *subject, path string, value []byte) ([]byte, error) {
	switch c := rawjson.NewCursor(value); c.Peek() {
	case '{':
		return edit(out, value, func(out []byte, key string, value []byte) ([]byte, error) {
			return r.mask(out, of, path+"/"+key, value), nil
		})
	case 'n':
		return append(out, value...), nil // null: there is no value.
	}
	return r.mask(out, of, path, value), nil
}

func (r *Redactor) mask(out []byte, of *subject, path string, value []byte) []byte {
	mac := hmac.New(sha256.New, r.key[:])
	_, _ = fmt.Fprintf(mac, "%q %q ", of.uid, path) // A hash takes every write.
	_, _ = mac.Write(value)
	digest := binary.BigEndian.Uint64(mac.Sum(nil))

	of.paths[path] = true
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen[of.uid].masks == nil {
		r.seen[of.uid] = object{of.namespace, make(map[string]mask)}
		r.holdLocked(objectHeld + int64(len(of.uid)))
	}
	m, known := r.seen[of.uid].masks[path]
	if known && m.digest != digest {
		m.changes++
	}
	if !known {
		r.holdLocked(maskHeld + int64(len(path)))
	}
	m.digest = digest
	r.seen[of.uid].masks[path] = m
	if r.listed != nil {
		r.listed[of.uid] = true
	}
	if m.changes == 0 {
		return append(out, `"(masked)"`...)
	}
	return fmt.Appendf(out, `"(masked, change %d)"`, m.changes)
}

func (r *Redactor) holdLocked(bytes int64) {
	r.held += bytes
	if r.listed != nil {
		r.anew += bytes
	}
}

// spare is how many paths are remembered that an object has no more: a value
// that goes and comes back as another shows as changed.
const spare = 32

// tidy forgets the paths that an object has no more, once they are many.
func (r *Redactor) tidy(of *subject) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if o := r.seen[of.uid]; len(o.masks) > len(of.paths)+spare {
		r.dropMasksLocked(o, func(path string) bool { return !of.paths[path] })
	}
}

// BeginList says that all objects of the namespace follow, EndList that they
// have: what was not among them is forgotten.
func (r *Redactor) BeginList() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.listed == nil {
		r.anew = 0
	}
	r.listed = make(map[string]bool)
}

// EndList ends what BeginList began.
func (r *Redactor) EndList() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.listed != nil {
		r.dropLocked(func(uid string, o object) bool {
			return (r.namespace == "" || r.namespace == o.namespace) && !r.listed[uid]
		})
	}
	r.listed = nil
}

// Deleted drops what is remembered of a deleted object.
func (r *Redactor) Deleted(uid string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if o, known := r.seen[uid]; known {
		r.held -= objectHeld + int64(len(uid))
		r.dropMasksLocked(o, func(string) bool { return true })
		delete(r.seen, uid)
	}
}

// subject is the object that is being redacted.
type subject struct {
	uid, namespace string
	paths          map[string]bool // Of its masked values.
}

func subjectOf(raw []byte) (*subject, error) {
	of := &subject{paths: make(map[string]bool)}
	c := rawjson.NewCursor(raw)
	err := c.Object(func(key []byte) error {
		if string(key) != "metadata" || c.Peek() != '{' {
			return nil
		}
		return c.Object(func(key []byte) (err error) {
			switch string(key) {
			case "uid":
				of.uid, err = c.Text()
			case "namespace":
				of.namespace, err = c.Text()
			}
			return err
		})
	})
	return of, err
}
