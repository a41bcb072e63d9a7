package cause

import (
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"

	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// remainingPattern matches a resource in the condition of a namespace, such as "widgets.example.com has 1 resource
// instances".
var remainingPattern = regexp.MustCompile(`([a-z0-9-]+)\.([a-z0-9.-]*) has \d+ resource instances`)

// waitsFor explains a deletion by the first of the remaining objects whose finalizers keep it.
func waitsFor(s *subject, remaining []neighbor.Neighbor) *verdict.Verdict {
	for n := range remaining {
		o := neighbor.Decode[struct {
			Metadata metav1.ObjectMeta `json:"metadata"`
		}](remaining[n].Object)
		if o.Metadata.DeletionTimestamp == nil || len(o.Metadata.Finalizers) == 0 {
			continue
		}
		sentence := "Being deleted; waiting for finalizer " + o.Metadata.Finalizers[0]
		s.reads(&remaining[n])
		return s.inherit(verdict.Degraded, s.own.Reason,
			s.own.Sentence+". "+remaining[n].ID.Kind.Kind+" "+remaining[n].ID.Name()+": "+sentence,
			&verdict.Cause{Object: neighbor.ObjectOf(&remaining[n]), Sentence: sentence})
	}
	return nil
}

// definitionInstances explains a CustomResourceDefinition that is not deleted because objects of its kind remain.
func definitionInstances(s *subject) *verdict.Verdict {
	if !s.own.Severity.IsProblem() || s.own.Reason != "Terminating" {
		return nil
	}
	o := neighbor.Decode[struct {
		Spec struct {
			Group string `json:"group"`
			Names struct {
				Kind string `json:"kind"`
			} `json:"names"`
		} `json:"spec"`
	}](s.Object)
	kind := graph.Kind{Group: o.Spec.Group, Kind: o.Spec.Names.Kind}
	return waitsFor(s, s.All(kind, neighbor.AnyNamespace, neighbor.Limit))
}

// namespaceContent explains a namespace that is not deleted because objects with finalizers remain in it.
func namespaceContent(s *subject, o *corev1.Namespace) *verdict.Verdict {
	if !s.own.Severity.IsProblem() {
		return nil
	}
	for n := range o.Status.Conditions {
		c := &o.Status.Conditions[n]
		if c.Type != corev1.NamespaceContentRemaining || c.Status != corev1.ConditionTrue {
			continue
		}
		for _, found := range remainingPattern.FindAllStringSubmatch(c.Message, maxMentions) {
			resource := &neighbor.Mention{Kind: found[1], Group: strings.TrimSuffix(found[2], "."), Name: "-"}
			kinds := s.Named(s.ID, resource)
			for m := range kinds {
				if v := waitsFor(s, s.All(kinds[m].ID.Kind, s.ID.Name(), neighbor.Limit)); v != nil {
					return v
				}
			}
		}
	}
	return nil
}
