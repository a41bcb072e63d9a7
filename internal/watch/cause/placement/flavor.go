package placement

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/fit"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/pool"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// queued is the part of a Workload of Kueue that shows which ResourceFlavors Kueue has assigned to which pods.
type queued struct {
	Spec struct {
		PodSets []struct {
			Template corev1.PodTemplateSpec `json:"template"` // Without what Kueue adds.
		} `json:"podSets"`
	} `json:"spec"`
	Status struct {
		Admission struct {
			PodSetAssignments []struct {
				Flavors map[string]string `json:"flavors"` // By resource.
			} `json:"podSetAssignments"`
		} `json:"admission"`
	} `json:"status"`
}

// flavored explains why a pod gets no node: Kueue has added a label of a ResourceFlavor to the node selector of the
// pod, and no node has this label.
func flavored(s *subject.Subject, p *corev1.Pod) *verdict.Verdict {
	if len(p.Spec.NodeSelector) == 0 || !s.Own.Severity.IsProblem() {
		return nil
	}
	workload := queuedWorkload(s)
	if workload == nil {
		return nil
	}
	for _, name := range flavorsOf(workload) {
		flavor := s.Find(graph.NewID(graph.Kind{Group: "kueue.x-k8s.io", Kind: "ResourceFlavor"}, "", name))
		labels := neighbor.Decode[struct {
			Spec struct {
				NodeLabels map[string]string `json:"nodeLabels"`
			} `json:"spec"`
		}](flavor.Object).Spec.NodeLabels
		for _, key := range slices.Sorted(maps.Keys(labels)) {
			value := labels[key]
			if p.Spec.NodeSelector[key] != value || requires(workload, key) || fit.HasNode(s, key, value) {
				continue
			}
			if pool.CanAdd(s, p) {
				return nil // Karpenter can add such a node.
			}
			subject.Follow(s, &flavor)
			s.AddSource("core/v1/nodes", "")
			return s.ExplainBy(&flavor, s.Own.Severity, s.Own.Reason, subject.Sentences(s.Own.Sentence, fmt.Sprintf(
				"%s of Kueue restricts the pod to nodes with the label %s=%s, which no node has", &flavor, key, value)))
		}
	}
	return nil
}

// queuedWorkload returns the Workload with which Kueue has admitted the pod or one of its owners, or nil.
func queuedWorkload(s *subject.Subject) *queued {
	id, uid := s.ID, s.Object.UID()
	for range maxOwners {
		for _, n := range s.Existing(s.Owned(uid, neighbor.Limit)) {
			if n.ID.Kind == (graph.Kind{Group: "kueue.x-k8s.io", Kind: "Workload"}) {
				subject.Follow(s, &n)
				workload := neighbor.Decode[queued](n.Object)
				return &workload
			}
		}
		_, owners := s.References(id)
		if len(owners) == 0 {
			return nil
		}
		id, uid = owners[0].ID, owners[0].UID
	}
	return nil
}

// maxOwners limits the owners of a pod that are searched for a Workload of Kueue.
const maxOwners = 4

// flavorsOf returns the names of the ResourceFlavors that Kueue has assigned to a workload.
func flavorsOf(workload *queued) (names []string) {
	for _, assignment := range workload.Status.Admission.PodSetAssignments {
		names = slices.AppendSeq(names, maps.Values(assignment.Flavors))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// requires reports whether the pods of a workload already require a label without Kueue.
func requires(workload *queued, key string) bool {
	for n := range workload.Spec.PodSets {
		required, _ := fit.RequiredLabels(&corev1.Pod{Spec: workload.Spec.PodSets[n].Template.Spec})
		if _, ok := required[key]; ok {
			return true
		}
	}
	return false
}
