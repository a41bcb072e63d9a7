package traffic

import (
	"fmt"
	"slices"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// noPods explains a Service whose selector matches no pod.
func noPods(s *subject.Subject, selector *objectrefs.Selector) *verdict.Verdict {
	creators, isComplete := subject.Creators(s, selector)
	failed, scaled := failedCreator(s, creators)
	if scaled != nil && failed == nil {
		return s.ExplainBy(&scaled.Neighbor, s.Own.Severity, "ScaledToZero",
			fmt.Sprintf(noEndpoints+"%s %s", scaled, scaled.WithoutPods()))
	}
	if owner := s.OrderlyOwner(verdict.OK); owner != nil {
		sentence := fmt.Sprintf(noEndpoints+"its selector matches no pod, and its owner %s does not need one now", owner)
		return s.ExplainBy(owner, s.Own.Severity, "ScaledToZero", sentence)
	}
	if !subject.KnowsAll(s, graph.Kind{Kind: "Pod"}, s.ID.Namespace()) {
		return nil // Not all pods are known, and the selector can match an unknown one.
	}
	sentence := noEndpoints + "its selector " + selector.String() + " matches no pod"
	switch {
	case failed != nil && isComplete:
		v := s.Inherit(&failed.Neighbor, verdict.Failed, sentence+". "+failed.String()+": ")
		v.Reason = subject.NoPods
		return v
	case failed == nil && len(creators) == 0 && isComplete:
		owner := subject.FailedOwner(s)
		if owner != nil && lacksBalancer(s) {
			return nil // The owner possibly waits for the load balancer, so the Service reports only its warning.
		}
		if owner != nil {
			return ofOwner(s, owner, sentence)
		}
	}
	return s.Explain(verdict.Failed, subject.NoPods, sentence, nil)
}

// ofOwner explains a Service without pods by the own problem of its owner, whose controller should create the pods. The
// owner can inherit another problem because of the Service, so that problem does not count.
func ofOwner(s *subject.Subject, owner *neighbor.Neighbor, sentence string) *verdict.Verdict {
	own := owner.Object.Verdict().Own().Unpack()
	return s.Explain(verdict.Failed, subject.NoPods, sentence+". "+owner.String()+": "+own.Why(),
		&verdict.Cause{Object: neighbor.ObjectOf(owner), Sentence: own.Why()})
}

// lacksBalancer reports whether a Service gets no address because of an error of its load balancer.
func lacksBalancer(s *subject.Subject) bool {
	last := s.NewestEvent(subject.IsWarning)
	return s.Own.Reason == "LoadBalancerPending" && s.Own.Severity.IsProblem() && last != nil &&
		isLoadBalancer(last.Reason)
}

// isCausedByUser reports whether an object that uses the Service causes the problem of a workload. For example, a
// webhook that the workload serves blocks the creation of the workload's pods. The Service then explains the webhook.
// The function also returns true if not all objects that use the Service are read.
func isCausedByUser(s *subject.Subject, workload *neighbor.Neighbor) bool {
	cause := workload.Object.Verdict().Unpack().Cause
	users, isComplete := subject.UsersOf(s, s.ID, neighbor.Limit)
	return cause != nil && (!isComplete || slices.ContainsFunc(s.Existing(users), func(n neighbor.Neighbor) bool {
		return neighbor.ObjectOf(&n) == cause.Object
	}))
}

// failedCreator returns the only workload that should have pods, if it has a problem. It also returns a workload that
// has no pods on purpose. Each of the results can be nil.
func failedCreator(s *subject.Subject, creators []subject.Creator) (failed, scaled *subject.Creator) {
	active := 0
	for n := range creators {
		c := &creators[n]
		if c.WithoutPods() != "" {
			if scaled == nil {
				scaled = c
			}
			continue
		}
		active++
		subject.Follow(s, &c.Neighbor)
		if s.HasProblem(&c.Neighbor) && !isCausedByUser(s, &c.Neighbor) {
			failed = c
		}
	}
	if active != 1 {
		failed = nil
	}
	return failed, scaled
}
