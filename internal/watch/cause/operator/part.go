package operator

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/message"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

var (
	// vague matches a sentence which states that parts of an object failed, but neither which parts nor why. Argo CD adds
	// the number of its attempts.
	vague = regexp.MustCompile(`(?i)\b(?:one or more|some|several|at least one|\d+(?: of \d+)?) ` +
		`(?:[a-z]+ ){1,2}(?:have |has |were |was |are |is )?` +
		`(?:failed(?: to [a-z]+)?|failing|not \w+|completed unsuccessfully)(?: \(retried \d+ times\))?\.?$`)
	// failures matches the names of lists of failed parts, such as failedNamespaces. It does not match those of lists of
	// runs, which can fail although the object is in order.
	failures = regexp.MustCompile(`^(?:failures|failed[A-Z][A-Za-z]*)$`)
	runs     = regexp.MustCompile(`(?:Runs|Jobs|Executions|Backups|Builds|Operations|Tests|Attempts)$`)
)

// maxLists limits the lists of the status that are searched. maxReason limits the size of a reason in a sentence, and
// maxText that of a reason in which names are searched, in bytes.
const maxLists, maxReason, maxText = 10, 200, 4096

// withFailedPart appends the reason of the first failed part to a sentence which states only that parts failed. size
// limits the reason. A list of the status, such as failedNamespaces or failures, contains the failed parts.
func withFailedPart(s *subject.Subject, sentence string, size int) string {
	if !vague.MatchString(sentence) {
		return sentence
	}
	status := neighbor.Decode[struct {
		Status map[string]any `json:"status"`
	}](s.Object).Status
	lists := slices.DeleteFunc(slices.Sorted(maps.Keys(status)), func(name string) bool {
		return !failures.MatchString(name) || runs.MatchString(name)
	})
	for _, name := range lists[:min(len(lists), maxLists)] {
		items, _ := status[name].([]any)
		if text := firstPart(items, name, size); text != "" {
			return strings.TrimRight(sentence, ".") + ": " + text
		}
	}
	if text := firstPart(unsynced(status), "", size); text != "" {
		return strings.TrimRight(sentence, ".") + ": " + text
	}
	return sentence
}

// firstPart returns the name and the reason of the first part in a list, or "" if the reason is not a sentence.
func firstPart(items []any, list string, size int) string {
	if len(items) == 0 {
		return ""
	}
	part, _ := items[0].(map[string]any)
	text := func(member string) string { text, _ := part[member].(string); return text }
	reason := cmp.Or(text("message"), text("reason"), text("error"))
	if !strings.Contains(reason, " ") {
		return ""
	}
	return cmp.Or(text("name"), text("namespace"), list) + ": " + message.Line(reason, size)
}

// unsynced returns the objects that Argo CD could not apply during the last sync of an Application.
func unsynced(status map[string]any) (parts []any) {
	operation, _ := status["operationState"].(map[string]any)
	result, _ := operation["syncResult"].(map[string]any)
	resources, _ := result["resources"].([]any)
	return slices.DeleteFunc(resources, func(item any) bool {
		synced, _ := item.(map[string]any)
		return synced["status"] != "SyncFailed" && synced["hookPhase"] != "Failed" && synced["hookPhase"] != "Error"
	})
}
