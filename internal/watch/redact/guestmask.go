package redact

import "glasshouse/internal/watch/jsonscan"

// GuestMask masks objects before they are sent to guests (viewers of a share link). It masks the values of Secrets,
// ConfigMaps and containers' environment variables, and annotations that can contain a copy of these values. Stored
// objects do not change, because logged-in users receive them, too. A mask reveals nothing about its value, and is
// the same for all guests.
type GuestMask struct{ rules []Rule }

// NewGuestMask returns the GuestMask of a resource. group is "" for the core group.
func NewGuestMask(group, resource string) *GuestMask {
	return &GuestMask{rules: append(builtInRules(), GuestRules()...).forResource(group, resource)}
}

// GuestRules returns the rules that apply to guests (viewers of a share link), in addition to builtInRules.
func GuestRules() Rules {
	rules := append(envRules(), copyRules()...)
	for _, name := range []string{"data", "binaryData"} {
		rules = append(rules, Rule{resource: "configmaps", steps: []step{{kind: member, name: name}, {kind: members}}})
	}
	return rules
}

// Object masks the JSON text of an object for guests (viewers of a share link), and appends the result to dst.
func (v *GuestMask) Object(dst, text []byte) ([]byte, error) {
	return v.walk(dst, text, func(out []byte, _ string, _ []byte) []byte { return append(out, `"(masked)"`...) })
}

// After is like Object, but replaces a value by "(masked, changed)" if it differs from the value in the parameter
// before, which is the previous version of the object.
func (v *GuestMask) After(dst, before, text []byte) ([]byte, error) {
	oldValues := make(map[string]string)
	_, err := v.walk(nil, before, func(out []byte, path string, value []byte) []byte {
		oldValues[path] = string(value)
		return append(out, "null"...)
	})
	if err != nil {
		return nil, err
	}
	return v.walk(dst, text, func(out []byte, path string, value []byte) []byte {
		if old, exists := oldValues[path]; exists && old != string(value) {
			return append(out, `"(masked, changed)"`...)
		}
		return append(out, `"(masked)"`...)
	})
}

func (v *GuestMask) walk(dst, text []byte, mask func(out []byte, path string, value []byte) []byte) ([]byte, error) {
	w := &walker{rules: v.rules, mask: mask}
	c := jsonscan.NewCursor(text)
	dst, err := w.walk(dst, c, &subject{helm: true})
	if err == nil {
		err = c.End()
	}
	return dst, err
}
