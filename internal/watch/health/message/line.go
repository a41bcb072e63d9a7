// Package message shortens messages of Kubernetes and of container runtimes to the part that explains a problem.
// Unknown messages stay as they are. All functions are pure.
package message

import "strings"

// Capital returns a sentence that starts with a capital letter.
func Capital(sentence string) string {
	if sentence == "" {
		return ""
	}
	return strings.ToUpper(sentence[:1]) + sentence[1:]
}

// Line returns a text as one valid line of at most maxBytes bytes.
func Line(text string, maxBytes int) string {
	if size := len(text); size > 4*maxBytes { // Drop the middle for speed. Keep extra bytes, because Fields removes some.
		text = text[:3*maxBytes] + " " + text[size-maxBytes:]
	}
	return Cut(strings.ToValidUTF8(strings.Join(strings.Fields(text), " "), ""), maxBytes)
}

// maxTrace is the length from which a text of several lines is shortened.
const maxTrace = 200

// Ends returns the first and the last line of a stack trace. The last line names the error.
func Ends(text string) string {
	text = strings.TrimSpace(text)
	first, rest, ok := strings.Cut(text, "\n")
	if !ok || len(text) < maxTrace {
		return text
	}
	return strings.TrimSpace(first) + " … " + strings.TrimSpace(rest[strings.LastIndexByte(rest, '\n')+1:])
}

// Join returns the reason and the message of a condition as one text.
func Join(reason, message string) string {
	switch {
	case reason == "" && message == "":
		return "no reason given"
	case reason == "" || message == "" || reason == message:
		return max(reason, message)
	}
	return reason + ": " + message
}
