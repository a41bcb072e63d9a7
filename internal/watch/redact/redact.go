// Package redact removes from an object's text what must never be stored, before anything else reads it.
// In the object, and in every object or template within it, it drops managedFields and the annotations in which
// tools store a whole copy of what they applied, Secrets included (CVE-2023-40029). It masks the values of
// Secrets and of Helm's releases, and what Rules say. What never came in cannot leak. A Veil masks on the way
// out, where some viewers may see less than others of what is stored.
//
// It fails closed: what is of another type than a rule expects is masked whole.
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
	seen map[string]object // By identity.
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
func (m *Memory) dropLocked(which func(id string, o object) bool) {
	maps.DeleteFunc(m.seen, func(id string, o object) bool {
		if !which(id, o) {
			return false
		}
		m.held -= objectHeld + int64(len(id))
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

	rules     []Rule
	namespace string          // That is listed; "" is all.
	listed    map[string]bool // Who was listed since BeginList; nil outside a list.
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
func New(rules Rules, group, resource string) *Redactor {
	return NewMemory().Redactor(rules, group, resource, "")
}

// Redactor returns a Redactor for a resource, whose lists are of a namespace;
// "" is all. What is masked always is so whatever the rules.
func (m *Memory) Redactor(rules Rules, group, resource, namespace string) *Redactor {
	return &Redactor{Memory: m, namespace: namespace, rules: append(always(), rules...).of(group, resource)}
}

// Redacted is an object without what must not be kept.
type Redacted struct {
	Text    []byte   // Of the object, as JSON.
	Managed []byte   // Of its metadata.managedFields, nil where it has none, or masked values. It shares the object's bytes.
	Masked  []string // What was masked, as JSON Pointers (RFC 6901).
	Dropped []string // The annotations that were dropped, likewise.
}

// Object redacts an object. The text is appended to dst.
func (r *Redactor) Object(dst, raw []byte) (Redacted, error) {
	c := rawjson.NewCursor(raw)
	redacted, err := r.Next(dst, c)
	if err == nil {
		err = c.End()
	}
	return redacted, err
}

// Next redacts the object at a cursor, which it moves behind it. The text is
// appended to dst.
func (r *Redactor) Next(dst []byte, c *rawjson.Cursor) (Redacted, error) {
	var of *subject
	if len(r.rules) > 0 {
		var err error
		if of, err = subjectOf(*c); err != nil {
			return Redacted{}, err
		}
	}
	w := &walker{rules: r.rules, mask: func(out []byte, path string, value []byte) []byte { return r.mask(out, of, path, value) }}
	text, err := w.walk(dst, c, of)
	if of != nil {
		r.tidy(of)
	}
	if w.manages() {
		w.managed = nil // Nobody is named as the author; else somebody could read on what.
	}
	return Redacted{Text: text, Managed: w.managed, Masked: w.masked, Dropped: w.dropped}, err
}

func (r *Redactor) mask(out []byte, of *subject, path string, value []byte) []byte {
	mac := hmac.New(sha256.New, r.key[:])
	_, _ = fmt.Fprintf(mac, "%q %q ", of.id, path) // A hash takes every write.
	_, _ = mac.Write(value)
	digest := binary.BigEndian.Uint64(mac.Sum(nil))

	of.paths[path] = true
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen[of.id].masks == nil {
		r.seen[of.id] = object{of.namespace, make(map[string]mask)}
		r.holdLocked(objectHeld + int64(len(of.id)))
	}
	m, known := r.seen[of.id].masks[path]
	if known && m.digest != digest {
		m.changes++
	}
	if !known {
		r.holdLocked(maskHeld + int64(len(path)))
	}
	m.digest = digest
	r.seen[of.id].masks[path] = m
	if r.listed != nil {
		r.listed[of.id] = true
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
	if o := r.seen[of.id]; len(o.masks) > len(of.paths)+spare {
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
		r.dropLocked(func(id string, o object) bool {
			return (r.namespace == "" || r.namespace == o.namespace) && !r.listed[id]
		})
	}
	r.listed = nil
}

// Deleted drops what is remembered of a deleted object.
func (r *Redactor) Deleted(uid, namespace, name string) {
	id := identity(uid, namespace, name)
	r.mu.Lock()
	defer r.mu.Unlock()
	if o, known := r.seen[id]; known {
		r.held -= objectHeld + int64(len(id))
		r.dropMasksLocked(o, func(string) bool { return true })
		delete(r.seen, id)
	}
}
