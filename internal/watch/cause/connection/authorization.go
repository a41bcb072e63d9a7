package connection

import (
	"cmp"
	"regexp"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/mesh"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// accessDenied matches the answer of Istio's proxy to a request that the policies do not permit.
var accessDenied = regexp.MustCompile(`\bRBAC: access denied\b`)

// unauthorized explains a pod by the AuthorizationPolicy because of which all ready pods of a Service deny its
// requests. The host of the Service must be the only host in the text.
func unauthorized(c *client, text string) *verdict.Verdict {
	found, isSure := hosts(errorIn(text, accessDenied))
	if len(found) != 1 || !isSure {
		return nil
	}
	service := existing(c.services(found[0]))
	if service == nil {
		return nil
	}
	subject.Follow(c.Subject, service)
	if _, ok := podsOf(c, service.ID); !ok {
		return nil
	}
	by := mesh.Denying(c.Subject, &c.pod, readyPods(c, service))
	end := subject.LastEnd(c.Subject)
	if by == nil || !end.IsZero() && by.Object.Created().After(end) {
		return nil // The policy did not exist yet when the container ended.
	}
	subject.Follow(c.Subject, by)
	c.AddSource(service.Resource, service.ID.Namespace())
	c.AddSource(subject.PodsRef, service.ID.Namespace())
	account := cmp.Or(c.pod.Spec.ServiceAccountName, "default")
	return c.ExplainBy(by, c.Own.Severity, c.Own.Reason, subject.Sentences(c.Own.Sentence, c.Name(by)+
		" does not permit requests of service account "+account+" to "+c.Name(service)))
}
