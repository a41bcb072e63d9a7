package operator

import (
	"bytes"
	"slices"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// synchronization is the part of the status of a Workflow of Argo Workflows with its locks.
type synchronization struct {
	Status struct {
		Synchronization struct {
			Mutex     locks `json:"mutex"`
			Semaphore locks `json:"semaphore"`
		} `json:"synchronization"`
	} `json:"status"`
}

type locks struct {
	Acquired []lock `json:"holding"`
	Waiting  []lock `json:"waiting"`
}

// lock is a mutex with one holder, or a semaphore with several. The name of a holder is NAMESPACE/WORKFLOW or
// NAMESPACE/WORKFLOW/NODE.
type lock struct {
	Mutex     string   `json:"mutex"`
	Semaphore string   `json:"semaphore"`
	Holder    string   `json:"holder"`
	Holders   []string `json:"holders"`
}

func locksOf(o neighbor.Object) (all locks) {
	of := neighbor.Decode[synchronization](o).Status.Synchronization
	return locks{
		slices.Concat(of.Mutex.Acquired, of.Semaphore.Acquired), slices.Concat(of.Mutex.Waiting, of.Semaphore.Waiting),
	}
}

// needsLock reports whether the subject is a Workflow of which at least a part waits for a lock.
func needsLock(s *subject.Subject) bool {
	return s.ID.Kind == graph.Kind{Group: "argoproj.io", Kind: "Workflow"} &&
		bytes.Contains(s.Text(), []byte(`"waiting":[{`))
}

// locked explains a Workflow that waits for a lock by the problem of the Workflow that has the lock. If another holder
// of a semaphore has no problem, it can release the lock, so locked returns nil.
func locked(s *subject.Subject) *verdict.Verdict {
	if !needsLock(s) {
		return nil
	}
	for _, waited := range locksOf(s.Object).Waiting {
		holders := waited.Holders
		if waited.Holder != "" {
			holders = []string{waited.Holder}
		}
		var found []neighbor.Neighbor
		for _, holder := range holders[:min(len(holders), neighbor.Limit)] {
			if n := holderOf(s, holder, &waited); n != nil {
				found = append(found, *n)
			}
		}
		if worst := s.Worst(found); worst != nil && len(found) == len(holders) {
			return s.Inherit(worst, verdict.Degraded, "Waits for a lock of "+s.Name(worst)+": ")
		}
	}
	return nil
}

// holderOf returns the Workflow with the name of a holder, or nil. It must have the lock, and a problem.
func holderOf(s *subject.Subject, holder string, of *lock) *neighbor.Neighbor {
	part := strings.Split(holder, "/")
	if len(part) < 2 {
		return nil
	}
	n := s.Find(graph.NewID(s.ID.Kind, part[0], part[1]))
	subject.Follow(s, &n)
	hasLock := slices.ContainsFunc(locksOf(n.Object).Acquired, func(l lock) bool {
		return l.Mutex == of.Mutex && l.Semaphore == of.Semaphore
	})
	if n.ID == s.ID || !hasLock || !s.HasProblem(&n) || s.IsDependent(n) || subject.IsComplete(&n) {
		return nil
	}
	return &n
}
