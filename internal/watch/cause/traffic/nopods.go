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
	if owner := s.OrderlyOwner(); owner != nil {
		sentence := fmt.Sprintf(noEndpoints+"its selector matches no pod, and its owner %s does not need one now", owner)
		return s.ExplainBy(owner, s.Own.Severity, "ScaledToZero", sentence)
	}
	if !subject.KnowsAll(s, graph.Kind{Kind: "Pod"}, s.ID.Namespace()) {
		return nil // Not all pods are known, and the selector can match an unknown one.
	}
	sentence := noEndpoints + "its selector " + selector.String() + " matches no pod"
	if failed == nil || !isComplete {
		return s.Explain(verdict.Failed, subject.NoPods, sentence, nil)
	}
	v := s.Inherit(&failed.Neighbor, verdict.Failed, sentence+". "+failed.String()+": ")
	v.Reason = subject.NoPods
	return v
}

// isCausedByUser reports whether an object that uses the Service causes the problem of a workload. For example, a
// webhook that the workload serves blocks the creation of the workload's pods. The Service then explains the webhook.
func isCausedByUser(s *subject.Subject, workload *neighbor.Neighbor) bool {
	cause := workload.Object.Verdict().Unpack().Cause
	return cause != nil && slices.ContainsFunc(s.Existing(s.Users(s.ID, neighbor.Limit)), func(n neighbor.Neighbor) bool {
		return neighbor.ObjectOf(&n) == cause.Object
	})
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
