// Package plain takes out of texts that others wrote what terminals obey.
package plain

import (
	"log/slog"
	"strings"
	"unicode"
)

// Text is a text of one line for a terminal: what is no visible character does
// nothing there.
func Text(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// Attr takes out of what is logged as JSON the control characters beyond ASCII,
// which slog's JSON leaves as they are, and some terminals obey. It is meant for
// slog.HandlerOptions.
func Attr(_ []string, a slog.Attr) slog.Attr {
	beyond := func(r rune) bool { return r >= 0x7f && unicode.IsControl(r) }
	if kind := a.Value.Kind(); kind != slog.KindString && kind != slog.KindAny {
		return a
	}
	if text := a.Value.String(); strings.ContainsFunc(text, beyond) {
		a.Value = slog.StringValue(strings.Map(func(r rune) rune {
			if beyond(r) {
				return unicode.ReplacementChar
			}
			return r
		}, text))
	}
	return a
}
