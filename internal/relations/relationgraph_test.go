package relations_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"glasshouse/internal/relations"
	"glasshouse/internal/watch"
	"glasshouse/internal/watch/apitest"
	"glasshouse/internal/watch/query"
	"glasshouse/internal/watch/status"
)

const pods, configMaps = "core/v1/pods", "core/v1/configmaps"

// newCluster returns a cluster with a pod that uses ConfigMaps, and other pods that each have a ReplicaSet as
// owner.
func newCluster(t *testing.T, uses, others int) (*apitest.Server, *watch.Cluster) {
	t.Helper()
	columns := `[{"name":"Name","type":"string"}]`
	server := apitest.New(t,
		apitest.Kind{Ref: pods, Kind: "Pod", Columns: columns},
		apitest.Kind{Ref: configMaps, Kind: "ConfigMap", Columns: columns})
	var volumes []string
	for n := range uses {
		volumes = append(volumes, fmt.Sprintf(`{"name":"v%d","configMap":{"name":"c%d"}}`, n, n))
	}
	items := []apitest.Item{
		{Namespace: "a", Name: "p", Rest: `"spec":{"volumes":[` + strings.Join(volumes, ",") + `]}`},
	}
	for n := range others {
		items = append(items, apitest.Item{
			Namespace: "a", Name: fmt.Sprint("other-", n),
			Metadata: fmt.Sprintf(
				`"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-%d","uid":"%032d"}]`, n,
				n,
			),
		})
	}
	server.Set(pods, items...)
	cluster, err := watch.New(server.Config, watch.Options{Linger: time.Minute, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- cluster.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	synctest.Wait()
	return server, cluster
}

// A graph uses a processor (see WithScanLimiter) while it is computed, but not during requests. At most two objects
// are read at the same time.
func TestProcessorIsLeasedWhileComputing(t *testing.T) {
	const uses = 6
	synctest.Test(t, func(t *testing.T) {
		server, cluster := newCluster(t, uses, 3)
		var leases, inUse, reading, maxReading atomic.Int64
		for n := range uses {
			server.Handle(fmt.Sprint(
				"/api/v1/namespaces/a/configmaps/c", n,
			), func(w http.ResponseWriter, _ *http.Request) {
				maxReading.Store(max(maxReading.Load(), reading.Add(1)))
				<-time.After(100 * time.Millisecond)
				if n := inUse.Load(); n != 0 {
					t.Errorf("%d leases are in use during a request to the API server", n)
				}
				reading.Add(-1)
				w.WriteHeader(http.StatusNotFound)
			})
		}
		access := cluster.For(watch.Viewer{Program: true}).WithScanLimiter(func(context.Context) (release func(), err error) {
			leases.Add(1)
			inUse.Add(1)
			return func() { inUse.Add(-1) }, nil
		})
		if _, err := access.Snapshot(t.Context(), query.Query{Resource: pods}, time.Minute); err != nil {
			t.Fatal(err)
		}
		before := leases.Load()
		graph, err := relations.Of(t.Context(), access, pods, "a", "p")
		if err != nil {
			t.Fatal(err)
		}
		if len(graph.Nodes) < uses {
			t.Errorf("the graph has %d nodes, want %d at least", len(graph.Nodes), uses)
		}
		searched := 0
		for _, s := range graph.Searched {
			if s.State == status.Live {
				searched++
			}
		}
		if n := int(leases.Load() - before); n != searched+3 {
			t.Errorf("%d leases were taken, want one for each of %d kinds, and 3 for the graph", n, searched)
		}
		if maxReading.Load() != 2 {
			t.Errorf("%d objects were read at a time, want 2", maxReading.Load())
		}
	})
}

// Memory is reported before it is allocated. The reported size is between the real size and twice the real size.
func TestRowsOfAGraphAreReported(t *testing.T) {
	const rows = 20_000
	synctest.Test(t, func(t *testing.T) {
		server, cluster := newCluster(t, 0, rows)
		server.Set(configMaps, apitest.Item{Namespace: "a", Name: "c"})
		var reported, heapGrowth atomic.Int64
		var before int64
		access := cluster.For(watch.Viewer{Program: true}).
			WithGrow(func(bytes int64) { reported.Add(bytes) }).
			WithScanLimiter(func(context.Context) (release func(), err error) {
				return func() { heapGrowth.Store(max(heapGrowth.Load(), heap()-before)) }, nil
			})
		snapshot, err := access.Snapshot(t.Context(), query.Query{Resource: pods}, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		reported.Store(0)
		before = heap()
		heapGrowth.Store(0)
		if _, err := relations.Of(t.Context(), access, configMaps, "a", "c"); err != nil {
			t.Fatal(err)
		}
		if got := reported.Load(); got < heapGrowth.Load() || got > 2*heapGrowth.Load() {
			t.Errorf("%d rows take %d bytes; %d were reported", rows, heapGrowth.Load(), got)
		}
		runtime.KeepAlive(snapshot)
	})
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc) //nolint:gosec // The value is far below 2^63.
}
