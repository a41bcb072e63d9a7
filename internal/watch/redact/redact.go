// Package redact removes sensitive values from an object's JSON text before the text is stored or sent.
//
// It masks Secrets, Helm releases and values that Rules select. It drops managedFields and copies of applied objects,
// which can contain a Secret (CVE-2023-40029).
//
// The package fails closed: a value of an unexpected type is masked completely.
package redact

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"sync"

	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
)

// LastApplied is the annotation in which kubectl's client-side apply stores a copy of the object.
const LastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// Memory stores a keyed hash of each masked value of one resource. Masks reveal only how often their values changed:
// the sequence of values A, B, A gives three different masks. A Memory is safe for concurrent use.
type Memory struct {
	key [32]byte // random, so that an attacker cannot find a value by hashing guesses

	mu      sync.Mutex
	objects map[string]object // by the object's UID, or by namespace/name if it has no UID
	weight  int64             // approximate size of this Memory, in bytes
}

// The approximate sizes, in bytes, of one object and of one mask in a Memory. They do not include the length of the
// object's ID or the length of the mask's path.
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
	_, _ = rand.Read(m.key[:])
	return m
}

// Forget removes all objects in the namespaces for which isForgotten returns true.
func (m *Memory) Forget(isForgotten func(namespace string) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dropLocked(func(_ string, o object) bool { return isForgotten(o.namespace) })
}

// Redactor redacts the objects of one resource. Several goroutines can use it, but only one list can be in progress.
type Redactor struct {
	*Memory

	rules      []Rule
	namespace  string          // the namespace to list; "" for all namespaces
	listed     map[string]bool // IDs of the listed objects with masked values; nil if no list is in progress
	listWeight int64
}

// DigestBytes returns the approximate size, in bytes, of the hashes that the newest list has added to the Memory. It
// includes the hashes of failed attempts directly before this list.
func (r *Redactor) DigestBytes() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.listWeight
}

// New returns a Redactor for a resource, with its own Memory. group is "" for the core group.
func New(rules Rules, group, resource string) *Redactor {
	return NewMemory().Redactor(rules, group, resource, "")
}

// Redactor returns a Redactor that uses this Memory, for lists of the given namespace ("" for all). It applies rules
// and also builtInRules.
func (m *Memory) Redactor(rules Rules, group, resource, namespace string) *Redactor {
	return &Redactor{Memory: m, namespace: namespace, rules: rules.forResource(group, resource)}
}

// Redacted is an object after redaction.
type Redacted struct {
	Text []byte
	// Managed is the JSON of metadata.managedFields, a slice of the input. It is nil if managedFields contain a
	// masked value.
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

// Next redacts the JSON object at the cursor, and moves the cursor to its end.
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
		w.managed = nil // drop managedFields, although the author of a change is then unknown
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

// maxStaleDigests limits the hashes that are kept for the deleted values of an object. If a value is added again at the
// same path, the hash shows whether the value has changed.
const maxStaleDigests = 32

func (r *Redactor) dropStale(target *subject) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if o := r.objects[target.id]; len(o.masks) > len(target.paths)+maxStaleDigests {
		r.dropMasksLocked(o, func(path string) bool { return !target.paths[path] })
	}
}

// BeginList starts to record which objects are in a list, so that EndList can remove all objects that are not in this
// list.
func (r *Redactor) BeginList() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.listed == nil {
		r.listWeight = 0
	}
	r.listed = make(map[string]bool)
}

// EndList ends the list that BeginList started, and removes unlisted objects from the Memory.
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
