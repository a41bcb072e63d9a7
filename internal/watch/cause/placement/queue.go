package placement

import (
	"regexp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// QueuedJob explains a suspended Job that owns a custom resource with a problem, such as a Workload of Kueue. A queue
// keeps the Job suspended until it admits this custom resource.
func QueuedJob(s *subject.Subject) *verdict.Verdict {
	isBuiltIn := func(id graph.ID) bool { return !resource.IsCustom(id.Group) }
	owned := slices.DeleteFunc(s.Owned(s.Object.UID(), neighbor.Limit), isBuiltIn)
	worst := s.Worst(s.Existing(owned)) // Nil for most Jobs: they own only pods. Only other Jobs are decoded below.
	if worst == nil {
		return nil
	}
	if suspend := neighbor.Decode[batchv1.Job](s.Object).Spec.Suspend; suspend == nil || !*suspend {
		return nil
	}
	return s.Inherit(worst, verdict.Degraded, worst.String()+": ")
}

const queueGroup = "kueue.x-k8s.io"

// unselected matches a message of Kueue about a namespace whose Workloads the queue does not admit.
var unselected = regexp.MustCompile(
	`\bnamespace (?:doesn't|does not) match (?:the )?ClusterQueue (?:[a-z]+ )?selector\b`)

// UnselectedNamespace explains a Workload of Kueue that is never admitted because its ClusterQueue does not select its
// namespace. The message is out of date if the selector matches the labels of the namespace.
func UnselectedNamespace(s *subject.Subject) *verdict.Verdict {
	isWorkload := s.ID.Kind == graph.Kind{Group: queueGroup, Kind: "Workload"}
	if !isWorkload || !s.Own.Severity.IsProblem() || !unselected.MatchString(s.Own.Sentence) {
		return nil
	}
	type queue struct {
		Spec struct {
			QueueName         string                `json:"queueName"`    // Of a Workload.
			ClusterQueue      string                `json:"clusterQueue"` // Of a LocalQueue.
			NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector"`
		} `json:"spec"`
	}
	follow := func(kind graph.Kind, namespace, name string) (neighbor.Neighbor, queue) {
		n := s.Find(graph.NewID(kind, namespace, name))
		subject.Follow(s, &n)
		return n, neighbor.Decode[queue](n.Object)
	}
	name := neighbor.Decode[queue](s.Object).Spec.QueueName
	local, o := follow(graph.Kind{Group: queueGroup, Kind: "LocalQueue"}, s.ID.Namespace(), name)
	by, o := follow(graph.Kind{Group: queueGroup, Kind: "ClusterQueue"}, "", o.Spec.ClusterQueue)
	namespace, _ := follow(graph.Kind{Kind: "Namespace"}, "", s.ID.Namespace())
	selector, err := metav1.LabelSelectorAsSelector(o.Spec.NamespaceSelector)
	set := neighbor.Decode[metav1.PartialObjectMetadata](namespace.Object).Labels
	if by.Object == nil || namespace.Object == nil || err != nil || selector.Matches(labels.Set(set)) {
		return nil
	}
	s.AddSource(local.Resource, s.ID.Namespace())
	s.AddSource(namespace.Resource, "")
	return s.ExplainBy(&by, verdict.Degraded, s.Own.Reason,
		subject.Sentences(s.Own.Sentence, by.String()+" does not select "+namespace.String()))
}
