package informer

import (
	"slices"
	"time"

	"glasshouse/internal/watch/journal"
)

// EpochStart is the position and the time at which the present version of an informer's data starts. Earlier changes
// are not sent to readers: since then, the columns have changed, a permission was revoked, or the resource was not
// served.
type EpochStart struct {
	Cursor journal.Cursor
	at     time.Time
}

// CurrentEpochStart returns the start of the present version of the data.
func (i *Informer) CurrentEpochStart() EpochStart {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.epochStart
}

// retained returns the number of changes in the history. It also returns the time since which the history contains
// every change that can be sent to readers.
func (i *Informer) retained() (changes int, since time.Time) {
	changes, since = i.Retained()
	if start := i.CurrentEpochStart().at; start.After(since) {
		since = start
	}
	return changes, since
}

// CompleteSince returns the time since which the history contains every single change in the given namespaces; no
// namespaces means all. A list only shows the result of earlier changes, so the time is never before the last list.
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
