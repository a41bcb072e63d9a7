package templates

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxMarked is how many runs of invisible characters are marked one by one, and how many characters of one run are
// listed.
const maxMarked = 32

// piece is a part of a text. codePoints lists the code points of an invisible part. It is empty for an invisible part
// that is only isolated from the text around it.
type piece struct {
	text, codePoints string
	isInvisible      bool
}

// splitInvisible splits a text into invisible and ordinary parts. Joined, they are the text. After 2*maxMarked parts,
// the rest is a single invisible part, so that a hostile text cannot produce an unlimited amount of markup.
func splitInvisible(s string) (out []piece) {
	for s != "" {
		if len(out) == 2*maxMarked {
			return append(out, piece{text: s, isInvisible: true})
		}
		if n := prefixLen(s, true); n > 0 {
			out, s = append(out, piece{text: s[:n], codePoints: codePoints(s[:n]), isInvisible: true}), s[n:]
			continue
		}
		n := prefixLen(s, false)
		out, s = append(out, piece{text: s[:n]}), s[n:]
	}
	return out
}

// spellInvisible replaces odd characters by their code points, for places that allow only text, such as a title.
func spellInvisible(s string) string {
	var out strings.Builder
	for s != "" {
		if n := prefixLen(s, true); n > 0 {
			out.WriteString("[" + codePoints(s[:n]) + "]")
			s = s[n:]
		}
		n := prefixLen(s, false)
		out.WriteString(s[:n])
		s = s[n:]
	}
	return out.String()
}

// prefixLen returns the length in bytes of the prefix of s whose characters are invisible, or are not invisible if
// invisible is false.
func prefixLen(s string, invisible bool) int {
	for i, r := range s {
		if isInvisible(r) != invisible {
			return i
		}
	}
	return len(s)
}

// isInvisible reports whether a character is invisible, or changes the direction of the text after it. Such a character
// could make a name resemble another one. static/src/text/invisible-chars.ts must match the same characters.
func isInvisible(r rune) bool {
	switch {
	case r < 0x20:
		return r != '\t' && r != '\n' && r != '\r'
	case r < 0x7f:
		return false
	}
	for _, interval := range [][2]rune{
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
		if r >= interval[0] && r <= interval[1] {
			return true
		}
	}
	return false
}

// codePoints lists the code points of a run, for example "U+202E U+200B".
func codePoints(run string) string {
	var points []string
	for _, r := range run {
		if len(points) == maxMarked {
			return fmt.Sprintf("%s and %d more", strings.Join(points, " "), utf8.RuneCountInString(run)-maxMarked)
		}
		points = append(points, fmt.Sprintf("U+%04X", r))
	}
	return strings.Join(points, " ")
}
