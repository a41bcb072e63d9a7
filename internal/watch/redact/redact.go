// Package redact removes the values from an object's text that must never be stored, before any other code reads the
// text. It drops managedFields, and the annotations in which tools store a complete copy of what they applied, Secrets
// included (CVE-2023-40029). It does so in the object, and in every object or template inside it. It masks the values
// of Secrets and of Helm releases, and the values that Rules select. Data that was never stored cannot leak. A Veil
// masks objects when they are sent, for viewers who may see less of the stored data than others.
//
// The package fails closed: a value of another type than a rule expects is masked completely.
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

// LastApplied is the annotation in which client-side apply stores its input.
const LastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// Memory is what the Redactors of one resource remember together: a keyed digest of every masked value. With it, a
// value that changes is shown as changed. This works even if a later Redactor reads the new value. The mask shows only
// a count of changes, which reveals nothing about the value. The values A, B, A show three different masks. The Memory
// contains the objects that were listed and not deleted since. It is safe for concurrent use.
type Memory struct {
	key [32]byte // Only for this Memory, so that digests are useless elsewhere.

	mu   sync.Mutex
	seen map[string]object // By identity.
	held int64             // Approximate memory in use, in bytes.
}

// objectHeld and maskHeld are the approximate memory of an object and of a mask, in bytes, without their texts.
const (
	objectHeld = 400
	maskHeld   = 60
)

// Weight returns the approximate size of the Memory, in bytes.
func (m *Memory) Weight() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.held
}

// dropLocked removes the objects for which the function returns true.
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

// object contains what is known about the masked values of an object, by path.
type object struct {
	namespace string
	masks     map[string]mask
}

// mask contains what is known about a masked value.
type mask struct {
	digest  uint64
	changes int
}

// NewMemory returns an empty Memory.
func NewMemory() *Memory {
	m := &Memory{seen: make(map[string]object)}
	_, _ = rand.Read(m.key[:]) // Never fails (crypto/rand).
	return m
}

// Forget removes the objects of the namespaces for which the function returns true.
func (m *Memory) Forget(which func(namespace string) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dropLocked(func(_ string, o object) bool { return which(o.namespace) })
}

// Redactor redacts the objects of one resource. Only one list may be read at a time. Otherwise it is safe for
// concurrent use.
type Redactor struct {
	*Memory

	rules     []Rule
	namespace string          // The namespace of the lists; "" for all.
	listed    map[string]bool // Objects with masked values since BeginList; nil outside a list.
	anew      int64           // Size of what the list has added to the Memory, in bytes.
}

// Remembered returns the approximate size of what the newest list has added to the Memory, in bytes. Attempts at this
// list that did not end are included.
func (r *Redactor) Remembered() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.anew
}

// New returns a Redactor for a resource, with its own Memory. group is "" for the core group.
func New(rules Rules, group, resource string) *Redactor {
	return NewMemory().Redactor(rules, group, resource, "")
}

// Redactor returns a Redactor for a resource, whose lists cover a namespace; "" for all. The built-in masks apply in
// addition to the rules.
func (m *Memory) Redactor(rules Rules, group, resource, namespace string) *Redactor {
	return &Redactor{Memory: m, namespace: namespace, rules: append(always(), rules...).of(group, resource)}
}

// Redacted is an object without the values that must not be kept.
type Redacted struct {
	// Text is the object as JSON.
	Text []byte
	// Managed is the object's metadata.managedFields. It is nil if there are none, or if they contain masked values. It
	// shares the object's bytes.
	Managed []byte
	// Masked contains the paths of the masked values, as JSON Pointers (RFC 6901).
	Masked []string
	// Dropped contains the paths of the dropped annotations, as JSON Pointers.
	Dropped []string
}

// Object redacts an object. It appends the text to dst.
func (r *Redactor) Object(dst, raw []byte) (Redacted, error) {
	c := rawjson.NewCursor(raw)
	redacted, err := r.Next(dst, c)
	if err == nil {
		err = c.End()
	}
	return redacted, err
}

// Next redacts the object at a cursor, and moves the cursor past the object. It appends the text to dst.
func (r *Redactor) Next(dst []byte, c *rawjson.Cursor) (Redacted, error) {
	var of *subject
	if len(r.rules) > 0 {
		var err error
		if of, err = subjectOf(*c); err != nil {
			return Redacted{}, err
		}
	}
	w := &walker{rules: r.rules, mask: func(out []byte, path string, value []byte) []byte {
		return r.mask(out, of, path, value)
	}}
	text, err := w.walk(dst, c, of)
	if of != nil {
		r.tidy(of)
	}
	if w.manages() {
		w.managed = nil // The change then has no author. The managedFields would reveal masked values.
	}
	return Redacted{Text: text, Managed: w.managed, Masked: w.masked, Dropped: w.dropped}, err
}

func (r *Redactor) mask(out []byte, of *subject, path string, value []byte) []byte {
	mac := hmac.New(sha256.New, r.key[:])
	_, _ = fmt.Fprintf(mac, "%q %q ", of.id, path) // A write to a hash never fails.
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

// spare is the number of paths that stay remembered after the object has lost them. With them, a value that is removed
// and later added with a different content is shown as changed.
const spare = 32

// tidy removes the paths that an object no longer has, if there are more than spare of them.
func (r *Redactor) tidy(of *subject) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if o := r.seen[of.id]; len(o.masks) > len(of.paths)+spare {
		r.dropMasksLocked(o, func(path string) bool { return !of.paths[path] })
	}
}

// BeginList starts a list of all objects of the namespace. EndList removes the objects that were not in the list.
func (r *Redactor) BeginList() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.listed == nil {
		r.anew = 0
	}
	r.listed = make(map[string]bool)
}

// EndList ends the list that BeginList started.
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

// Deleted removes a deleted object from the Memory.
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
