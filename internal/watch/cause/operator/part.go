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
	// vague matches a sentence which states that parts of an object failed, but neither which parts nor why.
	vague = regexp.MustCompile(`(?i)\b(?:one or more|some|several|at least one|\d+(?: of \d+)?) ` +
		`[a-z]+ (?:have |has |were |was |are |is )?(?:failed|failing|not \w+)\.?$`)
	// failures matches the names of lists of failed parts, such as failedNamespaces. It does not match those of lists of
	// runs, which can fail although the object is in order.
	failures = regexp.MustCompile(`^(?:failures|failed[A-Z][A-Za-z]*)$`)
	runs     = regexp.MustCompile(`(?:Runs|Jobs|Executions|Backups|Builds|Operations|Tests|Attempts)$`)
)

// maxLists and maxReason limit the lists of the status that are searched, and the size of a reason, in bytes.
const maxLists, maxReason = 10, 200

// withFailedPart appends the reason of the first failed part to a sentence which states only that parts failed. A list
// of the status, such as failedNamespaces or failures, contains the failed parts.
func withFailedPart(s *subject.Subject, sentence string) string {
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
		if len(items) == 0 {
			continue
		}
		part, _ := items[0].(map[string]any)
		text := func(member string) string { text, _ := part[member].(string); return text }
		if reason := cmp.Or(text("message"), text("reason"), text("error")); strings.Contains(reason, " ") {
			of := cmp.Or(text("name"), text("namespace"), name)
			return strings.TrimRight(sentence, ".") + ": " + of + ": " + message.Line(reason, maxReason)
		}
	}
	return sentence
}
