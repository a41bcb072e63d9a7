package templates

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// mostOdd is how many runs of odd characters are marked one by one, and how many characters of one run are listed.
const mostOdd = 32

// piece is a part of a text. told lists the code points of an odd part. It is empty for an odd part that is only
// isolated from the text around it.
type piece struct {
	text, told string
	odd        bool
}

// pieces splits a text into odd and ordinary parts. Joined, they are the text. After 2*mostOdd parts, the rest is a
// single odd part, so that a hostile text cannot produce an unlimited amount of markup.
func pieces(s string) (out []piece) {
	for s != "" {
		if len(out) == 2*mostOdd {
			return append(out, piece{text: s, odd: true})
		}
		if n := run(s, true); n > 0 {
			out, s = append(out, piece{text: s[:n], told: numbers(s[:n]), odd: true}), s[n:]
			continue
		}
		n := run(s, false)
		out, s = append(out, piece{text: s[:n]}), s[n:]
	}
	return out
}

// spelled replaces odd characters by their code points, for places that allow only text, such as a title.
func spelled(s string) string {
	var out strings.Builder
	for s != "" {
		if n := run(s, true); n > 0 {
			out.WriteString("[" + numbers(s[:n]) + "]")
			s = s[n:]
		}
		n := run(s, false)
		out.WriteString(s[:n])
		s = s[n:]
	}
	return out.String()
}

// run returns the length in bytes of the prefix of s whose characters are odd, or are not odd if wanted is false.
func run(s string, wanted bool) int {
	for i, r := range s {
		if odd(r) != wanted {
			return i
		}
	}
	return len(s)
}

// odd reports whether a character is invisible, or changes the direction of the text after it. Such a character could
// make a name look like another one. static/src/odd.ts must match the same characters.
func odd(r rune) bool {
	switch {
	case r < 0x20:
		return r != '\t' && r != '\n' && r != '\r'
	case r < 0x7f:
		return false
	}
	for _, in := range [][2]rune{
		{0x7f, 0x9f},
		{0xad, 0xad},
		{0x61c, 0x61c},
		{0x180e, 0x180e},
		{0x200b, 0x200b},
		{0x200e, 0x200f},
		{0x2028, 0x202e},
		{0x2060, 0x206f},
		{0xfeff, 0xfeff},
		{0xfff9, 0xfffb},
		{0xe0000, 0xe007f},
	} {
		if r >= in[0] && r <= in[1] {
			return true
		}
	}
	return false
}

// numbers lists the code points of a run, for example "U+202E U+200B".
func numbers(run string) string {
	var told []string
	for _, r := range run {
		if len(told) == mostOdd {
			return fmt.Sprintf("%s and %d more", strings.Join(told, " "), utf8.RuneCountInString(run)-mostOdd)
		}
		told = append(told, fmt.Sprintf("U+%04X", r))
	}
	return strings.Join(told, " ")
}
