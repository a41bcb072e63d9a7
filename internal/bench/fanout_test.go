//go:build integration

package bench_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
)

const (
	objects = 1000
	viewers = 1000
)

// benchFanout measures the CPU time, memory and traffic of changes for 1000 viewers. Each server is its own process.
func benchFanout(t *testing.T, subj subject, report *table) {
	t.Helper()
	for _, rate := range []int{100, 1000} {
		share := 1.0
		// The baseline runs twice: with as many changes per message as the program sends, and with one.
		results := measureAlternately(t, func(t *testing.T) load {
			t.Helper()
			l := fanoutOurs(t, subj.binary, rate)
			share = l.share()
			return l
		}, func(t *testing.T) load { t.Helper(); return fanoutBare(t, rate, share) },
			func(t *testing.T) load { t.Helper(); return fanoutBare(t, rate, 1) })
		ours, same, single := results[0], results[1], results[2]
		suffix := fmt.Sprintf(", %d sockets, %d changes/s", viewers, rate)
		t.Logf(
			"changes per message%s: this program %s, bare loop %s and %s",
			suffix,
			figuresOf(ours, load.share),
			figuresOf(same, load.share),
			figuresOf(single, load.share),
		)
		report.add(row{
			"deliveries per CPU second" + suffix, "bare loop, same frames", figuresOf(same, load.perCPU),
			figuresOf(ours, load.perCPU),
			bar{"at least x 0.70", ratio, atLeast(0.7)},
		})
		report.add(
			row{
				"(the same)", "bare loop, one frame per change", figuresOf(single, load.perCPU), figuresOf(ours, load.perCPU),
				comparisonOnly(ratio),
			},
		)
		report.add(row{
			"(bytes per delivery)", "bare loop, same frames", figuresOf(same, load.size), figuresOf(ours, load.size),
			comparisonOnly(ratio),
		})
		report.add(
			row{
				"RSS per viewer, KiB" + suffix, "bare loop, same frames", figuresOf(same, load.rss), figuresOf(ours, load.rss),
				bar{"at most x 1.30", ratio, atMost(1.3)},
			},
		)
		report.add(row{
			"(before the changes)", "bare loop, same frames", figuresOf(same, load.quietRSS),
			figuresOf(ours, load.quietRSS), comparisonOnly(ratio),
		})
	}
}

type load struct {
	deliveries, frames, bytes, cpu float64
	// Resident memory in KiB: before and after the viewers connect, and at the end.
	idle, joined, end float64
}

func (l load) perCPU() float64   { return l.deliveries / l.cpu }
func (l load) quietRSS() float64 { return (l.joined - l.idle) / viewers }
func (l load) rss() float64      { return (l.end - l.idle) / viewers }
func (l load) size() float64     { return l.bytes / l.deliveries }
func (l load) share() float64    { return l.deliveries / l.frames }

// fanout connects 1000 viewers, calls change n times (rate times per second), and measures the load of the server.
func fanout(t *testing.T, server *child, n, rate int, change func(i int)) (l load) {
	t.Helper()
	warm := join(t, server.address, 1, subscribeTo(podsRef))
	l.idle = server.rss()
	group := join(t, server.address, viewers, subscribeTo(podsRef))
	warm.closeAll()
	l.joined = server.rss()
	before, cpu := group.bytes.Load(), server.cpu()
	callAtRate(n, rate, change)
	l.deliveries = float64(n * viewers)
	group.waitForEvents(t, int64(n*viewers))
	l.cpu, l.bytes, l.frames = server.cpu()-cpu, float64(group.bytes.Load()-before), float64(group.frames.Load())
	l.end = server.rss()
	group.closeAll()
	server.end()
	return l
}

func fanoutOurs(t *testing.T, binary string, rate int) load {
	t.Helper()
	api := apitest.New(t, podKinds()...)
	api.Set("core/v1/namespaces", apitest.Item{Name: "shop"})
	for i := range objects {
		api.Set(podsRef, pod(i, 0))
	}
	server := startOnServer(t, binary, exposeOnTCP(t, api))
	f := fanout(t, server, 5*rate, rate, func(i int) { api.Set(podsRef, pod(i%objects, i+1)) })
	if upstream := api.Requests("/api/v1/pods?"); len(upstream) != 1 {
		t.Errorf("%d viewers caused %d upstream requests, want one watch: %s", viewers, len(upstream), upstream)
	}
	return f
}

// fanoutBare measures the baseline (see bareLoop) with events like those of the program. rate is in events per second.
// A message contains eventsPerFrame events on average.
func fanoutBare(t *testing.T, rate int, eventsPerFrame float64) load {
	t.Helper()
	server := startBare(t)
	var frame bytes.Buffer
	frames, n := 1.0, 5*rate
	return fanout(t, server, n, rate, func(i int) {
		if frame.Len() > 0 {
			frame.WriteByte(',')
		}
		fmt.Fprintf(&frame, `{"op":"update","ns":"shop","name":"web-%d","uid":"%s","rv":"%d",`+
			`"cells":{"3":"%d (2026-11-21T10:00:00Z ago)"},`+
			`"by":{"manager":"kubelet","operation":"Update","subresource":"status","time":"%s"}}`,
			i%objects, uid(i%objects), 2000+i, i+1, thisSecond())
		if float64(i+1) < frames*eventsPerFrame && i+1 < n {
			return
		}
		for frames*eventsPerFrame <= float64(i+1) {
			frames++
		}
		frame.WriteByte('\n')
		if _, err := frame.WriteTo(server.in); err != nil {
			t.Fatal(err)
		}
	})
}

func podKinds() []apitest.Kind {
	return []apitest.Kind{
		{
			Ref: podsRef, Kind: "Pod",
			Columns: `[{"name":"Name","type":"string"},{"name":"Ready","type":"string"},{"name":"Status",` +
				`"type":"string"},{"name":"Restarts","type":"string"}]`,
		},
		{Ref: "core/v1/namespaces", Kind: "Namespace", Cluster: true, Columns: `[{"name":"Name","type":"string"}]`},
	}
}

func uid(i int) string { return fmt.Sprintf("0c7a1f7e-93a4-4b1e-a6a5-%012d", i) }

func thisSecond() string { return time.Now().UTC().Format(time.RFC3339) }

func pod(i, n int) apitest.Item {
	return apitest.Item{
		Namespace: "shop", Name: "web-" + strconv.Itoa(i), UID: uid(i),
		Cells: fmt.Sprintf(`["web-%d","1/1","Running","%d (2026-11-21T10:00:00Z ago)"]`, i, n),
		Metadata: `"labels":{"app":"web"},"creationTimestamp":"2026-11-21T10:00:00Z",` +
			`"managedFields":[{"manager":"kubelet","operation":"Update","subresource":"status","apiVersion":"v1",` +
			`"time":"` + thisSecond() + `","fieldsType":"FieldsV1",` +
			`"fieldsV1":{"f:status":{"n":` + strconv.Itoa(n) + `}}}]`,
		Rest: fmt.Sprintf(
			`"spec":{"nodeName":"node-1","containers":[{"name":"web","image":"registry.example/web:1.2.3"}]},`+
				`"status":{"phase":"Running","restarts":%d}`,
			n,
		),
	}
}

func exposeOnTCP(t *testing.T, api *apitest.Server) string {
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
			for _, pair := range [][2]net.Conn{{near, far}, {far, near}} {
				running.Go(func() {
					_, _ = io.Copy(pair[0], pair[1])
					_ = pair[0].Close()
					_ = pair[1].Close()
				})
			}
		}
	})
	return "http://" + listener.Addr().String()
}
