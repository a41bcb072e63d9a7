package watch_test

import (
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
)

const benchmarkPods = 20_000

func heapOf() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// benchmarkPod is a pod of the usual size, about 4 KB.
func benchmarkPod(n int) apitest.Item {
	app := n / 20
	p := owned(fmt.Sprintf("app-%d-%010d", app, n), "ReplicaSet", fmt.Sprint("app-", app))
	p.Metadata += fmt.Sprintf(`,"labels":{"app":"app-%d"},"annotations":{"checksum":"%x"}`, app, n*7919)
	p.Cells = fmt.Sprintf(`[%q,"Running"]`, p.Name)
	var env strings.Builder
	for m := range 20 {
		_, _ = fmt.Fprintf(&env, `{"name":"VARIABLE_%d","value":"value-%d-%d"},`, m, m, app)
	}
	p.Rest = fmt.Sprintf(`"spec":{"nodeName":"node-%d","containers":[{"name":"app","image":"registry.test/app-%d:1",`+
		`"env":[%s`+
		`{"name":"POD","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}],"resources":{"requests":{"cpu":"100m"}}}],`+
		`"volumes":[{"name":"v","configMap":{"name":"app-%d"}}]},"status":{"phase":"Running","podIP":"10.%d.%d.%d",`+
		`"conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-01-01T00:00:%02dZ"}],"containerStatuses":[`+
		`{"name":"app","ready":true,"containerID":"containerd://%064x","state":{"running":{}}}]}`,
		n%500, app, env.String(), app, n>>16, n>>8&255, n&255, n%60, n*2654435761)
	return p
}

// awaitAllPods waits until all pods are evaluated. It calls Overview repeatedly, because on a busy machine one call
// does not wait long enough.
func awaitAllPods(b *testing.B, access *watch.Access) {
	b.Helper()
	for complete := 0; complete < 3; {
		o, err := access.Overview(b.Context(), watch.OverviewQuery{Wait: time.Minute})
		if err != nil {
			b.Fatal(err)
		}
		if o.Summary.Pods["Running"] == benchmarkPods {
			complete++ // Require three such results: each call waits for evaluations that the last pods caused.
		}
		<-time.After(100 * time.Millisecond)
	}
}

// maxHeapPerPod is the maximum memory of one benchmarkPod, in bytes: 1.1 times the 596 bytes that it used before
// inherited verdicts existed.
const maxHeapPerPod = 656

// BenchmarkHeapPerPod measures the memory of a watched pod with and without inherited verdicts. Inherited verdicts
// require that other resources are watched, too. The connections and informers of these resources use about 500 KB,
// which is 25 bytes for each of the 20,000 pods.
func BenchmarkHeapPerPod(b *testing.B) {
	var without float64
	for _, inherits := range []bool{false, true} {
		b.Run(fmt.Sprintf("inherit=%t", inherits), func(b *testing.B) {
			server := apitest.New(b, causeKinds()...)
			items := make([]apitest.Item, benchmarkPods)
			for n := range items {
				items[n] = benchmarkPod(n)
			}
			server.Set(pods, items...)
			cluster, err := watch.New(server.Config, watch.Options{
				Linger: time.Minute, Log: slog.New(slog.DiscardHandler), InheritVerdicts: inherits,
			})
			if err != nil {
				b.Fatal(err)
			}
			apitest.Run(b, cluster.Run)
			for b.Loop() {
				before := heapOf()
				access := cluster.For(watch.Viewer{Program: true})
				sub, err := access.Subscribe(b.Context(), query.Query{Resource: pods}, "rows", "")
				if err != nil {
					b.Fatal(err)
				}
				if inherits {
					awaitAllPods(b, access)
				} else if _, err := access.Snapshot(b.Context(), query.Query{Resource: pods}, time.Minute); err != nil {
					b.Fatal(err)
				}
				perPod := float64(heapOf()-before) / benchmarkPods
				b.ReportMetric(perPod, "B/pod")
				if perPod > maxHeapPerPod {
					b.Errorf("got %.0f bytes per pod, want at most %d", perPod, maxHeapPerPod)
				}
				if inherits {
					b.ReportMetric(perPod/without, "times")
				} else {
					without = perPod
				}
				sub.Close()
			}
			runtime.KeepAlive(items)
		})
	}
}

// BenchmarkExplanation measures the explanation of a pod, and of a node with 40 pods. The cluster has 20,000 pods with
// their related objects.
func BenchmarkExplanation(b *testing.B) {
	server := apitest.New(b, causeKinds()...)
	items := make([]apitest.Item, benchmarkPods)
	for n := range items {
		items[n] = benchmarkPod(n)
	}
	server.Set(pods, items...)
	server.Set("core/v1/nodes", apitest.Item{Name: "node-7"})
	cluster, err := watch.New(server.Config, watch.Options{
		Linger: time.Minute, Log: slog.New(slog.DiscardHandler), InheritVerdicts: true,
	})
	if err != nil {
		b.Fatal(err)
	}
	apitest.Run(b, cluster.Run)
	access := cluster.For(watch.Viewer{Program: true})
	index := watch.IndexOf(access)
	defer index.Keep()()
	if _, err := access.Overview(b.Context(), watch.OverviewQuery{Wait: time.Minute}); err != nil {
		b.Fatal(err)
	}
	for _, o := range []struct{ ref, namespace, name string }{
		{pods, "a", items[7].Name}, {"core/v1/nodes", "", "node-7"},
	} {
		r, err := access.Resource(b.Context(), o.ref)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("explanation/"+r.Resource, func(b *testing.B) {
			for b.Loop() {
				if e, err := index.Explanation(b.Context(), o.ref, o.namespace, o.name); err != nil || e.Related == "" {
					b.Fatalf("got %+v, error %v", e, err)
				}
			}
		})
		b.Run("neighbors/"+r.Resource, func(b *testing.B) {
			for b.Loop() {
				if _, ok := index.Neighbors(r, o.namespace, o.name); !ok {
					b.Fatal("the resource is not indexed")
				}
			}
		})
	}
}
