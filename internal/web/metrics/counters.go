package metrics

import (
	"sync"

	"github.com/glasshouse-project/glasshouse/internal/watch"
)

// scopeID identifies one scope (a watched resource with its filter). Several scopes can have the same metric labels.
type scopeID struct {
	resource, fields string
	metadata, shared bool
}

// counters keeps exported counters from decreasing when a watch ends. Prometheus would mistake a decrease for a
// process restart. When a watch ends, its counts since the last scrape are lost.
type counters struct {
	mu    sync.Mutex
	last  map[[4]string]map[scopeID]watch.WatchStatusEntry // Entries of the last scrape, by labels and scope.
	ended map[[4]string]watch.WatchStatusEntry             // Sums of ended or restarted scopes, by labels.
}

// endedTotals returns the sums of the counters of ended or restarted scopes, by metric labels.
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
