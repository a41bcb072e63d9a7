//go:build integration

package bench_test

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// settled is the wait between the last pod and the measurement of memory, so that the garbage collector can finish.
const settled = 10 * time.Second

// benchProgram compares the memory of the whole program, with one viewer of all pods, and of a dynamic informer alone.
func benchProgram(t *testing.T, on subject, to *table) {
	t.Helper()
	type memory struct {
		pods      int
		rss, peak float64 // MiB.
	}
	results := many(t, func(t *testing.T) memory {
		t.Helper()
		s := syncInChild(t, "left alone")
		return memory{s.pods, s.rss, 0}
	}, func(t *testing.T) memory {
		t.Helper()
		server := onCluster(t, on.binary)
		defer server.end()
		var reading sync.WaitGroup
		defer reading.Wait()
		viewer := listen(t, server, subscribeTo(podsRef), &reading, nil)
		defer viewer.leave()
		<-viewer.whole
		<-time.After(settled)
		return memory{int(viewer.rows.Load()), server.rss() / 1024, server.peak() / 1024}
	})
	informer, ours := results[0], results[1]
	limit := 80.0
	if ours[0].pods > 20_000 {
		limit = 200
	}
	if ours[0].pods != informer[0].pods {
		t.Errorf("dynamicinformer saw %d pods, the viewer %d", informer[0].pods, ours[0].pods)
	}
	at := fmt.Sprintf(" at %d pods, one viewer", ours[0].pods)
	to.add(row{
		"RSS of the program, MiB," + at, "dynamicinformer alone", of(informer, func(m memory) float64 { return m.rss }),
		of(ours, func(m memory) float64 { return m.rss }),
		bar{fmt.Sprintf("at most %.0f MiB", limit), alone, atMost(limit)},
	})
	to.add(row{
		what: "(its peak until then)", ours: of(ours, func(m memory) float64 { return m.peak }), bar: told(alone),
	})
}
