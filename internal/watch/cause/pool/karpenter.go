package pool

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/fit"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// nodePool is a NodePool of Karpenter, with the fields that decide which pods its new nodes accept.
type nodePool struct {
	neighbor.Neighbor

	labels       map[string]string
	requirements []corev1.NodeSelectorRequirement
	taints       []corev1.Taint
	provider     string // The API group of the NodeClass; can be empty.
}

func newNodePool(n *neighbor.Neighbor) *nodePool {
	template := neighbor.Decode[struct {
		Spec struct {
			Template struct {
				Metadata struct {
					Labels map[string]string `json:"labels"`
				} `json:"metadata"`
				Spec struct {
					Taints       []corev1.Taint                   `json:"taints"`
					Requirements []corev1.NodeSelectorRequirement `json:"requirements"`
					NodeClassRef struct {
						Group string `json:"group"`
					} `json:"nodeClassRef"`
				} `json:"spec"`
			} `json:"template"`
		} `json:"spec"`
	}](n.Object).Spec.Template
	labels := map[string]string{"karpenter.sh/nodepool": n.ID.Name()}
	maps.Copy(labels, template.Metadata.Labels)
	return &nodePool{*n, labels, template.Spec.Requirements, template.Spec.Taints, template.Spec.NodeClassRef.Group}
}

// notOffered explains why Karpenter adds no node for a pod: its NodePool cannot have nodes with a label that the pod
// requires. If several NodePools are possibly meant, notOffered returns nil.
func notOffered(s *subject.Subject, p *corev1.Pod) *verdict.Verdict {
	required, _ := fit.RequiredLabels(p)
	if len(required) == 0 || !s.Own.Severity.IsProblem() {
		return nil
	}
	if nodes, ok := fit.NodesWith(s, required); !ok || len(nodes) > 0 {
		return nil // The pod possibly waits for one of these nodes.
	}
	if s.NewestEvent(func(e *corev1.Event) bool { return strings.HasSuffix(e.Reason, "ScaleUp") }) != nil {
		return nil // Another autoscaler handles the pod.
	}
	pools, canAdd := unfitPools(s, p)
	if len(pools) > 1 {
		pools = considered(s, pools, required)
	}
	if canAdd || len(pools) != 1 {
		return nil
	}
	by := &pools[0].Neighbor
	return s.ExplainBy(by, s.Own.Severity, s.Own.Reason, subject.Sentences(s.Own.Sentence, fmt.Sprintf(
		"%s cannot have a node with the label %s", by, pools[0].missingLabel(required))))
}

// CanAdd reports whether Karpenter can possibly add a node with the labels that a pod requires.
func CanAdd(s *subject.Subject, p *corev1.Pod) bool {
	_, canAdd := unfitPools(s, p)
	return canAdd
}

// unfitPools returns the NodePools whose taints a pod tolerates, but which cannot have nodes with the labels that the
// pod requires. canAdd is true if a NodePool can possibly have such nodes. If only the taints of a NodePool exclude the
// pod, unfitPools returns no NodePools, because the labels of the others are not the reason.
func unfitPools(s *subject.Subject, p *corev1.Pod) (pools []*nodePool, canAdd bool) {
	kind := graph.Kind{Group: "karpenter.sh", Kind: "NodePool"}
	all, isComplete := subject.AllOf(s, kind, "", neighbor.Limit)
	if !isComplete {
		return nil, true
	}
	required, _ := fit.RequiredLabels(p)
	isTainted := false
	for n := range all {
		subject.Follow(s, &all[n])
		pool := newNodePool(&all[n])
		isTolerated := fit.Untolerated(p, &corev1.Node{Spec: corev1.NodeSpec{Taints: pool.taints}}) == nil
		switch hasLabels := pool.missingLabel(required) == ""; {
		case hasLabels && isTolerated:
			return nil, true
		case hasLabels:
			isTainted = true
		case isTolerated:
			pools = append(pools, pool)
		}
	}
	if isTainted {
		return nil, false
	}
	return pools, false
}

// considered returns those of several NodePools that have one of the required labels of a pod. If none has such a
// label, it returns those that Karpenter names in its newest event about the pod.
func considered(s *subject.Subject, pools []*nodePool, required map[string]string) []*nodePool {
	lacksLabels := func(pool *nodePool) bool {
		for key, value := range required {
			if pool.labels[key] == value {
				return false
			}
		}
		return true
	}
	if found := slices.DeleteFunc(slices.Clone(pools), lacksLabels); len(found) > 0 {
		return found
	}
	last := autoscalerEvent(s)
	if last == nil {
		return pools
	}
	named := slices.DeleteFunc(pools, func(pool *nodePool) bool {
		return !strings.Contains(last.Message, `incompatible with nodepool "`+pool.ID.Name()+`"`)
	})
	if len(named) == 1 {
		s.AddSource(subject.EventsRef, last.Namespace)
	}
	return named
}

// missingLabel describes a required label that the nodes of a NodePool cannot have, or returns "". Like Karpenter, it
// accepts a label that the NodePool does not define only if the label describes the machine.
func (pool *nodePool) missingLabel(required map[string]string) string {
	for _, key := range slices.Sorted(maps.Keys(required)) {
		value := required[key]
		label, isDefined := pool.labels[key]
		if isDefined && label != value {
			return fmt.Sprintf("%s=%s: it sets the value %s", key, value, label)
		}
		for _, r := range pool.requirements {
			isListed := slices.Contains(r.Values, value)
			switch {
			case r.Key != key:
				continue
			case r.Operator == corev1.NodeSelectorOpIn && !isListed:
				return fmt.Sprintf("%s=%s: it permits only %s", key, value, strings.Join(r.Values, ", "))
			case r.Operator == corev1.NodeSelectorOpNotIn && isListed, r.Operator == corev1.NodeSelectorOpDoesNotExist:
				return fmt.Sprintf("%s=%s: it excludes this label", key, value)
			}
			isDefined = true
		}
		if !isDefined && !pool.describesMachine(key) {
			return fmt.Sprintf("%s=%s: it does not define this label", key, value)
		}
	}
	return ""
}

// machineLabel matches the keys of labels that Karpenter or the driver of a volume can derive from a machine.
var machineLabel = regexp.MustCompile(`^[^/]*(?:\b(?:kubernetes|k8s)\.io|karpenter[^/]*)/|^(?:[^/]*\.)?csi\.[^/]*/`)

// describesMachine reports whether Karpenter possibly derives a label from a machine. A provider with the API group
// karpenter.k8s.aws, for example, also defines labels of the domain k8s.aws, such as topology.k8s.aws/zone-id.
func (pool *nodePool) describesMachine(key string) bool {
	domain, _, hasDomain := strings.Cut(key, "/")
	_, own, _ := strings.Cut(pool.provider, ".")
	return hasDomain && (own == "" || machineLabel.MatchString(key) || domain == own || strings.HasSuffix(domain, "."+own))
}
