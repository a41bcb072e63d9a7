package overview

import (
	"cmp"
	"slices"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// item is one failed or degraded object that the viewer may see.
type item struct {
	verdict.Object
	verdict.Verdict

	// Chain is the path from the object to its cause, if the viewer may see all objects on this path.
	Chain []verdict.Object
	// Owner is the topmost of the object's owners with a problem; nil if there is none, or if the viewer may not see it.
	Owner *verdict.Object
	// Since returns when the problem of the object began, or if this is unknown, when the object was created.
	Since func() (at time.Time, isKnown bool)
}

// rank returns the rank of a kind in the order of the objects of a finding. The objects that people usually manage are
// first (a Deployment before its Pods).
func rank(kind string) int {
	switch kind {
	case "Node", "APIService", "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration":
		return 0
	case "ReplicaSet", "Job", "ReplicationController":
		return 3
	case "Pod":
		return 4
	case "Service", "Ingress", "HTTPRoute", "GRPCRoute", "HorizontalPodAutoscaler", "PodDisruptionBudget":
		return 2
	}
	return 1
}

// group groups items by their cause. The findings with the worst members are first. Of equally bad findings, the newest
// is first.
func group(items []item) []Finding {
	owners := make(map[verdict.Object]verdict.Object, len(items))
	for n := range items {
		if items[n].Owner != nil {
			owners[items[n].Object] = *items[n].Owner
		}
	}
	groups := make(map[verdict.Object][]*item)
	for n := range items {
		root := items[n].Object
		if c := items[n].Cause; c != nil {
			root = c.Object
		}
		if owner, ok := owners[root]; ok {
			root = owner // For example, all pods of a Deployment are one finding.
		}
		groups[root] = append(groups[root], &items[n])
	}
	findings := make([]Finding, 0, len(groups))
	for root, members := range groups {
		findings = append(findings, newFinding(root, members))
	}
	slices.SortFunc(findings, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(b.worst, a.worst), cmp.Compare(b.Severity, a.Severity), b.Since.Compare(a.Since),
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind),
		)
	})
	return findings
}

func newFinding(root verdict.Object, members []*item) Finding {
	slices.SortFunc(members, func(a, b *item) int {
		return cmp.Or(
			cmp.Compare(isNot(a.Object == root), isNot(b.Object == root)), cmp.Compare(rank(a.Kind), rank(b.Kind)),
			cmp.Compare(b.Severity, a.Severity), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name),
		)
	})
	first := members[0]
	f := Finding{
		Object: first.Object, Verdict: first.Verdict, Count: len(members), Chain: first.Chain, Objects: []Member{},
	}
	// The list has a limit, so the worst objects must be first.
	slices.SortStableFunc(members, func(a, b *item) int { return cmp.Compare(b.Severity, a.Severity) })
	f.worst = members[0].Severity
	for _, m := range members[:min(MaxMembers, len(members))] {
		f.Objects = append(f.Objects, Member{m.Object, m.Verdict, m.Chain})
	}
	f.Since, f.hasStart = first.Since()
	return f
}

// ownerOf returns the workload that owns an object, such as the Deployment of a pod. Without a workload, it returns the
// topmost owner. It ignores an owner that the viewer may not read, and the owners of this owner. Without an owner, it
// returns nil.
func (b *builder) ownerOf(o *verdict.Object) (top *verdict.Object) {
	isFound := false // top is a workload.
	for _, owner := range b.deps.Engine.Owners(neighbor.IDOf(o)) {
		if !b.sees(&owner) {
			break
		}
		if isWorkload := isWorkload(owner.ID.Kind); isWorkload || !isFound {
			object := neighbor.ObjectOf(&owner)
			top, isFound = &object, isWorkload
		}
	}
	return top
}

func isWorkload(kind graph.Kind) bool {
	return kind.Group == "apps" || kind.Group == "batch" || kind == graph.Kind{Kind: "ReplicationController"}
}

func isNot(condition bool) int {
	if condition {
		return 0
	}
	return 1
}
