package response

import (
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"github.com/glasshouse-project/glasshouse/internal/limit"
)

// Texts of at least largeText bytes are converted one at a time, because a conversion can need much memory. For a text
// with 30,000 short strings, it needed 80 times the size of the text.
const largeText = 128 << 10

// ToYAML converts JSON to YAML. A text of at least largeText bytes waits while another such text is converted.
func (rd *Reader) ToYAML(r *http.Request, text []byte) ([]byte, error) {
	if len(text) >= largeText {
		done, err := rd.acquireProcessor(r.Context(), r)
		if err != nil {
			return nil, err
		}
		defer done()
		lease, err := rd.Limits.Acquire(r.Context(), limit.Limit{Key: "conversions of " + rd.Limits.CallerOf(r).Key, Max: 1},
			limit.Limit{Key: "conversions", Max: 1})
		if err != nil {
			return nil, err
		}
		defer lease.Release()
	}
	return jsonToYAML(text)
}

// YAMLForPage converts JSON to YAML. It reserves memory for the HTML-escaped text, up to five times as long.
func (rd *Reader) YAMLForPage(r *http.Request, text []byte) (string, error) {
	document, err := rd.ToYAML(r, text)
	escaped := len(document)
	for _, c := range document {
		switch c {
		case '"', '\'', '&':
			escaped += len("&#34;") - 1
		case '<', '>':
			escaped += len("&lt;") - 1
		}
	}
	Of(r).Grow(int64(len(document) + escaped))
	return string(document), err
}

// jsonToYAML parses JSON as YAML. It first escapes the characters that YAML does not allow or reads as line breaks.
func jsonToYAML(text []byte) ([]byte, error) {
	var escaped strings.Builder
	rest := text
	for i := 0; i < len(rest); {
		r, size := utf8.DecodeRune(rest[i:])
		if !needsEscape(r) {
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

func needsEscape(r rune) bool {
	return r >= 0x7f && r <= 0x9f || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffe || r == 0xffff
}
