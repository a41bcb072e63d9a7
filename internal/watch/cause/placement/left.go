package placement

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

const (
	// deletionTaint is the taint that the cluster autoscaler sets before it deletes a node. Its value is the Unix time.
	deletionTaint = "ToBeDeletedByClusterAutoscaler"
	// maxDeletion is the maximum time from this taint until the deletion of the node. By default, the autoscaler waits
	// 10 minutes for the pods of the node.
	maxDeletion = time.Hour
)

// leftTainted explains why a pod gets no node: a node has room for the pod, but the cluster autoscaler has neither
// deleted this node nor removed the taint that announces the deletion.
func leftTainted(s *subject.Subject, p *corev1.Pod) *verdict.Verdict {
	if !needsOnlyResources(p) {
		return nil
	}
	for _, n := range s.All(nodeKind, "", maxNodes) {
		text, _ := n.Object.JSON()
		if !bytes.Contains(text, []byte(deletionTaint)) {
			continue // This is so for most nodes, so do not decode them.
		}
		node := neighbor.Decode[corev1.Node](n.Object)
		isDeletion := func(t corev1.Taint) bool { return t.Key == deletionTaint }
		at := slices.IndexFunc(node.Spec.Taints, isDeletion)
		if at < 0 || node.DeletionTimestamp != nil {
			continue
		}
		since, err := strconv.ParseInt(node.Spec.Taints[at].Value, 10, 64)
		node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, isDeletion)
		if err != nil || isRejected(p, &node) || !hasRoom(s, p, &node) ||
			!subject.HasPassed(s, time.Unix(since, 0).Add(maxDeletion)) {
			continue
		}
		subject.Follow(s, &n)
		s.AddSource(n.Resource, "")
		return s.ExplainBy(&n, s.Own.Severity, s.Own.Reason, subject.Sentences(s.Own.Sentence, fmt.Sprintf(
			"%s has room for the pod, but keeps the taint %s, which the cluster autoscaler set at %s before a deletion "+
				"that did not happen", &n, deletionTaint, time.Unix(since, 0).UTC().Format(time.RFC3339))))
	}
	return nil
}

// needsOnlyResources reports whether a pod fits on each node that has certain labels and enough resources, and whose
// taints the pod tolerates. It returns false if something else restricts the pod, such as a volume or an affinity.
func needsOnlyResources(p *corev1.Pod) bool {
	_, isComplete := requiredLabels(p)
	isRelated := p.Spec.Affinity != nil && (p.Spec.Affinity.PodAffinity != nil || p.Spec.Affinity.PodAntiAffinity != nil)
	isClaim := func(v corev1.Volume) bool { return v.PersistentVolumeClaim != nil || v.Ephemeral != nil }
	return isComplete && !isRelated && len(p.Spec.TopologySpreadConstraints) == 0 && len(hostPorts(p)) == 0 &&
		len(p.Spec.ResourceClaims) == 0 && !slices.ContainsFunc(p.Spec.Volumes, isClaim)
}

// hasRoom reports whether a node has enough resources for one more pod. It returns false if possibly not all pods of
// the node are known.
func hasRoom(s *subject.Subject, p *corev1.Pod, node *corev1.Node) bool {
	ids := s.Users(graph.NewID(nodeKind, "", node.Name), maxPods)
	if len(ids) == maxPods || !subject.KnowsAll(s, podKind, "") {
		return false
	}
	pods := []corev1.Pod{*p}
	for _, n := range s.Existing(slices.DeleteFunc(ids, func(id graph.ID) bool { return id.Kind != podKind })) {
		if other := neighbor.Decode[corev1.Pod](n.Object); !subject.IsFinished(&other) {
			pods = append(pods, other)
		}
	}
	for n := range p.Spec.Containers {
		for name := range p.Spec.Containers[n].Resources.Requests {
			free := node.Status.Allocatable[name].DeepCopy()
			for i := range pods {
				free.Sub(requestOf(&pods[i], name))
			}
			if free.Sign() < 0 {
				return false
			}
		}
	}
	return int64(len(pods)) <= node.Status.Allocatable.Pods().Value()
}
