//go:build integration

package bench_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"

	"glasshouse/internal/watch"
)

// benchRuns is how many times each way is measured, each time in a process of
// its own.
const benchRuns = 6

// TestBenchSync compares what keeping all pods costs: heap and time, ours
// beside client-go's dynamic informer without managedFields, and beside
// reading the same stream to nowhere. It asserts nothing but that all saw the
// same number of pods: the figures are for people. GLASSHOUSE_BENCH=1 runs it.
func TestBenchSync(t *testing.T) {
	if way := os.Getenv("GLASSHOUSE_BENCH_WAY"); way != "" {
		measure(t, way)
		return
	}
	if os.Getenv("GLASSHOUSE_BENCH") == "" {
		t.Skip("takes minutes and a cluster of thousands of pods: make bench runs it")
	}
	ways := []string{"stream", "glasshouse", "dynamicinformer"}
	results := map[string][]result{}
	for range benchRuns {
		for _, way := range ways {
			results[way] = append(results[way], measureInChild(t, way))
		}
	}
	report(t, ways, results)
}

type result struct {
	pods    int
	heap    float64 // Bytes a pod, above the idle process, after GC.
	peak    float64 // MiB of RSS while syncing, above the idle process.
	seconds float64
}

func report(t *testing.T, ways []string, results map[string][]result) {
	t.Helper()
	median := func(way string, of func(result) float64) float64 {
		values := make([]float64, 0, benchRuns)
		for _, r := range results[way] {
			values = append(values, of(r))
		}
		slices.Sort(values)
		return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
	}
	heap := func(r result) float64 { return r.heap }
	peak := func(r result) float64 { return r.peak }
	seconds := func(r result) float64 { return r.seconds }
	t.Logf("%d pods, median of %d runs", results["glasshouse"][0].pods, benchRuns)
	t.Logf("%-16s %14s %18s %12s", "", "heap B/pod", "peak RSS + MiB", "synced s")
	for _, way := range ways {
		t.Logf("%-16s %14.0f %18.1f %12.2f", way, median(way, heap), median(way, peak), median(way, seconds))
	}
	t.Logf("heap: 1/%.1f of dynamicinformer; peak: 1/%.1f; time: %.2f times the stream, dynamicinformer %.2f times",
		median("dynamicinformer", heap)/median("glasshouse", heap), median("dynamicinformer", peak)/median("glasshouse", peak),
		median("glasshouse", seconds)/median("stream", seconds), median("dynamicinformer", seconds)/median("stream", seconds))
}

func measureInChild(t *testing.T, way string) (r result) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestBenchSync$", "-test.v")
	child.Env = append(os.Environ(), "GLASSHOUSE_BENCH_WAY="+way)
	out, err := child.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", way, err, out)
	}
	for line := range strings.Lines(string(out)) {
		if _, figures, ok := strings.Cut(line, "RESULT "); ok {
			if _, err := fmt.Sscan(figures, &r.pods, &r.heap, &r.peak, &r.seconds); err != nil {
				t.Fatal(err)
			}
		}
	}
	if r.pods == 0 {
		t.Fatalf("%s saw no pods:\n%s", way, out)
	}
	return r
}

// measure is the child: it syncs one way and prints the figures.
func measure(t *testing.T, way string) {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	sync := map[string]func(*testing.T, *rest.Config) (int, any){
		"stream": readStream, "glasshouse": syncOurs, "dynamicinformer": syncDynamic,
	}[way]
	idleHeap, idleRSS := heapNow(), resident(t, "VmRSS")
	start := time.Now()
	pods, keep := sync(t, config)
	took := time.Since(start).Seconds()
	peak := resident(t, "VmHWM") - idleRSS
	heap := float64(heapNow()-idleHeap) / float64(pods)
	t.Logf("RESULT %d %f %f %f", pods, heap, peak, took)
	runtime.KeepAlive(keep)
}

func heapNow() int64 {
	for range 3 {
		debug.FreeOSMemory()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc) //nolint:gosec // No heap is that large.
}

// resident reads a line of /proc/self/status, in MiB.
func resident(t *testing.T, name string) float64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skipf("resident memory is read from /proc: %v", err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			if err != nil {
				t.Fatal(err)
			}
			return kib / 1024
		}
	}
	t.Fatalf("no %s in /proc/self/status", name)
	return 0
}

func syncOurs(t *testing.T, config *rest.Config) (int, any) {
	t.Helper()
	cluster, err := watch.New(config, watch.Options{Linger: time.Hour, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- cluster.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	for {
		snapshot, err := cluster.For(watch.Viewer{}).Snapshot(t.Context(), watch.Query{Resource: "core/v1/pods"}, time.Minute)
		if err == nil && snapshot.Synced {
			return len(snapshot.Objects), cluster
		}
		if t.Context().Err() != nil {
			t.Fatal(err)
		}
	}
}

func syncDynamic(t *testing.T, config *rest.Config) (int, any) {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	informer := dynamicinformer.NewFilteredDynamicInformer(client, schema.GroupVersionResource{Version: "v1", Resource: "pods"}, "", 0, cache.Indexers{}, nil).Informer()
	if err := informer.SetTransform(func(obj any) (any, error) {
		if u, ok := obj.(*unstructured.Unstructured); ok {
			u.SetManagedFields(nil)
		}
		return obj, nil
	}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); informer.RunWithContext(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		t.Fatal("not synced")
	}
	return len(informer.GetStore().List()), informer
}

// readStream reads the streaming list that we read, and does nothing with it.
func readStream(t *testing.T, config *rest.Config) (int, any) {
	t.Helper()
	config = rest.CopyConfig(config)
	config.APIPath, config.GroupVersion = "/api", &schema.GroupVersion{Version: "v1"}
	client, err := rest.UnversionedRESTClientFor(withCodecs(config))
	if err != nil {
		t.Fatal(err)
	}
	body, err := client.Get().AbsPath("/api/v1/pods").Param("watch", "1").Param("sendInitialEvents", "true").
		Param("resourceVersionMatch", string(metav1.ResourceVersionMatchNotOlderThan)).Param("allowWatchBookmarks", "true").
		Param("includeObject", "Object").SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").Stream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = body.Close() }()
	lines := bufio.NewReaderSize(body, 1<<20)
	for pods := 0; ; {
		line, err := lines.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		if strings.HasPrefix(string(line[:min(20, len(line))]), `{"type":"BOOKMARK"`) {
			return pods, nil
		}
		pods++
	}
}
