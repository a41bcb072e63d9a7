//go:build integration

package bench_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// benchMemory measures the memory and time for a list of all pods: with this program, with a dynamic informer, and
// without storing anything.
func benchMemory(t *testing.T, _ subject, report *table) {
	t.Helper()
	sync := func(method string) func(*testing.T) synced {
		return func(t *testing.T) synced { t.Helper(); return syncInProcess(t, method) }
	}
	results := measureAlternately(t, sync("stream"), sync("glasshouse"), sync("dynamicinformer"))
	stream, ours, informer := results[0], results[1], results[2]
	heap := func(s synced) float64 { return s.heap }
	peak := func(s synced) float64 { return s.peak }
	seconds := func(s synced) float64 { return s.seconds }
	suffix := fmt.Sprintf(" at %d pods", ours[0].pods)
	if n := informer[0].pods; n != ours[0].pods || stream[0].pods != n {
		t.Errorf("number of pods: list %d, dynamicinformer %d, this program %d; want equal numbers",
			stream[0].pods, n, ours[0].pods)
	}
	report.add(row{
		"heap per pod, bytes," + suffix, "dynamicinformer", figuresOf(informer, heap), figuresOf(ours, heap),
		bar{"at most 1/14", fraction, atMost(1. / 14)},
	})
	report.add(
		row{
			"peak RSS while syncing, MiB above idle," + suffix, "dynamicinformer",
			figuresOf(informer, peak), figuresOf(ours, peak),
			bar{"at most 1/4", fraction, atMost(1. / 4)},
		},
	)
	report.add(row{
		"time to sync, s," + suffix, "raw list, response discarded", figuresOf(stream, seconds), figuresOf(ours, seconds),
		bar{"at most x 1.10", ratio, atMost(1.1)},
	})
	report.add(
		row{
			"(time to sync of dynamicinformer)", "raw list, response discarded", figuresOf(stream, seconds),
			figuresOf(informer, seconds), comparisonOnly(ratio),
		},
	)
}

type synced struct {
	pods    int
	heap    float64 // Heap bytes per pod after a garbage collection, minus the heap of the idle process.
	peak    float64 // The maximum resident memory in MiB during the list, minus that of the idle process.
	seconds float64
	rss     float64 // Resident memory in MiB after gcDelay.
}

func syncInProcess(t *testing.T, method string) (s synced) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSyncInChild$", "-test.v")
	child.Env = append(os.Environ(), "GLASSHOUSE_BENCH_METHOD="+method)
	out, err := child.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", method, err, out)
	}
	for line := range strings.Lines(string(out)) {
		if _, figures, ok := strings.Cut(line, "RESULT "); ok {
			if _, err := fmt.Sscan(figures, &s.pods, &s.heap, &s.peak, &s.seconds, &s.rss); err != nil {
				t.Fatal(err)
			}
		}
	}
	if s.pods == 0 {
		t.Fatalf("%s received no pods:\n%s", method, out)
	}
	return s
}

// TestSyncInChild is not a test. syncInProcess runs it in a separate process to measure one method of reading all pods.
func TestSyncInChild(t *testing.T) {
	name := os.Getenv("GLASSHOUSE_BENCH_METHOD")
	if name == "" {
		t.Skip("the child of other benchmarks, which start it themselves")
	}
	config := demoConfig(t)
	method := map[string]func(*testing.T, *rest.Config) (int, any){
		"stream": readStream, "glasshouse": syncOurs, "dynamicinformer": syncDynamic, "dynamicinformer, idle": syncDynamic,
	}[name]
	idleHeap, idleRSS := heapNow(), resident(t, "self", "VmRSS")
	start := time.Now()
	pods, kept := method(t, config)
	elapsed := time.Since(start).Seconds()
	peak := resident(t, "self", "VmHWM") - idleRSS
	rss := 0.0
	if name == "dynamicinformer, idle" {
		<-time.After(gcDelay)
		rss = resident(t, "self", "VmRSS") / 1024
	}
	heap := float64(heapNow()-idleHeap) / float64(pods)
	t.Logf("RESULT %d %f %f %f %f", pods, heap, peak/1024, elapsed, rss)
	runtime.KeepAlive(kept)
}

func heapNow() int64 {
	for range 3 {
		debug.FreeOSMemory()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc) //nolint:gosec // A heap is far smaller than 2^63 bytes.
}
