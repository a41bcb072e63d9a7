package metrics_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/status"

	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/web/metrics"
)

// fullStatus returns a watch status entry in which no number is 0.
func fullStatus(namespaces []string, fields string) watch.WatchStatusEntry {
	return watch.WatchStatusEntry{
		Resource: "apps/v1/deployments", Fields: fields,
		Status: status.Status{State: status.Live, Namespaces: namespaces}, Objects: 3, CacheBytes: 300, RingBytes: 40,
		RingChanges: 4,
		Readers:     2, LastEvent: time.UnixMilli(1_700_000_000_500), Lists: 2, Drops: 5, Resets: 6, Interruptions: 1,
		InterruptedSeconds: 0.5,
	}
}

// scrape returns the metrics of the program as text lines, without those of the Go runtime.
func scrape(t *testing.T, status watch.WatchStatus) []string {
	t.Helper()
	var lines []string
	for _, family := range gather(t, status) {
		for _, m := range family.GetMetric() {
			var labels []string
			for _, pair := range m.GetLabel() {
				labels = append(labels, pair.GetName()+"="+pair.GetValue())
			}
			lines = append(lines,
				fmt.Sprintf("%s{%s} %.1f", family.GetName(), strings.Join(labels, ","),
					m.GetGauge().GetValue()+m.GetCounter().GetValue()))
		}
	}
	return lines
}

func gather(t *testing.T, status watch.WatchStatus) []*dto.MetricFamily {
	t.Helper()
	registry, err := metrics.Registry(func() watch.WatchStatus { return status }, func() int { return 7 },
		func() (int, int) { return 3, 5 })
	if err != nil {
		t.Fatal(err)
	}
	if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) > 0 {
		t.Errorf("metrics do not pass the linter: %v, error %v", problems, err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(families, func(f *dto.MetricFamily) bool {
		return !strings.HasPrefix(f.GetName(), "glasshouse_")
	})
}

func TestMetricsSumScopesWithTheSameLabels(t *testing.T) {
	stale := fullStatus(nil, "a=c")
	stale.State, stale.LastEvent = status.Stale, time.Unix(1_700_000_100, 0)
	lines := scrape(t, watch.WatchStatus{
		Limit: 1000, UsedBytes: 340, HealthScriptErrors: 9,
		Entries: []watch.WatchStatusEntry{fullStatus([]string{"shop", "data"}, ""), fullStatus(nil, "a=b"), stale},
	})
	for _, want := range []string{
		"glasshouse_sockets{} 7.0", "glasshouse_shares{} 3.0", "glasshouse_share_guests{} 5.0",
		"glasshouse_memory_limit_bytes{} 1000.0", "glasshouse_memory_held_bytes{} 340.0",
		"glasshouse_health_script_errors_total{} 9.0",
		"glasshouse_informer_objects{group=apps,resource=deployments,scope=namespaces,version=v1} 3.0",
		"glasshouse_informer_objects{group=apps,resource=deployments,scope=fields,version=v1} 6.0",
		"glasshouse_informer_cache_bytes{group=apps,resource=deployments,scope=fields,version=v1} 600.0",
		"glasshouse_informer_ring_bytes{group=apps,resource=deployments,scope=fields,version=v1} 80.0",
		"glasshouse_informer_ring_changes{group=apps,resource=deployments,scope=fields,version=v1} 8.0",
		"glasshouse_informer_readers{group=apps,resource=deployments,scope=fields,version=v1} 4.0",
		"glasshouse_informer_lists_total{group=apps,resource=deployments,scope=fields,version=v1} 4.0",
		"glasshouse_informer_watch_drops_total{group=apps,resource=deployments,scope=fields,version=v1} 10.0",
		"glasshouse_informer_resets_total{group=apps,resource=deployments,scope=fields,version=v1} 12.0",
		"glasshouse_informer_blind_intervals_total{group=apps,resource=deployments,scope=fields,version=v1} 2.0",
		"glasshouse_informer_blind_seconds_total{group=apps,resource=deployments,scope=fields,version=v1} 1.0",
		"glasshouse_informer_last_event_timestamp_seconds{group=apps,resource=deployments,scope=namespaces," +
			"version=v1} 1700000000.5",
		"glasshouse_informer_last_event_timestamp_seconds{group=apps,resource=deployments,scope=fields,version=v1} " +
			"1700000100.0",
		"glasshouse_informer_state{group=apps,resource=deployments,scope=namespaces,state=live,version=v1} 1.0",
		"glasshouse_informer_state{group=apps,resource=deployments,scope=namespaces,state=failed,version=v1} 0.0",
		"glasshouse_informer_state{group=apps,resource=deployments,scope=fields,state=live,version=v1} 1.0",
		"glasshouse_informer_state{group=apps,resource=deployments,scope=fields,state=stale,version=v1} 1.0",
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("series %s is missing in\n%s", want, strings.Join(lines, "\n"))
		}
	}
}

// The number of time series does not grow with the number of namespaces or field selectors.
//
// Invariant: I31. The number of metrics does not depend on the number of namespaces. A metric without a known value is
// omitted. The HTML of the status page is the same, whether the server or the script of the page creates it.
func TestLabelsDoNotGrowWithNamespaces(t *testing.T) {
	few := []watch.WatchStatusEntry{fullStatus([]string{"ns-0"}, ""), fullStatus(nil, "metadata.name=0")}
	many := slices.Clone(few)
	for n := range 100 {
		many[0].Namespaces = append(many[0].Namespaces, fmt.Sprint("ns-", n))
		many = append(many, fullStatus(nil, fmt.Sprint("metadata.name=", n)))
	}
	got, want := scrape(t, watch.WatchStatus{Entries: many}), scrape(t, watch.WatchStatus{Entries: few})
	if len(got) != len(want) || slices.ContainsFunc(got, func(line string) bool {
		return strings.Contains(line, "ns-") || strings.Contains(line, "metadata.")
	}) {
		t.Errorf("got %d series, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
}

// Counters do not decrease when a scope (a watched resource) ends or restarts. Gauges can decrease.
func TestCountersDoNotDecrease(t *testing.T) {
	var status watch.WatchStatus
	registry, err := metrics.Registry(func() watch.WatchStatus { return status }, func() int { return 0 },
		func() (int, int) { return 0, 0 })
	if err != nil {
		t.Fatal(err)
	}
	restarted := fullStatus(nil, "a=b")
	restarted.Lists, restarted.Drops = 1, 0
	for n, step := range []struct {
		entries        []watch.WatchStatusEntry
		lists, readers float64
	}{
		{[]watch.WatchStatusEntry{fullStatus(nil, "a=b"), fullStatus(nil, "a=c")}, 4, 4},
		{[]watch.WatchStatusEntry{fullStatus(nil, "a=b")}, 4, 2},
		{[]watch.WatchStatusEntry{fullStatus(nil, "a=b"), fullStatus(nil, "a=c")}, 6, 4},
		{[]watch.WatchStatusEntry{restarted, fullStatus(nil, "a=c")}, 7, 4},
		{nil, 0, 0},
		{[]watch.WatchStatusEntry{fullStatus(nil, "a=b")}, 9, 2},
	} {
		status.Entries = step.entries
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		got := make(map[string]float64)
		for _, family := range families {
			m := family.GetMetric()[0]
			got[family.GetName()] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
		if lists, readers := got["glasshouse_informer_lists_total"],
			got["glasshouse_informer_readers"]; lists != step.lists || readers != step.readers {
			t.Errorf("step %d: got %v lists, want %v; got %v readers, want %v", n, lists, step.lists, readers, step.readers)
		}
	}
}

// A metric without a known value has no series. For example, before the first event, its time is unknown.
//
// Invariant: I31.
func TestUnknownValuesHaveNoSeries(t *testing.T) {
	if lines := scrape(t, watch.WatchStatus{}); !slices.Equal(lines, []string{
		"glasshouse_health_script_errors_total{} 0.0", "glasshouse_memory_held_bytes{} 0.0",
		"glasshouse_share_guests{} 5.0", "glasshouse_shares{} 3.0", "glasshouse_sockets{} 7.0",
	}) {
		t.Errorf("metrics without data: got %q", lines)
	}
	syncing := watch.WatchStatusEntry{
		Resource: "core/v1/pods",
		Metadata: true,
		Status:   status.Status{State: status.Syncing},
	}
	for _, line := range scrape(t, watch.WatchStatus{Entries: []watch.WatchStatusEntry{syncing}}) {
		if strings.Contains(line, "_event_") ||
			strings.Contains(line, "scope=") && !strings.Contains(line, "scope=metadata") {
			t.Errorf("got series %s for metadata that has not arrived", line)
		}
	}
}
