// Package redact removes sensitive values from an object's JSON text before the text is stored or sent. Values that
// were never stored cannot leak. Other packages receive only the redacted text.
//
// It drops managedFields. It also drops annotations in which tools store a complete copy of an object, because the
// copy can contain a Secret (CVE-2023-40029). It does both in the object and in all objects and templates inside it.
// It masks the values of Secrets and Helm releases, and the values that Rules select. A GuestMask masks more values
// of stored objects when they are sent to guests (viewers of a share link).
//
// The package fails closed: if a value does not have the type that a rule expects, it is masked completely.
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

// LastApplied is the key of the annotation in which kubectl's client-side apply stores a copy of the applied object.
const LastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// Memory stores a keyed hash of each masked value of one resource, to detect that a value has changed. All Redactors
// of the resource share it. Therefore, each of them also detects changes of values that another one has read. The
// text that replaces a value contains only the number of its changes. If the value is first A, then B, then A again,
// the three texts are different.
//
// The Memory stores hashes for the objects that were listed and not deleted since. It is safe for concurrent use.
type Memory struct {
	key [32]byte // Random key of the hashes, so that they are useless without this Memory.

	mu      sync.Mutex
	objects map[string]object // By UID, or by namespace/name without a UID.
	weight  int64             // Approximate size of all hashes, in bytes.
}

// objectWeight and maskWeight are the approximate sizes, in bytes, of one value of the type object and of one value
// of the type mask in the maps of the type Memory. The length of the map key (the object's ID or the path of the
// masked value) is added to them.
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

type object struct {
	namespace string
	masks     map[string]mask
}

type mask struct {
	digest  uint64
	changes int
}

// NewMemory returns an empty Memory.
func NewMemory() *Memory {
	m := &Memory{objects: make(map[string]object)}
	_, _ = rand.Read(m.key[:]) // crypto/rand.Read never returns an error.
	return m
}

// Forget removes all objects in the namespaces for which the function match returns true.
func (m *Memory) Forget(match func(namespace string) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dropLocked(func(_ string, o object) bool { return match(o.namespace) })
}

// Redactor redacts the objects of one resource. Its methods are safe for concurrent use, but it supports only one
// list at a time (see BeginList).
type Redactor struct {
	*Memory

	rules      []Rule
	namespace  string          // Namespace that the lists of the Redactor cover; "" means all namespaces.
	listed     map[string]bool // Objects with masked values in the current list; nil outside a list.
	listWeight int64           // Bytes that the current or last list has added to the Memory.
}

// DigestBytes returns the approximate number of bytes that the newest list has added to the Memory. Failed attempts
// at this list are included.
func (r *Redactor) DigestBytes() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.listWeight
}

// New returns a Redactor for a resource, with its own Memory. group is "" for the core group.
func New(rules Rules, group, resource string) *Redactor {
	return NewMemory().Redactor(rules, group, resource, "")
}

// Redactor returns a Redactor for a resource that uses this Memory. All its lists cover the given namespace; "" means
// all namespaces. The rules of builtInRules apply in addition to the given rules.
func (m *Memory) Redactor(rules Rules, group, resource, namespace string) *Redactor {
	return &Redactor{Memory: m, namespace: namespace, rules: append(builtInRules(), rules...).forResource(group, resource)}
}

// Redacted is an object after redaction.
type Redacted struct {
	// Text is the redacted object as JSON.
	Text []byte
	// Managed is the JSON of metadata.managedFields, as a slice of the input and not a copy. It is nil if there are
	// none, or if they contain a value that was masked in the object.
	Managed []byte
	// Masked contains the path of each masked value, as a JSON Pointer (RFC 6901).
	Masked []string
	// Dropped contains the path of each dropped annotation, as a JSON Pointer.
	Dropped []string
}

// Object redacts the JSON object in raw, and appends the redacted text to dst.
func (r *Redactor) Object(dst, raw []byte) (Redacted, error) {
	c := jsonscan.NewCursor(raw)
	redacted, err := r.Next(dst, c)
	if err == nil {
		err = c.End()
	}
	return redacted, err
}

// Next redacts the JSON object at the cursor, and moves the cursor past it. It appends the redacted text to dst.
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
		w.managed = nil // Without managedFields, the author of a change is unknown.
	}
	return Redacted{Text: text, Managed: w.managed, Masked: w.masked, Dropped: w.dropped}, err
}

func (r *Redactor) mask(out []byte, target *subject, path string, value []byte) []byte {
	mac := hmac.New(sha256.New, r.key[:])
	_, _ = fmt.Fprintf(mac, "%q %q ", target.id, path)
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

// maxStaleDigests is the maximum number of hashes that are kept for deleted values of an object. If such a value is
// added again with other contents, its hash shows that it has changed.
const maxStaleDigests = 32

// dropStale drops the hashes of all deleted values of the object, if there are more than maxStaleDigests of them.
func (r *Redactor) dropStale(target *subject) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if o := r.objects[target.id]; len(o.masks) > len(target.paths)+maxStaleDigests {
		r.dropMasksLocked(o, func(path string) bool { return !target.paths[path] })
	}
}

// BeginList starts to record which objects a list of all objects of the Redactor contains.
func (r *Redactor) BeginList() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.listed == nil {
		r.listWeight = 0
	}
	r.listed = make(map[string]bool)
}

// EndList ends the list that BeginList started. Objects that were not in the list are removed from the Memory.
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

// Deleted removes an object from the Memory after its deletion.
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
