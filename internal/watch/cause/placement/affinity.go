package placement

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/fit"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

//nolint:gochecknoglobals // Constant.
var podKind = graph.Kind{Kind: "Pod"}

var (
	// excludedPattern matches the number of nodes whose pods exclude a pod, in a message of the scheduler.
	excludedPattern = regexp.MustCompile(`(\d+) node\(s\) didn't satisfy existing pods anti-affinity rules`)
	// fullPattern matches the number of nodes that lack a resource for a pod.
	fullPattern = regexp.MustCompile(`(\d+) (?:Insufficient \S|Too many pods)`)
)

// maxPods limits the pods whose anti-affinity is compared with a pod.
const maxPods = 5 * neighbor.Limit

// searchInterval is the time between two searches for a pod that excludes a given pod from its node.
const searchInterval = time.Minute

// excluded explains why a pod cannot be scheduled: a node already has another pod with a required anti-affinity to the
// labels of this pod. The cause is the workload of the other pod. The pod itself possibly has no affinity. The other
// pod is in the same namespace: a search in all pods of the cluster, for each pending pod, would take too long.
func excluded(s *subject.Subject, p *corev1.Pod) *verdict.Verdict {
	if !isExcluded(rejection(p)) {
		return nil
	}
	for _, n := range s.All(podKind, p.Namespace, maxPods) {
		if n.ID == s.ID {
			continue
		}
		if pods := exclusion(s, &n, p); pods != "" {
			return excludedBy(s, &n, pods)
		}
	}
	s.RevisitAt(s.Now().Add(searchInterval)) // A pod that is created later possibly excludes this one.
	return nil
}

// isExcluded reports whether existing pods exclude a pod from some nodes. It returns false if more nodes lack a
// resource than are excluded, because the missing resource is then the main problem. It also returns false if a node is
// lost: the existing pods did not change, so the lost node can be the main problem.
func isExcluded(message string) bool {
	found := excludedPattern.FindStringSubmatch(message)
	if found == nil || strings.Contains(message, corev1.TaintNodeNotReady) ||
		strings.Contains(message, corev1.TaintNodeUnreachable) {
		return false
	}
	nodes, _ := strconv.Atoi(found[1])
	for _, full := range fullPattern.FindAllStringSubmatch(message, -1) {
		if more, _ := strconv.Atoi(full[1]); more > nodes {
			return false
		}
	}
	return true
}

// excludedBy returns the verdict on a pod that cannot run on a node because the pod n, which is on that node, excludes
// the pod. The parameter pods describes all pods that n excludes.
func excludedBy(s *subject.Subject, n *neighbor.Neighbor, pods string) *verdict.Verdict {
	by, own := subject.Workload(s, n), subject.Workload(s, &s.Neighbor)
	if by.ID == own.ID {
		by = *n // For example, a pod of an older version of the same workload.
	}
	subject.Follow(s, n)
	s.AddSource(n.Resource, n.ID.Namespace())
	s.AddSource("core/v1/nodes", "")
	return s.ExplainBy(&by, s.Own.Severity, s.Own.Reason, fmt.Sprintf(
		"%s. %s has a required anti-affinity to %s", s.Own.Sentence, s.Name(&by), pods))
}

// exclusion describes the pods that the pod n excludes from its node by a required anti-affinity. If the pod p is not
// one of these pods, exclusion returns "".
func exclusion(s *subject.Subject, n *neighbor.Neighbor, p *corev1.Pod) string {
	text, _ := n.Object.JSON()
	if !bytes.Contains(text, []byte(`"podAntiAffinity"`)) {
		return "" // This is so for most pods, so do not decode them.
	}
	other := neighbor.Decode[corev1.Pod](n.Object)
	affinity := other.Spec.Affinity
	if subject.IsFinished(&other) || affinity == nil || affinity.PodAntiAffinity == nil {
		return ""
	}
	found := s.Find(graph.NewID(nodeKind, "", other.Spec.NodeName)) // Finds no node if the pod has none yet.
	node := neighbor.Decode[corev1.Node](found.Object)
	if fit.IsRejected(p, &node) {
		return ""
	}
	terms := affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	for n := range terms {
		term := &terms[n]
		selector, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
		_, hasTopology := node.Labels[term.TopologyKey]
		if err == nil && hasTopology && selector.Matches(labels.Set(p.Labels)) && appliesIn(s, term, &other, p.Namespace) {
			subject.Follow(s, &found)
			if selector.Empty() {
				return "all pods"
			}
			return "pods with the labels " + metav1.FormatLabelSelector(term.LabelSelector)
		}
	}
	return ""
}

// appliesIn reports whether an affinity term of a pod applies to the pods in a namespace.
func appliesIn(s *subject.Subject, term *corev1.PodAffinityTerm, of *corev1.Pod, namespace string) bool {
	if len(term.Namespaces) == 0 && term.NamespaceSelector == nil {
		return of.Namespace == namespace
	}
	if slices.Contains(term.Namespaces, namespace) {
		return true
	}
	selector, err := metav1.LabelSelectorAsSelector(term.NamespaceSelector) // A nil selector selects nothing.
	if err != nil || selector.Empty() {
		return err == nil
	}
	n := s.Find(graph.NewID(graph.Kind{Kind: "Namespace"}, "", namespace))
	subject.Follow(s, &n)
	return n.Object != nil && selector.Matches(labels.Set(neighbor.Decode[metav1.PartialObjectMetadata](n.Object).Labels))
}
