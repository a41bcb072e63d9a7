package subject

import (
	"maps"
	"slices"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

const (
	// overlap and minOverlap are how many bytes next to an ellipsis must also be in the complete text.
	overlap, minOverlap = 40, 24
	// maxRestored limits the size of the part that CompleteSentence adds, in bytes.
	maxRestored = 4096
)

// CompleteSentence returns the sentence of the subject's own verdict. If the sentence is shortened, CompleteSentence
// finds the complete text in the subject's status. Names in a shortened sentence can be incomplete.
func CompleteSentence(s *Subject) string {
	// There can be a second ellipsis. The text between the two is also in the complete text.
	start, end := strings.Index(s.Own.Sentence, "…"), strings.LastIndex(s.Own.Sentence, "…")
	if start < 0 {
		return s.Own.Sentence
	}
	head, tail := s.Own.Sentence[:start], s.Own.Sentence[end+len("…"):]
	if len(head) < overlap || len(tail) < overlap {
		return s.Own.Sentence
	}
	status := neighbor.Decode[struct {
		Status any `json:"status"`
	}](s.Object).Status
	// The head can start with the name of a container, which is not in the status.
	for _, size := range []int{overlap, minOverlap} {
		if middle, ok := between(status, head[len(head)-size:], tail[:overlap]); ok {
			return head + middle + tail
		}
	}
	return s.Own.Sentence
}

// between returns the part between two texts, in the first value that contains both texts.
func between(value any, start, end string) (middle string, ok bool) {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) { // In a fixed order, so that the result is always the same.
			if middle, ok = between(v[name], start, end); ok {
				return middle, true
			}
		}
	case []any:
		for _, item := range v {
			if middle, ok = between(item, start, end); ok {
				return middle, true
			}
		}
	case string:
		_, rest, _ := strings.Cut(strings.Join(strings.Fields(v), " "), start)
		at := strings.LastIndex(rest, end)
		if at >= 0 && at <= maxRestored {
			return rest[:at], true
		}
	}
	return "", false
}
