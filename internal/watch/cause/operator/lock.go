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

// synchronization is the part of the status of a Workflow of Argo Workflows with its locks. For each lock that the
// Workflow needs at some time, Argo writes an entry, so only the messages and the nodes state which lock it needs now.
type synchronization struct {
	Status struct {
		Phase           string `json:"phase"`
		Message         string `json:"message"`
		Synchronization struct {
			Mutex     locks `json:"mutex"`
			Semaphore locks `json:"semaphore"`
		} `json:"synchronization"`
		Nodes map[string]struct {
			Phase                 string `json:"phase"`
			SynchronizationStatus struct {
				Waiting string `json:"waiting"`
			} `json:"synchronizationStatus"`
		} `json:"nodes"`
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

// waited returns the locks for which the Workflow waits now. It omits a lock that is free.
func (w *synchronization) waited() []lock {
	of := w.Status.Synchronization
	return slices.DeleteFunc(slices.Concat(of.Mutex.Waiting, of.Semaphore.Waiting), func(l lock) bool {
		name := l.Mutex + l.Semaphore
		for _, node := range w.Status.Nodes {
			if node.Phase == "Pending" && node.SynchronizationStatus.Waiting == name {
				return false
			}
		}
		return w.Status.Phase != "Pending" ||
			!strings.HasPrefix(w.Status.Message, "Waiting for "+name+" lock. Lock status: 0/")
	})
}

// has reports whether the Workflow has a lock. After it releases a semaphore, Argo keeps the entry, without holders.
func (w *synchronization) has(of *lock) bool {
	all := slices.Concat(w.Status.Synchronization.Mutex.Acquired, w.Status.Synchronization.Semaphore.Acquired)
	return slices.ContainsFunc(all, func(l lock) bool {
		return l.Mutex == of.Mutex && l.Semaphore == of.Semaphore && (l.Holder != "" || len(l.Holders) > 0)
	})
}

// needsLock reports whether the subject is a Workflow whose status lists a lock for which it waits. The list can also
// contain locks for which it does not wait yet, or no longer waits (see synchronization).
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
	own := neighbor.Decode[synchronization](s.Object)
	for _, waited := range own.waited() {
		holders := waited.Holders
		if waited.Holder != "" {
			holders = []string{waited.Holder}
		}
		if len(holders) > neighbor.Limit {
			continue
		}
		var found []neighbor.Neighbor
		for _, holder := range holders {
			n := holderOf(s, holder, &waited)
			if n == nil {
				break
			}
			found = append(found, *n)
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
	if n.Object == nil || n.ID == s.ID || !s.HasProblem(&n) || s.IsDependent(n) || subject.IsComplete(&n) {
		return nil
	}
	if w := neighbor.Decode[synchronization](n.Object); !w.has(of) {
		return nil
	}
	return &n
}
