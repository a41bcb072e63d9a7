package web

import (
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/yaml"
)

// largeText is the length of a text whose conversion takes much memory: 80 times its length in the worst case measured,
// 30,000 short strings.
const largeText = 128 << 10

// toYAML writes a JSON text as YAML. Large ones are converted few at a time.
func (s *Server) toYAML(r *http.Request, text []byte) ([]byte, error) {
	if len(text) >= largeText {
		done, err := s.compute(r.Context(), r)
		if err != nil {
			return nil, err
		}
		defer done()
	}
	return documentOf(text)
}

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
