package order

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// counted is how many digits of a number in a text count.
const counted = 12

// natural makes text whose order is the one that people expect: numbers in it
// are filled up with zeros.
func natural(text string) string {
	text = Lower(text)
	var out []byte
	done := 0
	for i := 0; i < len(text); {
		n := digits(text[i:])
		if n == 0 {
			i++
			continue
		}
		if n < counted {
			if out == nil {
				out = make([]byte, 0, len(text)+2*counted)
			}
			out = append(out, text[done:i]...)
			out = append(out, "000000000000"[:counted-n]...)
			done = i
		}
		i += n
	}
	if out == nil {
		return text
	}
	return string(append(out, text[done:]...))
}

// CompareText orders by UTF-16 code units, as JavaScript does: what lies beyond
// them, in two, comes before the last of what fits into one.
func CompareText[S string | []byte](a, b S) int {
	for i := range min(len(a), len(b)) {
		if x, y := a[i], b[i]; x != y {
			if x >= 0xee && y >= 0xee { // U+E000 begins with 0xee, U+10000 with 0xf0.
				x, y = x^0x10, y^0x10
			}
			return int(x) - int(y)
		}
	}
	return len(a) - len(b)
}

// Words are those of a text filter, in lower case.
func Words(filter string) []string { return strings.FieldsFunc(Lower(filter), isSpace) }

// isSpace is what JavaScript takes for space.
func isSpace(r rune) bool { return r == '\ufeff' || r != '\u0085' && unicode.IsSpace(r) }

// Lower is a text in lower case, with the two exceptions that Unicode makes for
// all languages.
func Lower(text string) string {
	if !strings.ContainsAny(text, "İΣ") {
		return strings.ToLower(text)
	}
	var out strings.Builder
	for i, r := range text {
		switch {
		case r == 'İ':
			out.WriteString("i\u0307")
		case r == 'Σ' && ends(text[:i], text[i+utf8.RuneLen(r):]):
			out.WriteRune('ς')
		default:
			out.WriteRune(unicode.ToLower(r))
		}
	}
	return out.String()
}

// ends reports whether what stands between two texts is the last letter of a
// word.
func ends(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRightFunc(before, ignorable))
	next, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(after, ignorable))
	return cased(last) && !cased(next)
}

func cased(r rune) bool {
	return unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt, unicode.Other_Lowercase, unicode.Other_Uppercase)
}

// ignorable is what does not end a word.
func ignorable(r rune) bool {
	return strings.ContainsRune("'.:^`¨·’‘․﹒…", r) || unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk)
}
