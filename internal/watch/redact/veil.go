package redact

import "glasshouse/internal/watch/rawjson"

// Veil is the guest mask: it masks objects before they are sent to guests of a share. The stored objects serve all
// viewers. It masks the values of Secrets, of ConfigMaps and of containers' environments, and annotations that may
// contain a copy of them. Values that are masked in the stored object stay masked. A mask reveals nothing about the
// value, and is the same for all guests.
type Veil struct{ rules []Rule }

// NewVeil returns the guest mask of a resource. group is "" for the core group.
func NewVeil(group, resource string) *Veil {
	return &Veil{rules: append(always(), Shared()...).of(group, resource)}
}

// Shared returns the rules of the guest mask, in addition to those that always apply.
func Shared() Rules {
	rules := append(env(), copies()...)
	for _, name := range []string{"data", "binaryData"} {
		rules = append(rules, Rule{resource: "configmaps", steps: []step{{kind: member, name: name}, {kind: members}}})
	}
	return rules
}

// Object appends the text of an object as guests may see it.
func (v *Veil) Object(dst, text []byte) ([]byte, error) {
	return v.walk(dst, text, func(out []byte, _ string, _ []byte) []byte { return append(out, `"(masked)"`...) })
}

// After is like Object, but a masked value that differs from the one in before is marked as changed.
func (v *Veil) After(dst, before, text []byte) ([]byte, error) {
	was := make(map[string]string)
	_, err := v.walk(nil, before, func(out []byte, path string, value []byte) []byte {
		was[path] = string(value)
		return append(out, "null"...)
	})
	if err != nil {
		return nil, err
	}
	return v.walk(dst, text, func(out []byte, path string, value []byte) []byte {
		if old, had := was[path]; had && old != string(value) {
			return append(out, `"(masked, changed)"`...)
		}
		return append(out, `"(masked)"`...)
	})
}

func (v *Veil) walk(dst, text []byte, mask func(out []byte, path string, value []byte) []byte) ([]byte, error) {
	w := &walker{rules: v.rules, mask: mask}
	c := rawjson.NewCursor(text)
	dst, err := w.walk(dst, c, &subject{helm: true})
	if err == nil {
		err = c.End()
	}
	return dst, err
}
