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

// Redactor redacts the objects of one resource. It remembers a keyed digest of
// every masked value, so that a value that changes shows as changed; what it
// shows (a count of changes) says nothing of the value, and A, B, A shows three
// different masks. Safe for concurrent use.
type Redactor struct {
	masked map[string]bool // Top-level members whose values are masked.
	key    [32]byte        // Of this Redactor alone, so that digests mean nothing elsewhere.

	mu     sync.Mutex
	seen   map[string]map[string]mask // By UID, then by path.
	listed map[string]bool            // UIDs since BeginList; nil outside a list.
}

// mask is what is known of a masked value.
type mask struct {
	digest  uint64
	changes int
}

// New returns a Redactor for a resource; group is "" for the core group.
func New(group, resource string) *Redactor {
	r := &Redactor{seen: make(map[string]map[string]mask)}
	if group == "" && resource == "secrets" {
		r.masked = map[string]bool{"data": true, "stringData": true}
	}
	_, _ = rand.Read(r.key[:]) // Never fails (crypto/rand).
	return r
}

// Object appends the redacted text of an object to dst. managed is the text of
// its metadata.managedFields, nil where it has none, and shares raw's bytes.
func (r *Redactor) Object(dst, raw []byte) (clean, managed []byte, err error) {
	var uid string
	if len(r.masked) > 0 {
		if uid, err = uidOf(raw); err != nil {
			return nil, nil, err
		}
	}
	clean, err = edit(dst, raw, func(out []byte, key string, value []byte) ([]byte, error) {
		switch {
		case key == "metadata":
			out, managed, err = metadata(out, value)
			return out, err
		case r.masked[key]:
			return r.maskAll(out, uid, key, value)
		}
		return append(out, value...), nil
	})
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
func (r *Redactor) maskAll(out []byte, uid, path string, value []byte) ([]byte, error) {
	switch c := rawjson.NewCursor(value); c.Peek() {
	case '{':
		return edit(out, value, func(out []byte, key string, value []byte) ([]byte, error) {
			return r.mask(out, uid, path+"/"+key, value), nil
		})
	case 'n':
		return append(out, value...), nil // null: there is no value.
	}
	return r.mask(out, uid, path, value), nil
}

func (r *Redactor) mask(out []byte, uid, path string, value []byte) []byte {
	mac := hmac.New(sha256.New, r.key[:])
	_, _ = fmt.Fprintf(mac, "%q %q ", uid, path) // A hash takes every write.
	_, _ = mac.Write(value)
	digest := binary.BigEndian.Uint64(mac.Sum(nil))

	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen[uid] == nil {
		r.seen[uid] = make(map[string]mask)
	}
	m, known := r.seen[uid][path]
	if known && m.digest != digest {
		m.changes++
	}
	m.digest = digest
	r.seen[uid][path] = m
	if r.listed != nil {
		r.listed[uid] = true
	}
	if m.changes == 0 {
		return append(out, `"(masked)"`...)
	}
	return fmt.Appendf(out, `"(masked, change %d)"`, m.changes)
}

// BeginList says that all objects follow, EndList that they have: what was not
// among them is forgotten.
func (r *Redactor) BeginList() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listed = make(map[string]bool)
}

// EndList ends what BeginList began.
func (r *Redactor) EndList() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.listed != nil {
		maps.DeleteFunc(r.seen, func(uid string, _ map[string]mask) bool { return !r.listed[uid] })
	}
	r.listed = nil
}

// Forget drops what is remembered of a deleted object.
func (r *Redactor) Forget(uid string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.seen, uid)
}

func uidOf(raw []byte) (uid string, err error) {
	c := rawjson.NewCursor(raw)
	err = c.Object(func(key []byte) error {
		if string(key) != "metadata" || c.Peek() != '{' {
			return nil
		}
		return c.Object(func(key []byte) (err error) {
			if string(key) == "uid" {
				uid, err = c.Text()
			}
			return err
		})
	})
	return uid, err
}
