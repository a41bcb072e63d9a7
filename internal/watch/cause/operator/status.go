package operator

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/symptom"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/wording"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

var (
	// missingReason matches the reason of a condition which states that an object of a kind is missing: SecretMissing.
	missingReason = regexp.MustCompile(`^([A-Z][A-Za-z]*?)(?:Missing|NotFound|NotExist|DoesNotExist)$`)
	// missingInText matches such a reason in the JSON text of an object.
	missingInText = regexp.MustCompile(`"reason":"[A-Za-z]+(?:Missing|NotFound|NotExist)"`)
)

// isPaused reports whether the subject is paused: a person made its controller ignore it.
func isPaused(s *subject.Subject) bool {
	return symptom.HasPausedController(neighbor.Decode[map[string]any](s.Object))
}

// missingTarget explains a resource that should change an existing object, its target, but the target is missing. Some
// controllers report this only in the reason of a condition that is True. For example, the condition Ready of an
// ExternalSecret with creationPolicy Merge is True with the reason SecretMissing.
func missingTarget(s *subject.Subject) *verdict.Verdict {
	if !missingInText.Match(s.Text()) { // Most objects are not decoded.
		return nil
	}
	for _, c := range neighbor.Conditions(s.Object, metav1.ConditionTrue) {
		found := missingReason.FindStringSubmatch(c.Reason)
		if found == nil || wording.IsBadIfTrue(c.Type) || isPaused(s) {
			continue
		}
		o := neighbor.Decode[struct {
			Spec struct {
				Target struct {
					Name      string `json:"name"`
					Namespace string `json:"namespace"`
				} `json:"target"`
			} `json:"spec"`
		}](s.Object)
		target := o.Spec.Target
		candidates := s.Named(s.ID, &neighbor.Mention{
			Kind: found[1], Namespace: target.Namespace, Name: cmp.Or(target.Name, s.ID.Name()),
		})
		isKnown := func(n neighbor.Neighbor) bool { return n.Presence != neighbor.Missing }
		if len(candidates) == 0 || slices.ContainsFunc(candidates, isKnown) || !s.IsSettled() {
			continue
		}
		cause := s.MissingCause(&candidates[0])
		sentence := cause.Sentence
		if c.Message != "" {
			sentence = subject.Sentences(c.Message, sentence)
		}
		return s.Explain(verdict.Degraded, c.Reason, sentence, cause)
	}
	return nil
}

// waitingPattern matches a message about an object that its controller has not handled yet.
var waitingPattern = regexp.MustCompile(`(?i)\b(?:(?:has |have )?not (?:yet )?(?:been )?` +
	`(?:reconciled|observed|processed|handled|programmed|configured|ready|synced)|wait(?:s|ing)?|pending)\b`)

// withoutStatus explains a resource without a status if its owner waits for it for too long: the controller of the
// resource is probably not running. Without such an owner, the controller possibly never writes a status.
func withoutStatus(s *subject.Subject) *verdict.Verdict {
	_, owners := s.References(s.ID)
	for n := range owners {
		owner := s.Find(owners[n].ID)
		if owner.Object == nil || owner.Object.UID() != owners[n].UID || !waitsFor(&owner, s.ID.Kind.Kind) {
			continue
		}
		o := neighbor.Decode[struct {
			Metadata metav1.ObjectMeta `json:"metadata"`
			Status   map[string]any    `json:"status"`
		}](s.Object)
		if len(o.Status) > 0 || o.Metadata.DeletionTimestamp != nil || !s.IsSettled() || isPaused(s) {
			return nil
		}
		s.AddSource(owner.Resource, owner.ID.Namespace())
		sentence := "Its controller" + classOf(o.Metadata.Annotations) + " has not written a status, which " +
			s.Name(&owner) + " needs: the controller might not be running"
		return s.Explain(verdict.Degraded, "NoStatus", sentence, nil)
	}
	return nil
}

// waitsFor reports whether an object has a problem of its own because it waits for an object of a kind.
func waitsFor(n *neighbor.Neighbor, kind string) bool {
	own := n.Object.Verdict().Own().Unpack()
	return own.Severity.IsProblem() && waitingPattern.MatchString(own.Sentence) &&
		subject.ContainsName(strings.ToLower(own.Sentence), strings.ToLower(kind))
}

// classOf returns words about the class in an annotation, which selects the controller of an object, or "".
func classOf(annotations map[string]string) string {
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		if strings.HasSuffix(key, "class") && annotations[key] != "" {
			return " (class " + annotations[key] + ")"
		}
	}
	return ""
}
