package operator

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/connection"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Unreached explains a custom resource whose controller cannot connect to a Service that has failed. The spec of the
// resource contains the host name of the Service. The error is in the sentence of the resource or, if the resource has
// no problem of its own, in a repeated warning.
func Unreached(s *subject.Subject) *verdict.Verdict {
	if subject.IsComplete(&s.Neighbor) {
		return nil // An older warning does not matter any more.
	}
	reason, text := s.Own.Reason, s.Own.Sentence
	if !s.Own.Severity.IsProblem() {
		warning := s.RepeatedWarning("")
		if warning == nil {
			return nil
		}
		reason, text = warning.Reason, warning.Sentence
	}
	for _, host := range connection.FailedHosts(text) {
		n := failedService(s, host)
		if n == nil {
			continue
		}
		v := s.Inherit(n, verdict.Degraded, subject.Sentences(text, s.Name(n)+": "))
		v.Reason = reason
		return v
	}
	return nil
}

// failedService returns the failed Service of a host name that contains a namespace, or nil. The controller possibly
// runs in another namespace than the subject, so another host name can mean another Service.
func failedService(s *subject.Subject, host string) *neighbor.Neighbor {
	spec := neighbor.Decode[struct {
		Spec json.RawMessage `json:"spec"`
	}](s.Object).Spec
	if !strings.Contains(host, ".") || !bytes.Contains(spec, []byte(host)) {
		return nil
	}
	namespace, name := connection.ServiceOf(s, host)
	if name == "" {
		return nil
	}
	n := s.Find(graph.NewID(graph.Kind{Kind: "Service"}, namespace, name))
	subject.Follow(s, &n)
	isScaled := n.Object != nil && n.Object.Verdict().Unpack().Reason == "ScaledToZero"
	if !isScaled && !s.IsFailed(&n) {
		return nil
	}
	return &n
}
