// Package sanitize replaces control characters in untrusted texts before a terminal displays them.
package sanitize

import (
	"log/slog"
	"strings"
	"unicode"
)

// Text returns one line that is safe to print on a terminal, with U+FFFD instead of each unprintable character.
func Text(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// Attr replaces the control characters U+007F to U+009F in a log attribute with U+FFFD. Some terminals interpret them,
// and the JSON output of slog escapes only the control characters below U+0020. Use Attr as ReplaceAttr in
// slog.HandlerOptions.
func Attr(_ []string, a slog.Attr) slog.Attr {
	isControl := func(r rune) bool { return r >= 0x7f && unicode.IsControl(r) }
	if kind := a.Value.Kind(); kind != slog.KindString && kind != slog.KindAny {
		return a
	}
	if text := a.Value.String(); strings.ContainsFunc(text, isControl) {
		a.Value = slog.StringValue(strings.Map(func(r rune) rune {
			if isControl(r) {
				return unicode.ReplacementChar
			}
			return r
		}, text))
	}
	return a
}
