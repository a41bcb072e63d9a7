//go:build integration

// Package bench_test measures the program and its baselines in the same run. It reports in one table whether the
// program meets its bars: the cost of a pod, the time for a list, and the delay and cost of a change for a thousand
// viewers.
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

// TestBench prints the table. It fails if a measurement was not possible. A missed bar is not a failure, because people
// must judge it. Each part can run alone, for example with -run TestBench/fanout. The parts memory and program work
// with any number of pods. The others need a cluster with changes.
func TestBench(t *testing.T) {
	if os.Getenv("GLASSHOUSE_BENCH") == "" {
		t.Skip("takes a quarter of an hour and a cluster of thousands of pods: make bench runs it")
	}
	subj := subject{demoConfig(t), build(t)}
	var all table
	for _, part := range []struct {
		name    string
		measure func(*testing.T, subject, *table)
	}{
		{"memory", benchMemory},
		{"program", benchProgram},
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
		"medians of %d runs, and how far any run was off; every baseline was measured alternately with ours\n%s",
		runs(), all,
	)
}

// subject is the cluster, and the program in its released form.
type subject struct {
	config *rest.Config
	binary string
}

// runs returns how many times each method is measured.
func runs() int {
	if n, err := strconv.Atoi(os.Getenv("GLASSHOUSE_BENCH_RUNS")); err == nil {
		return n
	}
	return 6
}

// demoConfig returns the connection to the cluster that .ci/on-demo started.
func demoConfig(t *testing.T) *rest.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	return config
}

// measureAlternately measures several methods alternately, as often as runs returns.
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

// figuresOf returns the figures that value reads from results.
func figuresOf[T any](results []T, value func(T) float64) figures {
	f := make(figures, 0, len(results))
	for _, r := range results {
		f = append(f, value(r))
	}
	return f
}
