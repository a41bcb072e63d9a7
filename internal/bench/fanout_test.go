// Package bench_test measures the whole program beside baselines in the same
// run: what telling a thousand viewers costs, how soon they hear, and whether
// they hold up the writer.
package bench_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"testing"

	"glasshouse/internal/watch/apitest"
)

const (
	podsRef = "core/v1/pods"
	objects = 1000
	viewers = 1000
)

// runs is how many times each way is measured.
func runs() int {
	if n, err := strconv.Atoi(os.Getenv("GLASSHOUSE_BENCH_RUNS")); err == nil {
		return n
	}
	return 6
}

// TestBenchFanout compares what it costs to tell a thousand viewers of changes:
// the program beside a bare loop that sends the same events. Both are processes
// of their own; the viewers and the API server are in this one, and do not
// count.
func TestBenchFanout(t *testing.T) {
	if os.Getenv("GLASSHOUSE_BENCH") == "" {
		t.Skip("takes minutes: make bench runs it")
	}
	binary := build(t)
	var table rows
	for _, rate := range []int{100, 1000} {
		var ours, baseline []figures
		for range runs() {
			ours = append(ours, fanoutOurs(t, binary, rate))
			baseline = append(baseline, fanoutBare(t, rate))
		}
		at := fmt.Sprintf(" at %d/s", rate)
		table.add("deliveries a CPU second"+at, median(baseline, figures.perCPU), median(ours, figures.perCPU), "at least 0.70")
		table.add("RSS KiB a viewer, connected"+at, median(baseline, figures.connected), median(ours, figures.connected), "at most 1.30")
		table.add("RSS KiB a viewer, after it"+at, median(baseline, figures.loaded), median(ours, figures.loaded), "")
		table.add("bytes a delivery"+at, median(baseline, figures.size), median(ours, figures.size), "")
		table.add("CPU busy of one"+at, median(baseline, figures.busy), median(ours, figures.busy), "")
	}
	table.log(t)
}

// figures are those of one run.
type figures struct {
	deliveries, cpu, seconds, bytes float64
	idleRSS, joinedRSS, endRSS      float64
}

func (f figures) perCPU() float64    { return f.deliveries / f.cpu }
func (f figures) connected() float64 { return (f.joinedRSS - f.idleRSS) / viewers }
func (f figures) loaded() float64    { return (f.endRSS - f.idleRSS) / viewers }
func (f figures) size() float64      { return f.bytes / f.deliveries }
func (f figures) busy() float64      { return f.cpu / f.seconds }

// fanout lets a crowd join and sends it changes at a rate, for five seconds.
func fanout(t *testing.T, server *child, rate int, change func(i int)) (f figures) {
	t.Helper()
	warm := join(t, server.address, 1, subscribeTo(podsRef))
	f.idleRSS = server.rss()
	crowd := join(t, server.address, viewers, subscribeTo(podsRef))
	warm.leave()
	f.joinedRSS = server.rss()
	n := 5 * rate
	before, cpu, start := crowd.bytes.Load(), server.cpu(), now()
	pace(n, rate, change)
	f.deliveries = float64(n * viewers)
	crowd.wait(t, int64(n*viewers))
	f.cpu, f.seconds, f.bytes = server.cpu()-cpu, now()-start, float64(crowd.bytes.Load()-before)
	f.endRSS = server.rss()
	crowd.leave()
	server.end()
	return f
}

func fanoutOurs(t *testing.T, binary string, rate int) figures {
	t.Helper()
	api := apitest.New(t, podKinds()...)
	api.Set("core/v1/namespaces", apitest.Item{Name: "shop"})
	for i := range objects {
		api.Set(podsRef, pod(i, 0))
	}
	server := serve(t, binary, onTCP(t, api))
	f := fanout(t, server, rate, func(i int) { api.Set(podsRef, pod(i%objects, i+1)) })
	if upstream := api.Requests("/api/v1/pods?"); len(upstream) != 1 {
		t.Errorf("%d viewers made %d upstream requests, want one watch: %s", viewers, len(upstream), upstream)
	}
	return f
}

// fanoutBare sends events as the program writes them.
func fanoutBare(t *testing.T, rate int) figures {
	t.Helper()
	server := startBare(t)
	return fanout(t, server, rate, func(i int) {
		if _, err := fmt.Fprintf(server.in, `{"op":"update","ns":"shop","name":"web-%d","uid":"%s","rv":"%d","cells":{"3":"%d (2026-11-21T10:00:00Z ago)"},`+
			`"by":{"manager":"kubelet","operation":"Update","subresource":"status","time":"2026-11-21T10:00:00Z"}}`+"\n", i%objects, uid(i%objects), 2000+i, i+1); err != nil {
			t.Fatal(err)
		}
	})
}

func podKinds() []apitest.Kind {
	return []apitest.Kind{
		{Ref: podsRef, Kind: "Pod", Columns: `[{"name":"Name","type":"string"},{"name":"Ready","type":"string"},{"name":"Status","type":"string"},{"name":"Restarts","type":"string"}]`},
		{Ref: "core/v1/namespaces", Kind: "Namespace", Cluster: true, Columns: `[{"name":"Name","type":"string"}]`},
	}
}

func uid(i int) string { return fmt.Sprintf("0c7a1f7e-93a4-4b1e-a6a5-%012d", i) }

// pod is a pod whose restarts are n.
func pod(i, n int) apitest.Item {
	return apitest.Item{
		Namespace: "shop", Name: "web-" + strconv.Itoa(i), UID: uid(i),
		Cells: fmt.Sprintf(`["web-%d","1/1","Running","%d (2026-11-21T10:00:00Z ago)"]`, i, n),
		Metadata: `"labels":{"app":"web"},"creationTimestamp":"2026-11-21T10:00:00Z",` +
			`"managedFields":[{"manager":"kubelet","operation":"Update","subresource":"status","apiVersion":"v1","time":"2026-11-21T10:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:status":{"n":` + strconv.Itoa(n) + `}}}]`,
		Rest: fmt.Sprintf(`"spec":{"nodeName":"node-1","containers":[{"name":"web","image":"registry.example/web:1.2.3"}]},"status":{"phase":"Running","restarts":%d}`, n),
	}
}

// onTCP lets another process reach a scripted API server.
func onTCP(t *testing.T, api *apitest.Server) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	t.Cleanup(func() { _ = listener.Close(); running.Wait() })
	running.Go(func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := api.Config.Dial(t.Context(), "tcp", "")
			if err != nil {
				_ = near.Close()
				continue
			}
			for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
				running.Go(func() {
					_, _ = io.Copy(way[0], way[1]) // Until either ends.
					_ = way[0].Close()
					_ = way[1].Close()
				})
			}
		}
	})
	return "http://" + listener.Addr().String()
}
