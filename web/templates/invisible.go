package templates

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxMarked limits the pieces with invisible characters that are shown in a text, and the code points shown per piece.
const maxMarked = 32

// piece is a completely visible or completely invisible part of a text. Only invisible pieces have codePoints.
type piece struct {
	text, codePoints string
	isInvisible      bool
}

// splitInvisible splits a text into visible and invisible pieces. Text beyond the limit is one piece, because a hostile
// text could otherwise lead to a very large page.
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

// spellInvisible replaces invisible characters with their code points, for text without markup, such as a page title.
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

func prefixLen(s string, invisible bool) int {
	for i, r := range s {
		if isInvisible(r) != invisible {
			return i
		}
	}
	return len(s)
}

// isInvisible reports whether a character is invisible or changes the text direction.
// static/src/text/invisible-chars.ts must match the same characters.
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
