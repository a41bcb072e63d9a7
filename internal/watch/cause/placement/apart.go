package placement

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// volume is a PersistentVolume of a pod that only some nodes can use.
type volume struct {
	neighbor.Neighbor

	nodes *corev1.NodeSelector
}

// apart explains why no node fits a pod: two volumes of the pod have no node in common, for example because they are in
// different zones. It compares only what the volumes require, so it does not depend on the nodes that exist now.
func apart(s *subject.Subject, _ *corev1.Pod) *verdict.Verdict {
	volumes := volumesOf(s)
	for n := range volumes {
		for _, other := range volumes[:n] {
			first := &volumes[n]
			at, isElsewhere := conflict(other.nodes, first.nodes)
			if !isElsewhere {
				continue
			}
			s.AddSource(first.Resource, "")
			return s.ExplainBy(&other.Neighbor, s.Own.Severity, "VolumeNodeAffinityConflict", fmt.Sprintf(
				"No node can use all volumes of the pod: %s requires %s, and %s requires %s",
				&other.Neighbor, at[0], &first.Neighbor, at[1]))
		}
	}
	return nil
}

// volumesOf returns the volumes of a pod that only some nodes can use.
func volumesOf(s *subject.Subject) (found []volume) {
	for n := range s.Used(func(u *graph.Use) bool { return u.Target.Kind.Kind == "PersistentVolumeClaim" }) {
		name := neighbor.Decode[corev1.PersistentVolumeClaim](n.Object).Spec.VolumeName
		if name == "" || len(found) == neighbor.Limit {
			continue
		}
		v := s.Find(graph.NewID(graph.Kind{Kind: "PersistentVolume"}, "", name))
		subject.Follow(s, &v)
		affinity := neighbor.Decode[corev1.PersistentVolume](v.Object).Spec.NodeAffinity
		if affinity != nil && affinity.Required != nil && len(affinity.Required.NodeSelectorTerms) > 0 {
			found = append(found, volume{v, affinity.Required})
		}
	}
	return found
}

// conflict reports whether no node can meet two selectors, and describes a requirement of each selector. Each selector
// is a list of alternatives, so each alternative of one selector must conflict with each alternative of the other.
func conflict(a, b *corev1.NodeSelector) (at [2]string, ok bool) {
	for n := range a.NodeSelectorTerms {
		for m := range b.NodeSelectorTerms {
			if at, ok = conflictOfTerms(&a.NodeSelectorTerms[n], &b.NodeSelectorTerms[m]); !ok {
				return at, false
			}
		}
	}
	return at, true
}

func conflictOfTerms(a, b *corev1.NodeSelectorTerm) (at [2]string, ok bool) {
	for _, r := range a.MatchExpressions {
		for _, other := range b.MatchExpressions {
			isIn := r.Operator == corev1.NodeSelectorOpIn && other.Operator == corev1.NodeSelectorOpIn
			if isIn && r.Key == other.Key && !slices.ContainsFunc(r.Values, func(value string) bool {
				return slices.Contains(other.Values, value)
			}) {
				return [2]string{requirement(&r), requirement(&other)}, true
			}
		}
	}
	return at, false
}

// requirement describes a label that a node must have, such as "zone=a or zone=b".
func requirement(r *corev1.NodeSelectorRequirement) string {
	return r.Key + "=" + strings.Join(r.Values, " or "+r.Key+"=")
}
