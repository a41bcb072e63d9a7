//go:build integration

// Package bench_test measures memory, latency and CPU time of this program and of baselines in the same run.
package bench_test

import (
	"os"
	"strconv"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const podsRef = "core/v1/pods"

// TestBenchMeasuresEachPart does not fail if the program exceeds a limit, because people must judge the result.
func TestBenchMeasuresEachPart(t *testing.T) {
	if os.Getenv("GLASSHOUSE_BENCH") == "" {
		t.Skip("takes a quarter of an hour and a cluster of thousands of pods: make bench runs it")
	}
	subj := subject{demoConfig(t), build(t)}
	var all table
	// Each part can run alone, for example with -run TestBenchMeasuresEachPart/fanout.
	for _, part := range []struct {
		name    string
		measure func(*testing.T, subject, *table)
	}{
		{"memory", benchMemory},
		{"program", benchProgram},
		// The following parts need a cluster in which pods start.
		{"latency", benchLatency},
		{"bytes", benchBytes},
		{"fanout", benchFanout},
		{"append", benchAppend},
		{"upstream", benchUpstream},
	} {
		t.Run(part.name, func(t *testing.T) {
			start := time.Now()
			var partTable table
			part.measure(t, subj, &partTable)
			t.Logf("%s, %d runs in %.0f s\n%s", part.name, runs(), time.Since(start).Seconds(), partTable)
			all = append(all, partTable...)
		})
	}
	t.Logf(
		"medians of %d runs, with the largest deviation; each baseline was measured alternately with this program\n%s",
		runs(), all,
	)
}

type subject struct {
	config *rest.Config
	binary string
}

func runs() int {
	if n, err := strconv.Atoi(os.Getenv("GLASSHOUSE_BENCH_RUNS")); err == nil {
		return n
	}
	return 6
}

func demoConfig(t *testing.T) *rest.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	return config
}

// measureAlternately alternates between the measurements, so that a changing load of the machine affects all equally.
func measureAlternately[T any](t *testing.T, methods ...func(*testing.T) T) [][]T {
	t.Helper()
	results := make([][]T, len(methods))
	for range runs() {
		for i, method := range methods {
			results[i] = append(results[i], method(t))
		}
	}
	return results
}

func figuresOf[T any](results []T, value func(T) float64) figures {
	f := make(figures, 0, len(results))
	for _, r := range results {
		f = append(f, value(r))
	}
	return f
}
