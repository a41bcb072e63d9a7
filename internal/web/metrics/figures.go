package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"glasshouse/internal/watch"
)

// figure is a metric of scopes that go under the same labels.
type figure struct {
	name, help string
	kind       prometheus.ValueType
	of         func([]watch.Coverage) (value float64, known bool)
}

// figures are the metrics that begin with glasshouse_informer_, the state apart.
func figures() []figure {
	const gauge, counter = prometheus.GaugeValue, prometheus.CounterValue
	return []figure{
		{"objects", "Objects held.", gauge, sum(always, func(c *watch.Coverage) float64 { return float64(c.Objects) })},
		{"cache_bytes", "Memory of the objects held.", gauge, sum(weighed, func(c *watch.Coverage) float64 { return float64(c.CacheBytes) })},
		{"ring_bytes", "Memory of the changes kept.", gauge, sum(always, func(c *watch.Coverage) float64 { return float64(c.RingBytes) })},
		{"ring_changes", "Changes kept.", gauge, sum(listed, func(c *watch.Coverage) float64 { return float64(c.RingChanges) })},
		{"readers", "Readers now.", gauge, sum(always, func(c *watch.Coverage) float64 { return float64(c.Readers) })},
		{"lists_total", "Lists, the first included.", counter, sum(listed, func(c *watch.Coverage) float64 { return float64(c.Lists) })},
		{"watch_drops_total", "Watches that ended.", counter, sum(listed, func(c *watch.Coverage) float64 { return float64(c.Drops) })},
		{"resets_total", "Readers that had to begin anew.", counter, sum(listed, func(c *watch.Coverage) float64 { return float64(c.Resets) })},
		{"blind_intervals_total", "Intervals without a watch after the first list.", counter, sum(listed, func(c *watch.Coverage) float64 { return float64(c.Blind) })},
		{"blind_seconds_total", "Time without a watch after the first list, the present interval included.", counter, sum(listed, func(c *watch.Coverage) float64 { return c.BlindFor })},
		{"last_event_timestamp_seconds", "When a watch told something last.", gauge, lastEvent},
	}
}

func always(*watch.Coverage) bool { return true }

// listed reports whether what goes on after the first list is counted.
func listed(c *watch.Coverage) bool { return c.Lists > 0 }

// weighed reports whether the memory of objects is counted.
func weighed(c *watch.Coverage) bool { return c.CacheBytes > 0 || c.Objects == 0 }

// sum adds a value up over the entries in which it is known.
func sum(known func(*watch.Coverage) bool, value func(*watch.Coverage) float64) func([]watch.Coverage) (float64, bool) {
	return func(entries []watch.Coverage) (total float64, some bool) {
		for i := range entries {
			if known(&entries[i]) {
				total += value(&entries[i])
				some = true
			}
		}
		return total, some
	}
}

// lastEvent is the newest of all.
func lastEvent(entries []watch.Coverage) (float64, bool) {
	var last time.Time
	for i := range entries {
		if at := entries[i].LastEvent; at.After(last) {
			last = at
		}
	}
	return float64(last.UnixMilli()) / 1000, !last.IsZero()
}
