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
	last  map[[4]string]map[scopeID]watch.Coverage // The scopes at the last scrape, by labels.
	ended map[[4]string]watch.Coverage             // Totals of scopes that have ended.
}

// ongoing returns, for each group of scopes, the totals of those scopes that have ended or started again.
func (c *counters) ongoing(groups map[[4]string][]watch.Coverage) map[[4]string]watch.Coverage {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, ended := make(map[[4]string]map[scopeID]watch.Coverage), make(map[[4]string]watch.Coverage)
	for labels, entries := range groups {
		now[labels] = make(map[scopeID]watch.Coverage, len(entries))
		for i := range entries {
			now[labels][scopeID{
				entries[i].Resource, entries[i].Fields, entries[i].Metadata,
				entries[i].Shared,
			}] = entries[i]
		}
	}
	for labels, before := range c.last {
		sum := c.ended[labels]
		for id, had := range before {
			if has, there := now[labels][id]; !there || fell(&had, &has) {
				add(&sum, &had)
			}
		}
		c.ended[labels] = sum
	}
	c.last = now
	for labels := range groups {
		ended[labels] = c.ended[labels]
	}
	return ended
}

// fell reports whether a scope has started again: one of its counters is lower than before.
func fell(had, has *watch.Coverage) bool {
	return has.Lists < had.Lists || has.Drops < had.Drops || has.Resets < had.Resets || has.Blind < had.Blind ||
		has.BlindFor < had.BlindFor
}

func add(sum, had *watch.Coverage) {
	sum.Lists += had.Lists
	sum.Drops += had.Drops
	sum.Resets += had.Resets
	sum.Blind += had.Blind
	sum.BlindFor += had.BlindFor
}
