// Package metrics exports the watch status to Prometheus, together with metrics of the Go runtime and the process.
// Values are read at each scrape.
//
// The number of time series does not grow with the number of objects, namespaces or field selectors. For example, all
// watches of one resource that have a field selector share one series.
package metrics

import (
	"maps"
	"slices"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/status"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/glasshouse-project/glasshouse/internal/watch"
)

// Registry returns a registry with all metrics. Each scrape calls the functions status, sockets and shares. Scrapes can
// be concurrent.
func Registry(
	status func() watch.WatchStatus, sockets func() int, shares func() (shares, guests int),
) (*prometheus.Registry, error) {
	registry := prometheus.NewRegistry()
	for _, c := range []prometheus.Collector{
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		newCollector(status, sockets, shares),
	} {
		if err := registry.Register(c); err != nil {
			return nil, err
		}
	}
	return registry, nil
}

type collector struct {
	status  func() watch.WatchStatus
	sockets func() int
	shares  func() (shares, guests int)

	openSocketsDesc, memoryLimitDesc, memoryUsedDesc *prometheus.Desc
	sharesDesc, guestsDesc, scriptErrorsDesc         *prometheus.Desc
	informerDescs                                    map[string]*prometheus.Desc
	stateDesc                                        *prometheus.Desc
	counters                                         counters
}

func newCollector(status func() watch.WatchStatus, sockets func() int, shares func() (shares, guests int)) *collector {
	newDesc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("glasshouse_"+name, help, nil, nil)
	}
	labels := []string{"group", "version", "resource", "scope"}
	c := &collector{
		status: status, sockets: sockets, shares: shares, informerDescs: make(map[string]*prometheus.Desc),
		counters:        counters{ended: make(map[[4]string]watch.WatchStatusEntry)},
		openSocketsDesc: newDesc("sockets", "Open WebSockets."),
		memoryLimitDesc: newDesc("memory_limit_bytes",
			"Maximum memory of cached objects and changes. Absent if there is no limit."),
		sharesDesc:     newDesc("shares", "Share links."),
		guestsDesc:     newDesc("share_guests", "Open WebSockets of guests."),
		memoryUsedDesc: newDesc("memory_held_bytes", "Memory of cached objects and changes."),
		scriptErrorsDesc: newDesc("health_script_errors_total",
			"Runs of a health script that failed, took too long or had an invalid result."),
		stateDesc: prometheus.NewDesc("glasshouse_informer_state",
			"1 for the current state of the watch, else 0. With the scope fields: the number of watches in the state.",
			append(labels, "state"), nil),
	}
	for _, f := range informerMetrics() {
		c.informerDescs[f.name] = prometheus.NewDesc("glasshouse_informer_"+f.name, f.help, labels, nil)
	}
	return c
}

func (c *collector) Describe(descriptions chan<- *prometheus.Desc) {
	own := []*prometheus.Desc{
		c.stateDesc, c.openSocketsDesc, c.sharesDesc, c.guestsDesc, c.memoryLimitDesc, c.memoryUsedDesc,
		c.scriptErrorsDesc,
	}
	for _, d := range append(slices.Collect(maps.Values(c.informerDescs)), own...) {
		descriptions <- d
	}
}

func (c *collector) Collect(metrics chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		metrics <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	current := c.status()
	gauge(c.openSocketsDesc, float64(c.sockets()))
	shares, guests := c.shares()
	gauge(c.sharesDesc, float64(shares))
	gauge(c.guestsDesc, float64(guests))
	if current.Limit > 0 {
		gauge(c.memoryLimitDesc, float64(current.Limit))
	}
	gauge(c.memoryUsedDesc, float64(current.UsedBytes))
	metrics <- prometheus.MustNewConstMetric(c.scriptErrorsDesc, prometheus.CounterValue,
		float64(current.HealthScriptErrors))
	groups := groupByLabels(current.Entries)
	ended := c.counters.endedTotals(groups)
	for labels, entries := range groups {
		for _, f := range informerMetrics() {
			scopes := entries
			if f.kind == prometheus.CounterValue {
				scopes = append(slices.Clone(entries), ended[labels])
			}
			if value, known := f.value(scopes); known {
				metrics <- prometheus.MustNewConstMetric(c.informerDescs[f.name], f.kind, value, labels[:]...)
			}
		}
		for _, state := range []status.State{
			status.Syncing, status.Live, status.Stale, status.Forbidden, status.Absent, status.Failed,
		} {
			count := 0
			for i := range entries {
				if entries[i].State == state {
					count++
				}
			}
			gauge(c.stateDesc, float64(count), append(labels[:], string(state))...)
		}
	}
}

func groupByLabels(entries []watch.WatchStatusEntry) map[[4]string][]watch.WatchStatusEntry {
	groups := make(map[[4]string][]watch.WatchStatusEntry)
	for i := range entries {
		e := &entries[i]
		scope := "all"
		switch {
		case e.Metadata:
			scope = "metadata"
		case e.Shared:
			scope = "shared"
		case e.Fields != "":
			scope = "fields"
		case len(e.Namespaces) > 0:
			scope = "namespaces"
		}
		ref := append(strings.SplitN(e.Resource, "/", 3), "", "")
		labels := [4]string{ref[0], ref[1], ref[2], scope}
		groups[labels] = append(groups[labels], *e)
	}
	return groups
}
