package mention

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/symptom"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// typedReference matches a reference to an object as JSON, such as {"kind":"Service","name":"web","apiVersion":"v1"}.
var typedReference = regexp.MustCompile(`\{[^{}]*"kind":[^{}]*\}`)

// missingTyped returns the first missing object to which a message about something missing refers as JSON, or nil. For
// example, Knative reports `Sink not found: {"ref":{"kind":"Service","name":"web","apiVersion":"v1"}}`.
func missingTyped(s *subject.Subject, message string) *neighbor.Neighbor {
	if !symptom.NamesMissing(message) {
		return nil
	}
	for _, found := range typedReference.FindAllString(message, maxMentions) {
		var ref struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
			Namespace  string `json:"namespace"`
			Name       string `json:"name"`
		}
		if json.Unmarshal([]byte(found), &ref) != nil || ref.APIVersion == "" || ref.Name == "" {
			continue
		}
		group, _, ok := strings.Cut(ref.APIVersion, "/")
		if !ok {
			group = ""
		}
		for _, n := range s.Named(s.ID, &neighbor.Mention{
			Kind: ref.Kind, Group: group, Namespace: ref.Namespace, Name: ref.Name,
		}) {
			if n.ID.Group == group && n.Presence == neighbor.Missing {
				return &n
			}
		}
	}
	return nil
}
