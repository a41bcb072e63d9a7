package operator

import (
	"regexp"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/operator/rival"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// settingPattern matches a message that a setting with a certain value does not permit what the subject does. For
// example: `uses a protocol "tcp" that does not permit routing`.
var settingPattern = regexp.MustCompile(`\b([a-z][A-Za-z]+) ` + quote + `([A-Za-z0-9.-]+)` + quote +
	`,? (?:(?:that|which) )?(?:does not|doesn't|cannot|can't) (?:permit|support|allow)\b`)

// setting returns the object with the API group and the name of the subject that has the refused value, or nil. By
// convention, its kind ends with a word such as Defaults.
func setting(s *subject.Subject, sentence string) *neighbor.Neighbor {
	found := settingPattern.FindStringSubmatch(sentence)
	if found == nil || !rival.IsQuoted(sentence, s.ID.Name()) {
		return nil
	}
	for _, ending := range []string{"Defaults", "Settings", "Config"} {
		for _, n := range s.Named(s.ID, &neighbor.Mention{
			Kind: ending, Group: s.ID.Group, Name: s.ID.Name(), IsWord: true,
		}) {
			value := neighbor.Decode[struct {
				Spec map[string]any `json:"spec"`
			}](n.Object).Spec[found[1]]
			if value == found[2] && n.ID != s.ID {
				return &n
			}
		}
	}
	return nil
}
