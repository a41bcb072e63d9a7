package traffic

import (
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// aliasProblem explains a Service of the type ExternalName that is an alias for another Service of the cluster, by the
// failure of this Service. If the other Service has no pods on purpose, the alias has no problem either.
func aliasProblem(s *subject.Subject) *verdict.Verdict {
	for n := range s.Used(subject.In("spec.externalName")) {
		if n.Object == nil {
			continue
		}
		isScaled := n.Object.Verdict().Unpack().Reason == "ScaledToZero"
		if s.IsFailed(&n) {
			return s.Inherit(&n, verdict.Failed, s.Name(&n)+": ")
		}
		if isScaled && !n.Object.Verdict().Severity().IsProblem() {
			return s.Inherit(&n, s.Own.Severity, s.Name(&n)+": ")
		}
	}
	return nil
}
