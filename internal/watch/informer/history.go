package informer

import (
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
