package symptom

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/wording"
)

// obstacleText matches a message about something that prevents the next step of an operation.
var obstacleText = regexp.MustCompile(`(?i)\b((is|are) not (yet )?(green|ready|healthy|available)|blocked|prevents?)\b`)

// blockedPart finds an operation in a list in the status, such as an upgrade, that does not continue because of an
// obstacle. The conditions of such an item are plain texts. The object itself can work, so its phase can be good.
func blockedPart(status members, isOK bool) *Symptom {
	if isOK {
		return nil
	}
	for _, list := range slices.Sorted(maps.Keys(status)) {
		if wording.IsHistory(list) || wording.IsRecord(list) {
			continue
		}
		for _, item := range status.children(list) {
			word := cmp.Or(item.text("status"), item.text("state"), item.text("phase"))
			texts, _ := item["conditions"].([]any)
			if !isProgressWord(word) || len(texts) == 0 || hasEnded(item) {
				continue
			}
			text, _ := texts[len(texts)-1].(string)
			if wording.NamesError(text) || obstacleText.MatchString(text) {
				name := cmp.Or(nameOf(item), item.text("component"), strings.TrimSuffix(list, "s"))
				return &Symptom{Reason: word, Sentence: name + ": " + word + ": " + text, IsWaiting: true, isRecent: true}
			}
		}
	}
	return nil
}

// isProgressWord reports whether a word describes an operation that has not ended.
func isProgressWord(word string) bool {
	switch strings.ToLower(word) {
	case "upgrading", "updating", "scaling", "restarting", "draining", "migrating", "restoring":
		return true
	}
	return wording.IsWaitingWord(word)
}

// retrying finds an operation that does not continue because of an error. The condition Progressing is True while its
// controller tries again, and False if only a person can solve the problem. The last transition of the condition is
// not the start of the error: the condition is also True, with another reason, when the operation has ended well.
func retrying(_ members, conditions []condition, isOK bool) *Symptom {
	for n := range conditions {
		c := &conditions[n]
		isStopped := c.is("True") && c.reason == "Retrying" || c.is("False") && c.reason == "Blocked"
		if !isOK && c.kind == "Progressing" && isStopped && wording.NamesError(c.message) {
			return &Symptom{Reason: c.reason, Sentence: c.text(), isRecent: true}
		}
	}
	return nil
}
