package symptom

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/wording"
)

// listedError returns the first error in a list of errors or messages, or "". Such a list is a member of the status
// (errors), of a part of the status (source.errors), or of the items in another list (byPod[].errors).
func listedError(status members) string {
	if text := firstError(status); text != "" {
		return text
	}
	for _, name := range slices.Sorted(maps.Keys(status)) {
		if wording.IsHistory(name) || wording.IsRecord(name) {
			continue
		}
		for _, item := range append(status.children(name), status.child(name)) {
			if text := firstError(item); text != "" {
				return text
			}
		}
	}
	return ""
}

// firstError returns the first error in the members of o that list errors, problems or messages; "" if there is none.
func firstError(o members) string {
	for _, name := range slices.Sorted(maps.Keys(o)) {
		words := wording.Split(name)
		if wording.IsHistory(name) || len(words) == 0 {
			continue
		}
		items, _ := o[name].([]any)
		for _, item := range items[:min(len(items), maxItems)] {
			if text := strings.TrimSpace(errorOf(words[len(words)-1], item)); text != "" {
				return text
			}
		}
	}
	return ""
}

// errorOf returns the text of an item if it is an error, and otherwise "". list is the last word of the list's name:
// errors, problems or messages. Plain texts in messages, and problems with a level below error, are not errors.
func errorOf(list string, item any) string {
	text, _ := item.(string)
	child, isObject := item.(map[string]any)
	switch {
	case list == "errors" && isObject, list == "problems" && isObject && !hasLevel(child),
		(list == "problems" || list == "messages") && isErrorLevel(child):
		return textOf(child)
	case list == "errors", list == "problems":
		return text
	}
	return ""
}

// levels are the members of a message that contain its level.
var levels = []string{"level", "severity", "type"} //nolint:gochecknoglobals // Constant.

func hasLevel(message members) bool {
	return slices.ContainsFunc(levels[:2], func(member string) bool { return message.text(member) != "" })
}

// isErrorLevel reports whether a message has a level that means an error.
func isErrorLevel(message members) bool {
	for _, member := range levels {
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
		message.text("errorMessage"), message.text("reason"), message.text("failure"),
		message.text("code"), message.text("type", "name"), message.text("type", "code"),
	)
}
