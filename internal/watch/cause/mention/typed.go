package mention

import (
	"encoding/json"
	"regexp"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// typedReference matches a missing object as JSON: `Sink not found: {"ref":{"kind":"Service","name":"web"}}`, or
// `{"kind":"Service","name":"web"} does not exist`.
var typedReference = regexp.MustCompile(`(?i)(?:\bnot (?:be )?(?:found|exist)|\bmissing|\b(?:not|unable to) find):? ?` +
	`(?:\{"\w+":)?(\{[^{}]*"kind":[^{}]*\})|` +
	`(\{[^{}]*"kind":[^{}]*\})\}? (?:is missing|(?:is |was |does )?not (?:found|exist))`)

// missingTyped returns the first missing object that a message describes as JSON, or nil. Knative writes such messages.
func missingTyped(s *subject.Subject, message string) *neighbor.Neighbor {
	for _, found := range typedReference.FindAllStringSubmatch(message, maxMentions) {
		var ref struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
			Namespace  string `json:"namespace"`
			Name       string `json:"name"`
		}
		if json.Unmarshal([]byte(found[1]+found[2]), &ref) != nil || ref.APIVersion == "" || ref.Name == "" {
			continue
		}
		version, err := schema.ParseGroupVersion(ref.APIVersion)
		if err != nil {
			continue
		}
		for _, n := range s.Named(s.ID, &neighbor.Mention{
			Kind: ref.Kind, Group: version.Group, Namespace: ref.Namespace, Name: ref.Name,
		}) {
			if n.ID.Group == version.Group && n.Presence == neighbor.Missing {
				return &n
			}
		}
	}
	return nil
}
