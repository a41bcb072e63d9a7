package informer

import (
	"cmp"
	"slices"
	"time"

	"glasshouse/internal/watch/journal"
)

// EpochStart is the position in the changes, and the time, at which an epoch starts. A new epoch starts when the
// columns change, a permission is revoked, or the resource is not served for some time. Changes of earlier epochs are
// not sent to readers.
type EpochStart struct {
	Cursor journal.Cursor
	at     time.Time
}

// CurrentEpochStart returns the start of the present epoch of the informer's data.
func (i *Informer) CurrentEpochStart() EpochStart {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.epochStart
}

// retained returns the number of changes in the history. The result since is the time after which the history
// contains every change that can be sent to readers.
func (i *Informer) retained() (changes int, since time.Time) {
	changes, since = i.Retained()
	if start := i.CurrentEpochStart().at; start.After(since) {
		since = start
	}
	return changes, since
}

// CompleteSince returns the time since which the history contains every change in the given namespaces. An empty list
// of namespaces means all. The time is never before the last list, because a list shows only the result of the
// changes before it.
func (i *Informer) CompleteSince(namespaces []string) time.Time {
	_, since := i.retained()
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

// RetainsAfter reports whether the history contains all changes after an offset.
func (i *Informer) RetainsAfter(offset uint64) bool {
	return offset == i.Now().Offset || len(i.History(journal.At(offset+1), 1)) > 0
}

// HistoryAge returns the maximum age of a change in the history.
func (i *Informer) HistoryAge() time.Duration { return i.options.Ring.Age }

// LimitedTo returns a copy of r with defaults for zero fields. budget is the memory budget of all informers in bytes.
// The history gets at most an eighth of it, so that there is room for the histories of several resources. A budget of
// 0 does not limit the size.
func (r Ring) LimitedTo(budget int64) Ring {
	r.Bytes, r.Age = cmp.Or(r.Bytes, ringBytes), cmp.Or(r.Age, ringAge)
	if budget > 0 {
		r.Bytes = int(min(int64(r.Bytes), budget/8))
	}
	return r
}

// A Ring limits the history of changes of each resource. Readers resume from this history after a disconnection.
type Ring struct {
	Bytes int           // Maximum size in bytes; 0 means 64 MiB. With a memory limit, at most an eighth of the budget.
	Age   time.Duration // Maximum age of a change; 0 means 5 minutes.
}

const (
	ringBytes = 64 << 20
	ringAge   = 5 * time.Minute
)
