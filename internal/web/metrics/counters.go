package metrics

import (
	"sync"

	"glasshouse/internal/watch"
)

// scopeID identifies one informer scope among those that have the same labels.
type scopeID struct {
	resource, fields string
	metadata, shared bool
}

// counters keeps summed counters from decreasing when an informer scope ends or starts again. Prometheus would take a
// decrease for a restart of the process. What a scope counted after the last scrape is lost.
type counters struct {
	mu    sync.Mutex
	last  map[[4]string]map[scopeID]watch.WatchStatusEntry // The scopes at the last scrape, by labels.
	ended map[[4]string]watch.WatchStatusEntry             // Totals of scopes that have ended.
}

// endedTotals returns, for each group of scopes, the totals of those scopes that have ended or started again.
func (c *counters) endedTotals(groups map[[4]string][]watch.WatchStatusEntry) map[[4]string]watch.WatchStatusEntry {
	c.mu.Lock()
	defer c.mu.Unlock()
	current, ended := make(map[[4]string]map[scopeID]watch.WatchStatusEntry), make(map[[4]string]watch.WatchStatusEntry)
	for labels, entries := range groups {
		current[labels] = make(map[scopeID]watch.WatchStatusEntry, len(entries))
		for i := range entries {
			current[labels][scopeID{
				entries[i].Resource, entries[i].Fields, entries[i].Metadata,
				entries[i].Shared,
			}] = entries[i]
		}
	}
	for labels, previous := range c.last {
		sum := c.ended[labels]
		for id, old := range previous {
			if latest, ok := current[labels][id]; !ok || hasRestarted(&old, &latest) {
				add(&sum, &old)
			}
		}
		c.ended[labels] = sum
	}
	c.last = current
	for labels := range groups {
		ended[labels] = c.ended[labels]
	}
	return ended
}

// hasRestarted reports whether a scope has started again: one of its counters is lower than before.
func hasRestarted(previous, current *watch.WatchStatusEntry) bool {
	return current.Lists < previous.Lists || current.Drops < previous.Drops || current.Resets < previous.Resets ||
		current.Interruptions < previous.Interruptions ||
		current.InterruptedSeconds < previous.InterruptedSeconds
}

func add(sum, status *watch.WatchStatusEntry) {
	sum.Lists += status.Lists
	sum.Drops += status.Drops
	sum.Resets += status.Resets
	sum.Interruptions += status.Interruptions
	sum.InterruptedSeconds += status.InterruptedSeconds
}
