package informer

import (
	"cmp"
	"slices"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/journal"
)

// EpochStart is the cursor and the time at which an epoch of the informer's data starts, for example after a revoked
// permission. Changes before it are never sent.
type EpochStart struct {
	Cursor journal.Cursor
	at     time.Time
}

// CurrentEpochStart returns the cursor and time at which the current epoch began. Readers get no changes before it.
func (i *Informer) CurrentEpochStart() EpochStart {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.epochStart
}

// retained returns the number of changes in the history, and the time since which the history is complete.
func (i *Informer) retained() (changes int, historyStart time.Time) {
	changes, historyStart = i.Retained()
	if start := i.CurrentEpochStart().at; start.After(historyStart) {
		historyStart = start
	}
	return changes, historyStart
}

// CompleteSince returns the time since which the history contains all changes in the given namespaces. An empty list of
// namespaces means all.
func (i *Informer) CompleteSince(namespaces []string) time.Time {
	_, since := i.retained()
	if listed := i.ListedSince(namespaces); listed.After(since) {
		return listed
	}
	return since
}

// ListedSince returns the latest time at which one of the given namespaces was listed. Changes before this time can be
// missing in the history, because a list shows only the result of changes. An empty list of namespaces means all.
func (i *Informer) ListedSince(namespaces []string) (since time.Time) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for ns, f := range i.feeds {
		isRequested := ns == "" || len(namespaces) == 0 || slices.Contains(namespaces, ns)
		if isRequested && f.state.listedAt.After(since) {
			since = f.state.listedAt
		}
	}
	return since
}

// HistoryAge returns the age after which a change is dropped from the history.
func (i *Informer) HistoryAge() time.Duration { return i.options.Ring.Age }

// LimitedTo returns r with defaults for zero fields. It limits Bytes to 1/8 of the budget (0 means no budget).
func (r Ring) LimitedTo(budget int64) Ring {
	r.Bytes, r.Age = cmp.Or(r.Bytes, ringBytes), cmp.Or(r.Age, ringAge)
	if budget > 0 {
		// Leave room in the budget for the histories of other resources.
		r.Bytes = int(min(int64(r.Bytes), budget/8))
	}
	return r
}

// A Ring limits the history of changes of each resource. After a disconnection, a reader resumes from this history.
type Ring struct {
	Bytes int           // Maximum size in bytes; 0 means 64 MiB. LimitedTo can reduce it.
	Age   time.Duration // Maximum age of a change; 0 means 5 minutes.
}

const (
	ringBytes = 64 << 20
	ringAge   = 5 * time.Minute
)
