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

// Unreached explains a custom resource whose controller gets no service from a server in the cluster: the Service of
// the server has failed, or none of its pods is ready. The error is in the sentence of the resource or, if the resource
// has no problem of its own, in a repeated warning.
func Unreached(s *subject.Subject) *verdict.Verdict {
	if subject.IsComplete(&s.Neighbor) {
		return nil // An older warning does not matter any more.
	}
	reason, text, complete := s.Own.Reason, s.Own.Sentence, subject.CompleteSentence(s)
	if !s.Own.Severity.IsProblem() {
		warning := s.RepeatedWarning("")
		if warning == nil {
			return nil
		}
		reason, text, complete = warning.Reason, warning.Sentence, warning.Sentence
	}
	for _, host := range connection.FailedHosts(complete) {
		n := failedServer(s, host)
		if n == nil {
			continue
		}
		v := s.Inherit(n, verdict.Degraded, subject.Sentences(text, s.Name(n)+": "))
		v.Reason = reason
		return v
	}
	return nil
}

// failedServer returns the failed Service of a host name that contains a namespace, or a pod of the Service with a
// problem, if none of its pods is ready. Otherwise, it returns nil. The controller possibly runs in another namespace
// than the subject, so a name without a namespace can mean another Service. If the name does not contain ".svc", or the
// subject works, the spec of the subject must contain the name.
func failedServer(s *subject.Subject, host string) *neighbor.Neighbor {
	spec := neighbor.Decode[struct {
		Spec json.RawMessage `json:"spec"`
	}](s.Object).Spec
	isSure := s.Own.Severity != verdict.OK && (strings.HasSuffix(host, ".svc") || strings.Contains(host, ".svc."))
	if !isSure && (!strings.Contains(host, ".") || !bytes.Contains(spec, []byte(host))) {
		return nil
	}
	namespace, name := connection.ServiceOf(s, host)
	if name == "" || subject.IsRemote(s) {
		return nil
	}
	return connection.FailedServer(s, graph.NewID(graph.Kind{Kind: "Service"}, namespace, name))
}
