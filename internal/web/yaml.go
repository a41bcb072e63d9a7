package web

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/yaml"
)

// documentOf writes a JSON text as YAML. The library reads JSON as YAML, to which
// some characters are line breaks or not allowed that JSON may hold as they are;
// they are escaped first, and stand in strings alone.
func documentOf(text []byte) ([]byte, error) {
	var escaped strings.Builder
	rest := text
	for i := 0; i < len(rest); {
		r, size := utf8.DecodeRune(rest[i:])
		if !foreign(r) {
			i += size
			continue
		}
		escaped.Write(rest[:i])
		fmt.Fprintf(&escaped, `\u%04x`, r)
		rest, i = rest[i+size:], 0
	}
	if escaped.Len() == 0 {
		return yaml.JSONToYAML(text)
	}
	escaped.Write(rest)
	return yaml.JSONToYAML([]byte(escaped.String()))
}

func foreign(r rune) bool {
	return r >= 0x7f && r <= 0x9f || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffe || r == 0xffff
}
