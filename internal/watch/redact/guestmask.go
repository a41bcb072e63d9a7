package redact

import "github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"

// GuestMask masks objects for guests (viewers of a share link): Secrets, ConfigMaps, environment variables, and
// annotations that can contain copies.
type GuestMask struct{ rules []Rule }

// NewGuestMask returns the GuestMask of a resource. group is "" for the core group.
func NewGuestMask(group, resource string) *GuestMask {
	return &GuestMask{rules: GuestRules().forResource(group, resource)}
}

// GuestRules returns the rules that apply to guests (viewers of a share link), in addition to builtInRules.
func GuestRules() Rules {
	rules := append(envRules(), copyRules()...)
	for _, name := range []string{"data", "binaryData"} {
		rules = append(rules, Rule{resource: "configmaps", steps: []step{{kind: member, name: name}, {kind: members}}})
	}
	return rules
}

// Object masks the JSON text of an object, and appends the result to dst.
func (g *GuestMask) Object(dst, text []byte) ([]byte, error) {
	return g.walk(dst, text, func(out []byte, _ string, _ []byte) []byte { return append(out, `"(masked)"`...) })
}

// After is like Object, but compares text with before, the text of an earlier version. A value that has changed gets
// the mask "(masked, changed)".
func (g *GuestMask) After(dst, before, text []byte) ([]byte, error) {
	oldValues := make(map[string]string)
	_, err := g.walk(nil, before, func(out []byte, path string, value []byte) []byte {
		oldValues[path] = string(value)
		return append(out, "null"...)
	})
	if err != nil {
		return nil, err
	}
	return g.walk(dst, text, func(out []byte, path string, value []byte) []byte {
		if old, exists := oldValues[path]; exists && old != string(value) {
			return append(out, `"(masked, changed)"`...)
		}
		return append(out, `"(masked)"`...)
	})
}

func (g *GuestMask) walk(dst, text []byte, mask func(out []byte, path string, value []byte) []byte) ([]byte, error) {
	w := &walker{rules: g.rules, mask: mask}
	c := jsonscan.NewCursor(text)
	dst, err := w.walk(dst, c, &subject{helm: true})
	if err == nil {
		err = c.End()
	}
	return dst, err
}
