package symptom

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// listedError returns the first error in a list of errors or messages, or "". Such a list is a member of the status
// (errors), or a member of an item in another list (byPod[].errors).
func listedError(status members) string {
	if text := firstError(status); text != "" {
		return text
	}
	for _, name := range slices.Sorted(maps.Keys(status)) {
		if isHistory(name) {
			continue
		}
		for _, item := range status.children(name) {
			if text := firstError(item); text != "" {
				return text
			}
		}
	}
	return ""
}

// firstError returns the first error in a member that lists errors or messages.
func firstError(o members) string {
	for _, name := range slices.Sorted(maps.Keys(o)) {
		items, _ := o[name].([]any)
		isErrors := name == "errors" || strings.HasSuffix(name, "Errors")
		isMessages := name == "messages" || strings.HasSuffix(name, "Messages")
		if !isErrors && !isMessages || isHistory(name) {
			continue
		}
		for _, item := range items[:min(len(items), maxItems)] {
			text, _ := item.(string)
			if child, ok := item.(map[string]any); ok && (isErrors || isErrorLevel(child)) {
				text = textOf(child)
			} else if isMessages {
				continue // The item is a plain text. Without a level, it cannot be recognized as an error.
			}
			if text = strings.TrimSpace(text); text != "" {
				return text
			}
		}
	}
	return ""
}

// isHistory reports whether a member lists errors that are over or that do not matter, such as ignoredErrors.
func isHistory(name string) bool {
	return slices.ContainsFunc(split(name), func(word string) bool {
		return slices.Contains(negations, word) || slices.Contains([]string{
			"history", "past", "previous", "last", "old", "resolved", "recovered", "recent", "allowed", "expected", "transient",
			"retries", "attempts",
		}, word)
	})
}

// isErrorLevel reports whether a message has a level that means an error.
func isErrorLevel(message members) bool {
	for _, member := range []string{"level", "severity", "type"} {
		switch strings.ToLower(message.text(member)) {
		case "error", "fatal", "critical":
			return true
		}
	}
	return false
}

func textOf(message members) string {
	return cmp.Or(
		message.text("message"), message.text("error"), message.text("description"), message.text("text"),
		message.text("reason"), message.text("failure"),
		message.text("code"), message.text("type", "name"), message.text("type", "code"),
	)
}
