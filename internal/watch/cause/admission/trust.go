package admission

import (
	"encoding/pem"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

const (
	// unknownAuthority is the end of an error about a certificate that no trusted authority has signed.
	unknownAuthority = "certificate signed by unknown authority"
	// searchInterval is the time between two searches for events about failed calls.
	searchInterval = 5 * time.Minute
)

// Untrusted explains a configuration of webhooks, the subject: according to events about other objects, the API server
// does not trust the certificate of a webhook. bundle is the caBundle of the webhook.
func Untrusted(s *subject.Subject, webhook string, bundle []byte, severity verdict.Severity) *verdict.Verdict {
	if !isReported(s, webhook) {
		return nil
	}
	detail := "the caBundle does not contain the authority that signed the certificate"
	if block, _ := pem.Decode(bundle); block == nil {
		detail = "the webhook has no caBundle, and the API server does not know the authority that signed the certificate"
	}
	return subject.ExplainAlone(s, severity, "", "the API server does not trust its certificate: "+detail)
}

// isReported reports whether a recent event states repeatedly that the API server does not know the authority of a
// webhook's certificate. The event must be about an object whose verdict names the subject as the cause, and must be
// newer than the last change of the subject.
func isReported(s *subject.Subject, webhook string) bool {
	affected, _ := s.Inheritors(s.ID, neighbor.Limit)
	slices.SortFunc(affected, func(a, b neighbor.Neighbor) int {
		return strings.Compare(a.Resource+a.ID.Key, b.Resource+b.ID.Key)
	})
	for n := range affected {
		last := subject.New(s.Cluster, affected[n]).NewestEvent(func(e *corev1.Event) bool {
			return subject.IsRepeated(e) && firstGroup(webhookPattern, e.Message) == webhook &&
				strings.Contains(e.Message, unknownAuthority)
		})
		if last != nil && neighbor.EventTime(last).After(s.Object.ManagedTime()) &&
			!subject.HasPassed(s, neighbor.EventTime(last).Add(subject.MaxCallAge)) {
			s.AddSource(subject.EventsRef, last.Namespace)
			return true
		}
	}
	if len(affected) > 0 {
		s.RevisitAt(s.Now().Add(searchInterval)) // A new event does not start an evaluation of the subject.
	}
	return false
}
