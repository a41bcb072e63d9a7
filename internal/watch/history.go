package watch

import (
	"slices"
	"time"

	"glasshouse/internal/watch/journal"
)

// epochStart is the position and the time at which the present version of an informer's data starts. Earlier changes
// are not sent to readers: since then, the columns have changed, a permission was revoked, or the resource was not
// served.
type epochStart struct {
	cursor journal.Cursor
	at     time.Time
}

func (i *informer) currentEpochStart() epochStart {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.epochStart
}

// retained returns the number of changes in the history. It also returns the time since which the history contains
// every change that can be sent to readers.
func (i *informer) retained() (changes int, since time.Time) {
	changes, since = i.Retained()
	if start := i.currentEpochStart().at; start.After(since) {
		since = start
	}
	return changes, since
}

// completeSince returns the time since which the history contains every single change in the given namespaces; no
// namespaces means all. A list only shows the result of earlier changes, so the time is never before the last list.
func (i *informer) completeSince(namespaces []string) time.Time {
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

func (i *informer) retainsAfter(offset uint64) bool {
	return offset == i.Now().Offset || len(i.History(journal.At(offset+1), 1)) > 0
}

// historyAge returns the maximum age of a change in the history.
func (i *informer) historyAge() time.Duration { return i.options.ring.Age }
