//go:build integration

package bench_test

import (
	"bufio"
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"k8s.io/client-go/rest"
)

// benchUpstream counts the watches of pods at the API server, with one viewer and with 1000.
func benchUpstream(t *testing.T, subj subject, report *table) {
	t.Helper()
	results := measureAlternately(t, func(t *testing.T) float64 { t.Helper(); return upstream(t, subj, 1) },
		func(t *testing.T) float64 { t.Helper(); return upstream(t, subj, viewers) })
	value := func(n float64) float64 { return n }
	report.add(row{
		fmt.Sprintf("upstream watches of pods with %d viewers", viewers), "one viewer",
		figuresOf(results[0], value), figuresOf(results[1], value),
		bar{"1", absolute, func(n float64) bool { return n == 1 }},
	})
}

func upstream(t *testing.T, subj subject, viewers int) float64 {
	t.Helper()
	before := watches(t, subj.config)
	server := startOnCluster(t, subj.binary)
	defer server.end()
	group := join(t, server.address, viewers, `{"op":"subscribe","id":1,"resource":"core/v1/pods","ns":["shop"]}`)
	defer group.closeAll()
	return watches(t, subj.config) - before
}

func watches(t *testing.T, config *rest.Config) (n float64) {
	t.Helper()
	body := get(t.Context(), t, config, "/metrics", "text/plain")
	defer func() { _ = body.Close() }()
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 1<<20)
	series := regexp.MustCompile(`^apiserver_longrunning_requests\{.*resource="pods".*verb="WATCH".*\} (\S+)$`)
	for lines.Scan() {
		if match := series.FindStringSubmatch(lines.Text()); match != nil {
			count, err := strconv.ParseFloat(match[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			n += count
		}
	}
	if lines.Err() != nil || n == 0 {
		t.Fatalf("the API server's metrics contain no watch of pods, although one is open: %v", lines.Err())
	}
	return n
}
