package pool

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/fit"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
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
	if !fit.NeedsOnlyResources(p) {
		return nil
	}
	for _, n := range s.All(nodeKind, "", fit.MaxNodes) {
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
		if err != nil || fit.IsRejected(p, &node) || !fit.HasRoom(s, p, &node) ||
			!subject.HasPassed(s, time.Unix(since, 0).Add(maxDeletion)) {
			continue
		}
		subject.Follow(s, &n)
		s.AddSource(n.Resource, "")
		return s.ExplainBy(&n, s.Own.Severity, s.Own.Reason, subject.Sentences(s.Own.Sentence, fmt.Sprintf(
			"%s has room for the pod, but still has the taint %s. The cluster autoscaler set it at %s, but has not "+
				"deleted the node", &n, deletionTaint, time.Unix(since, 0).UTC().Format(time.RFC3339))))
	}
	return nil
}
