// Package redact removes values that must never be stored from an object's text, before any other code reads the text.
// It drops managedFields, and the annotations in which tools store a complete copy of what they applied, including
// Secrets (CVE-2023-40029). It does so in the object, and in every object or template inside it. It masks the values of
// Secrets and of Helm releases, and the values that Rules select. Data that was never stored cannot leak. A GuestMask
// masks stored objects when they are sent, for viewers who may see less than others.
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

	"glasshouse/internal/watch/jsonscan"
)

// LastApplied is the key of the annotation in which client-side apply stores the object that it applied.
const LastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// Memory contains a keyed digest of every masked value of one resource, which all Redactors of the resource share. With
// it, a changed value is recognized, even if another Redactor reads the new value. The mask then contains the number of
// changes, which reveals nothing about the value: the values A, B, A have three different masks. The Memory contains
// the objects that were listed and not deleted since. It is safe for concurrent use.
type Memory struct {
	key [32]byte // A random key of this Memory only, so that its digests are useless elsewhere.

	mu      sync.Mutex
	objects map[string]object // The key is the identity of the object.
	weight  int64             // Approximate memory in use, in bytes.
}

// objectWeight and maskWeight are the approximate memory of one object and of one mask in a Memory, in bytes, without
// their texts.
const (
	objectWeight = 400
	maskWeight   = 60
)

// Weight returns the approximate size of the Memory, in bytes.
func (m *Memory) Weight() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.weight
}

// dropLocked removes the objects for which match() is true.
func (m *Memory) dropLocked(match func(id string, o object) bool) {
	maps.DeleteFunc(m.objects, func(id string, o object) bool {
		if !match(id, o) {
			return false
		}
		m.weight -= objectWeight + int64(len(id))
		m.dropMasksLocked(o, func(string) bool { return true })
		return true
	})
}

func (m *Memory) dropMasksLocked(o object, match func(path string) bool) {
	maps.DeleteFunc(o.masks, func(path string, _ mask) bool {
		if !match(path) {
			return false
		}
		m.weight -= maskWeight + int64(len(path))
		return true
	})
}

// object contains the digests of the masked values of one object. The key is the path of the value.
type object struct {
	namespace string
	masks     map[string]mask
}

// mask contains the digest of one masked value, and how often the value has changed.
type mask struct {
	digest  uint64
	changes int
}

// NewMemory returns an empty Memory.
func NewMemory() *Memory {
	m := &Memory{objects: make(map[string]object)}
	_, _ = rand.Read(m.key[:]) // Never fails (crypto/rand).
	return m
}

// Forget removes the objects in the namespaces for which match() is true.
func (m *Memory) Forget(match func(namespace string) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dropLocked(func(_ string, o object) bool { return match(o.namespace) })
}

// Redactor redacts the objects of one resource. Only one list may be read at a time; otherwise it is safe for
// concurrent use.
type Redactor struct {
	*Memory

	rules      []Rule
	namespace  string          // The namespace that the lists cover; "" for all.
	listed     map[string]bool // The objects with masked values in the current list; nil outside a list.
	listWeight int64           // Size of what the list has added to the Memory, in bytes.
}

// DigestBytes returns the approximate size, in bytes, of what the newest list has added to the Memory. It includes
// earlier attempts at this list that failed before the end.
func (r *Redactor) DigestBytes() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.listWeight
}

// New returns a Redactor for a resource, with a Memory that no other Redactor shares. group is "" for the core group.
func New(rules Rules, group, resource string) *Redactor {
	return NewMemory().Redactor(rules, group, resource, "")
}

// Redactor returns a Redactor for a resource that shares this Memory. Its lists cover one namespace; "" means all. The
// rules of builtInRules apply in addition to rules.
func (m *Memory) Redactor(rules Rules, group, resource, namespace string) *Redactor {
	return &Redactor{Memory: m, namespace: namespace, rules: append(builtInRules(), rules...).forResource(group, resource)}
}

// Redacted is an object after redaction: without the values that must not be stored.
type Redacted struct {
	// Text is the redacted object as JSON.
	Text []byte
	// Managed is the object's metadata.managedFields. It is nil if there are none, or if they contain masked values. It
	// shares the object's bytes.
	Managed []byte
	// Masked contains the paths of the masked values, as JSON Pointers (RFC 6901).
	Masked []string
	// Dropped contains the paths of the dropped annotations, as JSON Pointers.
	Dropped []string
}

// Object redacts the object in raw. It appends the redacted text to dst.
func (r *Redactor) Object(dst, raw []byte) (Redacted, error) {
	c := jsonscan.NewCursor(raw)
	redacted, err := r.Next(dst, c)
	if err == nil {
		err = c.End()
	}
	return redacted, err
}

// Next redacts the object at a cursor, and moves the cursor past the object. It appends the redacted text to dst.
func (r *Redactor) Next(dst []byte, c *jsonscan.Cursor) (Redacted, error) {
	var target *subject
	if len(r.rules) > 0 {
		var err error
		if target, err = subjectOf(*c); err != nil {
			return Redacted{}, err
		}
	}
	w := &walker{rules: r.rules, mask: func(out []byte, path string, value []byte) []byte {
		return r.mask(out, target, path, value)
	}}
	text, err := w.walk(dst, c, target)
	if target != nil {
		r.dropStale(target)
	}
	if w.revealsMasked() {
		w.managed = nil // They would reveal masked values. The change then has no author.
	}
	return Redacted{Text: text, Managed: w.managed, Masked: w.masked, Dropped: w.dropped}, err
}

func (r *Redactor) mask(out []byte, target *subject, path string, value []byte) []byte {
	mac := hmac.New(sha256.New, r.key[:])
	_, _ = fmt.Fprintf(mac, "%q %q ", target.id, path) // A write to a hash never fails.
	_, _ = mac.Write(value)
	digest := binary.BigEndian.Uint64(mac.Sum(nil))

	target.paths[path] = true
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.objects[target.id].masks == nil {
		r.objects[target.id] = object{target.namespace, make(map[string]mask)}
		r.addWeightLocked(objectWeight + int64(len(target.id)))
	}
	m, known := r.objects[target.id].masks[path]
	if known && m.digest != digest {
		m.changes++
	}
	if !known {
		r.addWeightLocked(maskWeight + int64(len(path)))
	}
	m.digest = digest
	r.objects[target.id].masks[path] = m
	if r.listed != nil {
		r.listed[target.id] = true
	}
	if m.changes == 0 {
		return append(out, `"(masked)"`...)
	}
	return fmt.Appendf(out, `"(masked, change %d)"`, m.changes)
}

func (r *Redactor) addWeightLocked(bytes int64) {
	r.weight += bytes
	if r.listed != nil {
		r.listWeight += bytes
	}
}

// maxStaleDigests is the number of digests of an object that are retained for values that the object no longer has.
// With them, a value that is removed and later added with other contents is recognized as changed.
const maxStaleDigests = 32

// dropStale removes the digests of values that an object no longer has, if there are more than maxStaleDigests of them.
func (r *Redactor) dropStale(target *subject) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if o := r.objects[target.id]; len(o.masks) > len(target.paths)+maxStaleDigests {
		r.dropMasksLocked(o, func(path string) bool { return !target.paths[path] })
	}
}

// BeginList starts a list of all objects in the Redactor's namespace.
func (r *Redactor) BeginList() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.listed == nil {
		r.listWeight = 0
	}
	r.listed = make(map[string]bool)
}

// EndList ends the list that BeginList started. It removes the objects that were not in the list from the Memory.
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
	if o, known := r.objects[id]; known {
		r.weight -= objectWeight + int64(len(id))
		r.dropMasksLocked(o, func(string) bool { return true })
		delete(r.objects, id)
	}
}
