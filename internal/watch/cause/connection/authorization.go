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

// lastDenied matches this answer at the end of a text, or before nothing but a status or a stack trace. If another
// error follows the answer, the program possibly ended because of that error.
var lastDenied = regexp.MustCompile(`\bRBAC: access denied\b(?:[\s"'()\[\]{}.,;\\` + "`" + `]|` +
	`\b(?:status|code)(?:_?code)?["']?[:= ]+["']?\d{1,3}\b|\b403\b)*` +
	`(?:$|\b(?:at (?:async )?[\w.$<>/]+ ?\(?[^() ]*:\d|goroutine \d+ \[))`)

// furtherError matches the start of another error after a stack trace.
var furtherError = regexp.MustCompile(`(?:Error|Exception|Caused by|\b(?:error|panic|fatal))\b[^ ]*: `)

// survived matches words which show that the program continued after an error, such as "using cached" and "skipped".
var survived = regexp.MustCompile(`(?i)\b(?:warn(?:ing)?|using|cached?|ignored?|ignoring|skip(?:ped|ping)?|` +
	`fall(?:ing|s)? ?back|continue|continuing|optional)\b`)

// unauthorized explains a pod by the AuthorizationPolicy because of which all ready pods of a Service deny its
// requests. The host of the Service must be the only host in the text.
func unauthorized(c *client, text string) *verdict.Verdict {
	answer := errorIn(text, accessDenied)
	found, isSure := hosts(answer)
	if len(found) != 1 || !isSure || survived.MatchString(answer) || !isLastDenied(text) {
		return nil
	}
	service := existing(c.services(found[0]))
	if service == nil {
		return nil
	}
	subject.Follow(c.Subject, service)
	ready, isComplete := readyPods(c, service)
	if !isComplete || mesh.CanRedirect(c.Subject, service.ID) {
		return nil
	}
	by := mesh.Denying(c.Subject, &c.pod, ready)
	end := subject.LastEnd(c.Subject)
	if by == nil || !end.IsZero() && (by.Object.Created().After(end) || by.Object.ManagedTime().After(end)) {
		return nil // The policy did not exist yet, or was different, when the container ended.
	}
	subject.Follow(c.Subject, by)
	c.AddSource(service.Resource, service.ID.Namespace())
	c.AddSource(subject.PodsRef, service.ID.Namespace())
	account := cmp.Or(c.pod.Spec.ServiceAccountName, "default")
	return c.ExplainBy(by, c.Own.Severity, c.Own.Reason, subject.Sentences(c.Own.Sentence, c.Name(by)+
		" does not permit requests of service account "+account+" to "+c.Name(service)))
}

// isLastDenied reports whether the last error in a text is the answer of Istio's proxy.
func isLastDenied(text string) bool {
	at := accessDenied.FindAllStringIndex(text, -1)
	if len(at) == 0 {
		return false
	}
	rest := text[at[len(at)-1][0]:]
	return lastDenied.MatchString(rest) && !furtherError.MatchString(rest) && !noConnection.MatchString(rest) &&
		!noDNS.MatchString(rest) && !hostPattern.MatchString(rest)
}
