package redact

import "glasshouse/internal/watch/rawjson"

// Veil is the guest mask: it masks objects before they are sent to guests of a share link. The stored objects are the
// same for all viewers. A Veil masks the values of Secrets, of ConfigMaps and of containers' environment variables, and
// annotations that may contain a copy of them. Values that are masked in the stored object stay masked. A mask reveals
// nothing about the value, and is the same for all guests.
type Veil struct{ rules []Rule }

// NewVeil returns the guest mask of a resource. group is "" for the core group.
func NewVeil(group, resource string) *Veil {
	return &Veil{rules: append(always(), Shared()...).of(group, resource)}
}

// Shared returns the rules of the guest mask, without those of always.
func Shared() Rules {
	rules := append(env(), copies()...)
	for _, name := range []string{"data", "binaryData"} {
		rules = append(rules, Rule{resource: "configmaps", steps: []step{{kind: member, name: name}, {kind: members}}})
	}
	return rules
}

// Object masks the text of an object for guests, and appends the result to dst.
func (v *Veil) Object(dst, text []byte) ([]byte, error) {
	return v.walk(dst, text, func(out []byte, _ string, _ []byte) []byte { return append(out, `"(masked)"`...) })
}

// After is like Object, but also marks a masked value as changed if it differs from the value in before.
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
