// Package pool explains why a pod gets no node from a pool of nodes, or from the autoscaler of the cluster.
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

//nolint:gochecknoglobals // Constant.
var nodeKind = graph.Kind{Kind: "Node"}

// Explain explains a pod that fits on no node, by the pool of nodes that it requires, or by an autoscaler.
func Explain(s *subject.Subject, p *corev1.Pod) *verdict.Verdict {
	for _, rule := range []func(*subject.Subject, *corev1.Pod) *verdict.Verdict{
		withoutPool, notOffered, leftTainted, withoutNewNode,
	} {
		if v := rule(s, p); v != nil {
			return v
		}
	}
	return nil
}

// withoutPool explains why a pod gets no node: the pod requires the label of a node pool, and this pool does not exist,
// has a problem, or has reached its limit.
func withoutPool(s *subject.Subject, p *corev1.Pod) *verdict.Verdict {
	labels, isComplete := fit.RequiredLabels(p)
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		pool := poolOf(s, key, labels[key])
		if pool == nil {
			continue
		}
		subject.Follow(s, pool)
		prefix := fmt.Sprintf("The pod requires a node of %s", pool)
		switch {
		case pool.Presence == neighbor.Missing && !fit.HasNode(s, key, labels[key]):
			v := s.ReportMissing(pool, s.Own.Severity)
			v.Sentence = prefix + ", but this object does not exist"
			v.Cause.Sentence = v.Sentence // An object that inherits the verdict shows the sentence of the cause.
			return v
		case pool.Object == nil:
			continue
		}
		if v := poolProblem(s, pool, prefix+", which has a problem: "); v != nil {
			return v
		}
		limit := limitInEvent(s, pool)
		if limit == "" && isComplete && len(labels) == 1 {
			limit = reachedLimit(pool, p)
		}
		if limit != "" {
			return s.ExplainBy(pool, s.Own.Severity, "LimitReached", prefix+", which has reached its limit: "+limit)
		}
	}
	return nil
}

// poolProblem returns the verdict that a pod inherits from its pool, or nil. If the pool inherits a problem from an
// object that it owns, such as one of its nodes, this problem does not prevent further nodes. In this case, only the
// pool's own problem counts.
func poolProblem(s *subject.Subject, pool *neighbor.Neighbor, prefix string) *verdict.Verdict {
	packed := pool.Object.Verdict()
	v, own := packed.Unpack(), packed.Own().Unpack()
	from := v.Via
	if from == nil && v.Cause != nil {
		from = &v.Cause.Object
	}
	uses, _ := s.References(pool.ID)
	isUsed := from != nil && slices.ContainsFunc(uses, func(u graph.Use) bool { return u.Target == neighbor.IDOf(from) })
	switch {
	case (isUsed || !packed.IsInherited()) && s.HasProblem(pool):
		return s.Inherit(pool, s.Own.Severity, prefix)
	case own.Severity.IsProblem():
		return s.ExplainBy(pool, s.Own.Severity, own.Reason, prefix+own.Why())
	}
	return nil
}

// poolName matches the end of the kinds of node pools.
var poolName = regexp.MustCompile(`(Pool|Node(Group|Class))$`)

// poolOf returns the pool of nodes that a label of its nodes names, or nil. By convention, the key of such a label is
// the API group and the kind of the pool, and the value is its name, as in "karpenter.sh/nodepool: general".
func poolOf(s *subject.Subject, key, name string) *neighbor.Neighbor {
	group, kind, ok := strings.Cut(key, "/")
	if !ok || name == "" {
		return nil
	}
	for _, n := range s.Named(s.ID, &neighbor.Mention{Kind: kind, Group: group, Name: name}) {
		if n.ID.Namespace() == "" && poolName.MatchString(n.ID.Kind.Kind) {
			return &n
		}
	}
	return nil
}

// limitPattern matches a message about a limit that an autoscaler has reached.
var limitPattern = regexp.MustCompile(`(?i)\b(?:exceed(?:s|ed|ing)?|reach(?:es|ed)?|hit)\b[^;]{0,60}\blimits?\b|` +
	`\blimits?\b[^;]{0,60}\b(?:exceeded|reached|hit)\b`)

// limitInEvent returns a part of the newest event of an autoscaler about the pod: the part that states that a pool has
// reached its limit. It returns "" if there is no such part.
func limitInEvent(s *subject.Subject, pool *neighbor.Neighbor) string {
	last := autoscalerEvent(s)
	if last == nil {
		return ""
	}
	for part := range strings.SplitSeq(last.Message, ";") {
		if limitPattern.MatchString(part) && subject.ContainsName(part, pool.ID.Name()) {
			s.AddSource(subject.EventsRef, last.Namespace)
			return strings.TrimSpace(part)
		}
	}
	return ""
}

// autoscalerEvent returns the newest event in which an autoscaler, and not the scheduler, explains why a pod gets no
// node. It returns nil if no such event exists.
func autoscalerEvent(s *subject.Subject) *corev1.Event {
	return s.NewestEvent(func(e *corev1.Event) bool {
		return e.Reason == "FailedScheduling" && subject.IsWarning(e) && !strings.Contains(e.Message, "nodes are available")
	})
}

// reachedLimit returns the limit of a pool that prevents a further node for a pod, such as "cpu 16 of 16", or "". If
// the pod does not tolerate the taints of the pool, the limit is not the reason: the pod would not fit on a further
// node either.
func reachedLimit(n *neighbor.Neighbor, p *corev1.Pod) string {
	pool := neighbor.Decode[struct {
		Spec struct {
			Limits   corev1.ResourceList `json:"limits"`
			Template struct {
				Spec corev1.NodeSpec `json:"spec"`
			} `json:"template"`
		} `json:"spec"`
		Status struct {
			Resources corev1.ResourceList `json:"resources"`
		} `json:"status"`
	}](n.Object)
	if fit.Untolerated(p, &corev1.Node{Spec: pool.Spec.Template.Spec}) != nil {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(pool.Spec.Limits)) {
		limit := pool.Spec.Limits[name]
		used, ok := pool.Status.Resources[name]
		request, wanted := fit.Request(p, name), used.DeepCopy()
		wanted.Add(request)
		if ok && (isOnEachNode(name) || !request.IsZero()) && (used.Cmp(limit) >= 0 || wanted.Cmp(limit) > 0) {
			return fmt.Sprintf("%s %s of %s", name, used.String(), limit.String())
		}
	}
	return ""
}

// isOnEachNode reports whether every node of a pool counts toward a limit for the given resource. A limit for GPUs, for
// example, counts only some nodes.
func isOnEachNode(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory || name == "nodes"
}
