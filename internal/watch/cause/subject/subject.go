// Package subject contains what the rules for causes share: the object that a rule explains, its neighbors, and the
// verdicts that it can get from them.
package subject

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/message"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/symptom"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// The refs of resources whose objects often provide the texts of verdicts.
const (
	PodsRef   = "core/v1/pods"
	EventsRef = "core/v1/events"
)

// Subject is the object that a rule explains. The field Object is never nil.
type Subject struct {
	neighbor.Cluster
	neighbor.Neighbor

	Own     verdict.Verdict // The verdict on the object alone.
	sources verdict.Sources // The sources of the texts that the rule has read. Method Complete adds one for the cause.
	text    []byte          // The result of Text; nil before its first call.
}

// New returns the Subject for n, whose field Object must not be nil.
func New(c neighbor.Cluster, n neighbor.Neighbor) *Subject {
	return &Subject{Cluster: c, Neighbor: n, Own: n.Object.Verdict().Own().Unpack()}
}

// Text returns the JSON text of the subject. It decompresses the text only once.
func (s *Subject) Text() []byte {
	if s.text == nil {
		s.text, _ = s.Object.JSON() // This never fails: objects in the cache are valid.
	}
	return s.text
}

// Complete adds the sources of the texts and the cause to a rule's verdict. It removes the subject itself as a cause.
func (s *Subject) Complete(v *verdict.Verdict) {
	v.Sources = v.Sources.With(s.sources)
	if v.Cause == nil {
		return
	}
	if v.Via == nil || v.Cause.Resource != "" {
		v.Sources = v.Sources.With(sourceOf(v.Cause))
	}
	if v.Cause.Object == neighbor.ObjectOf(&s.Neighbor) {
		v.Cause = nil
	}
}

// sourceOf returns the source of the sentence about a cause. If the cause is missing, and the cluster does not serve
// its kind, this sentence is from the subject alone, so the source is the subject.
func sourceOf(c *verdict.Cause) verdict.Sources {
	if c.Missing && c.Resource == "" {
		return verdict.Own
	}
	return verdict.Source(c.Resource, c.Namespace)
}

// Explain returns a verdict. The cause can be nil. The severity is at least the subject's own severity.
func (s *Subject) Explain(severity verdict.Severity, reason, sentence string, cause *verdict.Cause) *verdict.Verdict {
	return &verdict.Verdict{
		Severity: max(severity, s.Own.Severity), Reason: reason, Sentence: sentence, Cause: cause,
	}
}

// ExplainAlone returns a verdict whose sentence is based only on the content of the subject.
func ExplainAlone(s *Subject, severity verdict.Severity, reason, sentence string) *verdict.Verdict {
	s.sources = s.sources.With(verdict.Own)
	return s.Explain(severity, reason, sentence, nil)
}

// ExplainBy returns a verdict whose cause is a neighbor. The verdict and the cause have the same sentence.
func (s *Subject) ExplainBy(
	n *neighbor.Neighbor, severity verdict.Severity, reason, sentence string,
) *verdict.Verdict {
	return s.Explain(severity, reason, sentence, &verdict.Cause{Object: neighbor.ObjectOf(n), Sentence: sentence})
}

// Inherit returns the verdict that the subject inherits from a neighbor with a problem. prefix starts its sentence.
func (s *Subject) Inherit(n *neighbor.Neighbor, severity verdict.Severity, prefix string) *verdict.Verdict {
	of := n.Object.Verdict().Unpack()
	cause := of.Cause
	if cause == nil {
		cause = &verdict.Cause{Object: neighbor.ObjectOf(n), Sentence: of.Why()}
	}
	AddSourcesOf(s, n)
	// A ReplicaSet that inherits the problem of a pod adds no text of its own, so it is not a source of the sentence.
	passesOn := n.ID.Kind.Kind == "ReplicaSet" && of.Sources.Contains(PodsRef, n.ID.Namespace())
	if prefix != "" || !passesOn {
		s.AddSource(n.Resource, n.ID.Namespace())
	}
	v := s.Explain(severity, of.Reason, prefix+cmp.Or(cause.Sentence, of.Why()), cause)
	via := neighbor.ObjectOf(n)
	v.Via = &via
	return v
}

// maxOwnError limits the part of a sentence that is an error of the subject itself, in bytes.
const maxOwnError = 200

// InheritWithError returns the verdict that the subject inherits from a neighbor with a problem. If the own status of
// the subject contains a bad state or an error, the sentence of the verdict starts with this state or error. A health
// script possibly does not know the state. The subject then has no verdict of its own.
func InheritWithError(s *Subject, n *neighbor.Neighbor) *verdict.Verdict {
	v := s.Inherit(n, verdict.Degraded, n.String()+": ")
	if !s.Own.Severity.IsProblem() && s.Own.Severity != verdict.None {
		return v
	}
	text := symptom.OwnError(neighbor.Decode[map[string]any](s.Object))
	text = strings.TrimRight(message.Line(text, maxOwnError), ".")
	if text != "" && !strings.Contains(text, v.Cause.Sentence) && !strings.Contains(v.Sentence, text) {
		v.Reason, v.Sentence = cmp.Or(s.Own.Reason, v.Reason), Sentences(text, v.Sentence)
	}
	return v
}

// Sentences returns a text that consists of two sentences. The first one can end with a period.
func Sentences(first, second string) string { return strings.TrimRight(first, ".") + ". " + second }

// AddSource adds a resource in a namespace to the sources, because the verdict contains a text about it.
func (s *Subject) AddSource(resource, namespace string) {
	s.sources = s.sources.With(verdict.Source(resource, namespace))
}

// AddSourcesOf adds the sources of a neighbor's texts. A verdict that contains such a text needs them.
func AddSourcesOf(s *Subject, n *neighbor.Neighbor) {
	of := n.Object.Verdict().Unpack().Sources
	s.sources = s.sources.With(of.ForInheritor(verdict.Source(n.Resource, n.ID.Namespace())))
}

// ReportMissing returns a verdict for a reference to an object that does not exist.
func (s *Subject) ReportMissing(n *neighbor.Neighbor, severity verdict.Severity) *verdict.Verdict {
	cause := s.MissingCause(n)
	return s.Explain(severity, n.ID.Kind.Kind+"NotFound", cause.Sentence, cause)
}

// Name returns the kind and the name of a neighbor, such as "Service web", or "Service system/hook" if its namespace is
// another one than that of the subject.
func (s *Subject) Name(n *neighbor.Neighbor) string {
	if namespace := n.ID.Namespace(); namespace != "" && namespace != s.ID.Namespace() {
		return n.ID.Kind.Kind + " " + namespace + "/" + n.ID.Name()
	}
	return n.String()
}

// MissingCause returns the cause for an object that does not exist.
func (s *Subject) MissingCause(n *neighbor.Neighbor) *verdict.Cause {
	sentence := s.Name(n) + " does not exist"
	if n.Resource == "" {
		sentence = fmt.Sprintf("%s is required, but the cluster does not serve kind %s of API group %s",
			s.Name(n), n.ID.Kind.Kind, n.ID.Group)
	}
	return &verdict.Cause{Object: neighbor.ObjectOf(n), Sentence: sentence, Missing: true}
}
