package cellsort

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const paddedDigits = 12

// padNumbers returns a text in lower case with zero-padded numbers, so that node-2 sorts before node-10.
func padNumbers(text string) string {
	text = Lower(text)
	var out []byte
	copied := 0
	for i := 0; i < len(text); {
		n := digits(text[i:])
		if n == 0 {
			i++
			continue
		}
		if n < paddedDigits {
			if out == nil {
				out = make([]byte, 0, len(text)+2*paddedDigits)
			}
			out = append(out, text[copied:i]...)
			out = append(out, "000000000000"[:paddedDigits-n]...)
			copied = i
		}
		i += n
	}
	if out == nil {
		return text
	}
	return string(append(out, text[copied:]...))
}

// CompareText compares texts by UTF-16 code units, as JavaScript does: characters beyond U+FFFF sort before U+E000.
func CompareText[S string | []byte](a, b S) int {
	for i := range min(len(a), len(b)) {
		if x, y := a[i], b[i]; x != y {
			// In UTF-8, U+E000 starts with 0xee, and U+10000 with 0xf0. XOR with 0x10 makes the byte 0xf0 less than 0xee,
			// which is the order of UTF-16.
			if x >= 0xee && y >= 0xee {
				x, y = x^0x10, y^0x10
			}
			return int(x) - int(y)
		}
	}
	return len(a) - len(b)
}

// Words splits a text filter into words, in lower case.
func Words(filter string) []string { return strings.FieldsFunc(Lower(filter), isSpace) }

// isSpace reports whether JavaScript treats r as white space.
func isSpace(r rune) bool { return r == '\ufeff' || r != '\u0085' && unicode.IsSpace(r) }

// Lower returns a text in lower case as JavaScript does. strings.ToLower would convert "İ" and a "Σ" at the end of a
// word differently.
func Lower(text string) string {
	if !strings.ContainsAny(text, "İΣ") {
		return strings.ToLower(text)
	}
	var out strings.Builder
	for i, r := range text {
		switch {
		case r == 'İ':
			out.WriteString("i\u0307")
		case r == 'Σ' && isWordEnd(text[:i], text[i+utf8.RuneLen(r):]):
			out.WriteRune('ς')
		default:
			out.WriteRune(unicode.ToLower(r))
		}
	}
	return out.String()
}

func isWordEnd(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRightFunc(before, isIgnorable))
	next, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(after, isIgnorable))
	return isCased(last) && !isCased(next)
}

func isCased(r rune) bool {
	return unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt, unicode.Other_Lowercase, unicode.Other_Uppercase)
}

// isIgnorable reports whether r can occur inside a word although r is not a letter, such as a hyphenation point. It
// approximates the Unicode property Case_Ignorable.
func isIgnorable(r rune) bool {
	return strings.ContainsRune("'.:^`¨·’‘․﹒‧", r) ||
		unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk)
}
