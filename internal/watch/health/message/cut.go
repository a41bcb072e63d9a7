package message

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// Cut shortens a text to at most maxBytes bytes. It keeps the start and the end, because the last part of an error is
// often its root cause. If another part is more decisive, it keeps this part, too, and less of the end. An ellipsis
// replaces each part that it drops. It does not split a character.
func Cut(text string, maxBytes int) string {
	if len(text) <= maxBytes {
		return text
	}
	if maxBytes < 2*minClause { // Too short for several parts.
		return text[:before(text, max(0, maxBytes-len("…")))] + "…"
	}
	end := len(text) - maxBytes/3
	head := maxBytes - maxBytes/3 - len("…")
	start := decisivePart(text)
	if start < 0 || start >= end || start+minClause <= head {
		return text[:before(text, head)] + "…" + text[after(text, end):]
	}
	size := maxBytes / 5 * 2
	end = len(text) - maxBytes/6
	head = maxBytes - maxBytes/6 - size - 2*len("…")
	switch {
	case start <= head: // The decisive part continues the start.
		return text[:before(text, head+size)] + "…" + text[after(text, end):]
	case start+size >= end: // The end continues the decisive part.
		return text[:before(text, head)] + "…" + text[after(text, len(text)-size-maxBytes/6):]
	}
	return text[:before(text, head)] + "…" + text[after(text, start):before(text, start+size)] + "…" +
		text[after(text, end):]
}

// before and after return the nearest start of a character up to, or from, a position.
func before(text string, at int) int {
	for !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}

func after(text string, at int) int {
	for !utf8.RuneStart(text[at]) {
		at++
	}
	return at
}

const (
	// minClause is the size of the part of a clause that must be visible to understand it, in bytes.
	minClause = 80
	// maxLead is the maximum size of the part of a clause before the words that make it decisive, in bytes.
	maxLead = 60
)

// decisive contains patterns of clauses that explain an error, the most decisive ones first: words about why something
// fails; the start of an exception, of a panic or of a logged error, which a stack trace often follows; and an action
// that is impossible because something is missing or invalid.
//
//nolint:gochecknoglobals // Constant.
var decisive = [3]*regexp.Regexp{
	regexp.MustCompile(`\bx509: (?:certificate has expired)?|(?i)\b(?:too open|(?:bad|wrong|incorrect) (?:permissions|` +
		`ownership)|(?:does not|doesn't|do not|don't) match|mismatch(?:ed)?|incompatible|corrupt(?:ed|ion)?|` +
		`certificate has expired|cannot [a-z]+ resource|access ?denied|not authorized|quota)\b`),
	regexp.MustCompile(`\b(?i:caused by): |\b[A-Za-z][\w.$]*(?:Exception|Error): |\b(?:panic|(?i:fatal error)): |` +
		`\bpanicked at |"(?:error|err)": ?"|\b(?:error|err)="`),
	regexp.MustCompile(`\b(?i:unable) to [^:;"]{3,100}: (?:no|not|cannot|invalid|missing|unknown) `),
}

// decisivePart returns the start of the most decisive clause of a text, or -1. Of equally decisive clauses, this is the
// last one, because programs usually end because of their last error.
func decisivePart(text string) int {
	for _, pattern := range decisive {
		if all := pattern.FindAllStringIndex(text, -1); len(all) > 0 {
			return startOfClause(text, all[len(all)-1][0])
		}
	}
	return -1
}

// startOfClause returns where the clause starts that contains a position: after punctuation or an escaped line break.
// If the clause starts far before the position, it returns the position.
func startOfClause(text string, at int) int {
	from := max(0, at-maxLead)
	start := from
	for _, mark := range []string{". ", ": ", "! ", "; ", ", ", `\n`, " | "} {
		if found := strings.LastIndex(text[from:at], mark); found >= 0 {
			start = max(start, from+found+len(mark))
		}
	}
	if start == from {
		return at
	}
	return start
}
