package metrics

import (
	"sync"

	"glasshouse/internal/watch"
)

// scopeID tells the scopes under the same labels apart.
type scopeID struct {
	resource, fields string
	metadata, shared bool
}

// counters lets counters go on where a scope ends or begins anew, as sums of
// several would fall otherwise, which Prometheus takes for the beginning of
// another process. What a scope counted after the last scrape is lost.
type counters struct {
	mu    sync.Mutex
	last  map[[4]string]map[scopeID]watch.Coverage // By labels; of the last scrape.
	ended map[[4]string]watch.Coverage             // What scopes had that are no more.
}

// ongoing returns, for each of the groups, an entry with what scopes had counted
// that are no more.
func (c *counters) ongoing(groups map[[4]string][]watch.Coverage) map[[4]string]watch.Coverage {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, ended := make(map[[4]string]map[scopeID]watch.Coverage), make(map[[4]string]watch.Coverage)
	for labels, entries := range groups {
		now[labels] = make(map[scopeID]watch.Coverage, len(entries))
		for i := range entries {
			now[labels][scopeID{entries[i].Resource, entries[i].Fields, entries[i].Metadata,
				entries[i].Shared}] = entries[i]
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

// fell reports that a scope has begun anew.
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
