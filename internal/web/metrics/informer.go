package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/glasshouse-project/glasshouse/internal/watch"
)

// informerMetric is a metric that is computed from all watch status entries with the same labels.
type informerMetric struct {
	name, help string
	kind       prometheus.ValueType
	value      func([]watch.WatchStatusEntry) (value float64, known bool)
}

func informerMetrics() []informerMetric {
	const gauge, counter = prometheus.GaugeValue, prometheus.CounterValue
	return []informerMetric{
		{"objects", "Cached objects.", gauge, sum(func(c *watch.WatchStatusEntry) float64 { return float64(c.Objects) })},
		{
			"cache_bytes", "Memory of the cached objects.", gauge,
			sum(func(c *watch.WatchStatusEntry) float64 { return float64(c.CacheBytes) }),
		},
		{
			"ring_bytes", "Memory of the changes in the history.", gauge,
			sum(func(c *watch.WatchStatusEntry) float64 { return float64(c.RingBytes) }),
		},
		{
			"ring_changes", "Number of changes in the history.", gauge,
			sum(func(c *watch.WatchStatusEntry) float64 { return float64(c.RingChanges) }),
		},
		{
			"readers", "Number of current readers.", gauge,
			sum(func(c *watch.WatchStatusEntry) float64 { return float64(c.Readers) }),
		},
		{
			"lists_total", "Number of lists, including the first list.", counter,
			sum(func(c *watch.WatchStatusEntry) float64 { return float64(c.Lists) }),
		},
		{
			"watch_drops_total", "Number of watches that ended.", counter,
			sum(func(c *watch.WatchStatusEntry) float64 { return float64(c.Drops) }),
		},
		{
			"resets_total", "Number of readers that were reset and received a new snapshot.", counter,
			sum(func(c *watch.WatchStatusEntry) float64 { return float64(c.Resets) }),
		},
		{
			"blind_intervals_total",
			"Number of interruptions: times of more than a second without an open watch, after the first list.", counter,
			sum(func(c *watch.WatchStatusEntry) float64 { return float64(c.Interruptions) }),
		},
		{
			"blind_seconds_total", "Total duration of all interruptions in seconds, including the present one.", counter,
			sum(func(c *watch.WatchStatusEntry) float64 { return c.InterruptedSeconds }),
		},
		{"last_event_timestamp_seconds", "Time of the last event of a watch.", gauge, lastEvent},
	}
}

func sum(value func(*watch.WatchStatusEntry) float64) func([]watch.WatchStatusEntry) (float64, bool) {
	return func(entries []watch.WatchStatusEntry) (total float64, known bool) {
		for i := range entries {
			total += value(&entries[i])
		}
		return total, true
	}
}

// lastEvent returns the Unix time of the newest event in all entries. The second result is false before the first
// event.
func lastEvent(entries []watch.WatchStatusEntry) (float64, bool) {
	var last time.Time
	for i := range entries {
		if at := entries[i].LastEvent; at.After(last) {
			last = at
		}
	}
	return float64(last.UnixMilli()) / 1000, !last.IsZero()
}
