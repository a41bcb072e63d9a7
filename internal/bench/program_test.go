//go:build integration

package bench_test

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// gcDelay lets the garbage collector finish before memory is measured.
const gcDelay = 10 * time.Second

// benchProgram measures resident memory with one viewer of all pods. The baseline is a process with only a dynamic
// informer.
func benchProgram(t *testing.T, subj subject, report *table) {
	t.Helper()
	type memory struct {
		pods      int
		rss, peak float64 // Resident memory in MiB: after gcDelay, and its maximum.
	}
	results := measureAlternately(t, func(t *testing.T) memory {
		t.Helper()
		s := syncInProcess(t, "dynamicinformer, idle")
		return memory{s.pods, s.rss, 0}
	}, func(t *testing.T) memory {
		t.Helper()
		server := startOnCluster(t, subj.binary)
		defer server.end()
		var reading sync.WaitGroup
		defer reading.Wait()
		viewer := newViewer(t, server, subscribeTo(podsRef), &reading, nil)
		defer viewer.stop()
		<-viewer.complete
		<-time.After(gcDelay)
		return memory{int(viewer.rows.Load()), server.rss() / 1024, server.peak() / 1024}
	})
	informer, ours := results[0], results[1]
	limit := 80.0
	if ours[0].pods > 20_000 {
		limit = 200
	}
	if ours[0].pods != informer[0].pods {
		t.Errorf("number of pods: dynamicinformer %d, viewer %d; want the same number", informer[0].pods, ours[0].pods)
	}
	suffix := fmt.Sprintf(" at %d pods, one viewer", ours[0].pods)
	report.add(row{
		"RSS of the program, MiB," + suffix, "only dynamicinformer",
		figuresOf(informer, func(m memory) float64 { return m.rss }),
		figuresOf(ours, func(m memory) float64 { return m.rss }),
		bar{fmt.Sprintf("at most %.0f MiB", limit), absolute, atMost(limit)},
	})
	report.add(row{
		title: "(peak RSS until then)",
		ours:  figuresOf(ours, func(m memory) float64 { return m.peak }), bar: comparisonOnly(absolute),
	})
}
