package watch_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"
)

// While columns change, a snapshot is empty, because its rows would have the cells of the old columns.
// Invariant: I6.
func TestSnapshotWhileColumnsChangeIsEmpty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		subscribe(t, cluster, query.Query{}, "").settle()
		got := make(chan *watch.Snapshot, 1)
		cluster.Informer(pods).Faults().SetColumns("Other", func() {
			go func() {
				s, err := cluster.For(watch.Viewer{Program: true}).Snapshot(
					t.Context(), query.Query{Resource: pods}, time.Minute,
				)
				if err != nil {
					t.Error(err)
				}
				got <- s
			}()
			awaitReader()
		})
		if s := <-got; s.Synced || len(s.Objects) > 0 {
			t.Errorf("Snapshot before the first list: got %d objects with columns %v, want none", len(s.Objects), s.Columns)
		}
	})
}

// A reset is sent at once, with its reason. It replaces the changes that wait to be sent in one message.
// Invariant: I6.
func TestResetInterruptsCoalescing(t *testing.T) {
	for name, reset := range map[string]func(*watch.Cluster){
		"changed columns": func(c *watch.Cluster) { c.Informer(pods).Faults().SetColumns("Other", func() {}) },
		"history is lost": func(c *watch.Cluster) { c.Informer(pods).Faults().ResetReaders() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster := serveCluster(t)
				server.Set(pods, pod("a", "p", "Running"))
				r := subscribe(t, cluster, query.Query{}, "")
				r.settle()
				server.Set(pods, pod("a", "p", "1"))
				<-time.After(time.Second)
				// The test reads this message late, so the reader waits for more changes before it sends another message.
				if m := r.next(); m.Type != "events" {
					t.Fatalf("got %+v, want events", m)
				}
				server.Set(pods, pod("a", "p", "2"))
				synctest.Wait()
				got := make(chan string, 1)
				go func() {
					message := `"type":"state"`
					for strings.HasPrefix(message, `"type":"state"`) {
						text, err := r.sub.Next(context.WithoutCancel(t.Context()))
						if err != nil {
							t.Error(err)
						}
						message = string(text)
					}
					got <- message
				}()
				synctest.Wait()
				reset(cluster)
				if message := <-got; !strings.HasPrefix(
					message, `"type":"reset","reason":"the resource was served again, its columns changed`,
				) {
					t.Errorf("got %s, want a reset with the reason", message)
				}
			})
		})
	}
}

// Invariant: I6.
func TestHistoryAfterCursorIsExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		subscribeChanges(t, cluster, query.Query{}, "").settle()
		server.Set(pods, pod("a", "p", "Failed"), pod("a", "p", "Running"), pod("a", "p", "Failed"))
		synctest.Wait()
		f := subscribeChanges(t, cluster, query.Query{}, "")
		for _, before := range []int{0, 1, 3} {
			if got := f.sub.Reader().HistoryAfter(t.Context(), before); got != 3-before {
				t.Errorf("got %d more changes after %d of 3", got, before)
			}
		}
	})
}

func TestHeartbeatsBeforeSnapshotHaveNoCursor(t *testing.T) {
	for _, view := range []stream.View{stream.Rows, stream.Changes} {
		t.Run(string(view), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster := serveCluster(t)
				server.Hang("/api/v1/pods")
				sub, err := cluster.For(watch.Viewer{Program: true}).Subscribe(
					t.Context(), query.Query{Resource: pods}, view, "unknown",
				)
				if err != nil {
					t.Fatal(err)
				}
				defer sub.Close()
				reset, beats := false, 0
				for start := time.Now(); time.Since(start) < 40*time.Second; {
					text, err := sub.Next(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					reset = reset || strings.HasPrefix(string(text), `"type":"reset"`)
					switch {
					case strings.HasPrefix(string(text), `"type":"snapshot"`):
						t.Fatalf("got a snapshot %s before the first list", text)
					case strings.HasPrefix(string(text), `"type":"heartbeat"`):
						if beats++; string(text) != `"type":"heartbeat","cursor":""` {
							t.Errorf("got %s, want no cursor", text)
						}
					}
				}
				if !reset || beats == 0 {
					t.Errorf("got reset %t and %d heartbeats", reset, beats)
				}
			})
		})
	}
}

// Between two parts of a snapshot, a new state is sent at once. After the state forbidden, no rows follow.
// Invariant: I6.
func TestStateIsSentBetweenSnapshotParts(t *testing.T) {
	const podCount = 4000
	names := regexp.MustCompile(`p-\d{4}`)
	for _, view := range []stream.View{stream.Rows, stream.Table} {
		for cause, test := range map[string]struct {
			interrupt func(*apitest.Server, *watch.Cluster)
			want      string
			rows      int // The maximum number of rows that arrive after the message that contains want.
		}{
			"the API server is not available": {
				func(server *apitest.Server, _ *watch.Cluster) { server.Down(true) }, `"stale"`, podCount,
			},
			"readers are reset": {
				func(_ *apitest.Server, cluster *watch.Cluster) { cluster.Informer(pods).Faults().ResetReaders() }, `"reset"`,
				podCount,
			},
			"the list is forbidden": {
				func(_ *apitest.Server, cluster *watch.Cluster) { cluster.Informer(pods).Faults().Forbid() }, `"forbidden"`, 0,
			},
		} {
			t.Run(fmt.Sprintf("%s, %s", view, cause), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server, cluster := serveCluster(t)
					var items []apitest.Item
					for n := range podCount {
						items = append(items, pod("a", fmt.Sprintf("p-%04d", n), strings.Repeat("x", 100)))
					}
					server.Set(pods, items...)
					sub := openAs(t, cluster.For(watch.Viewer{Program: true}), query.Query{Resource: pods}, view)
					awaitText(t, sub, `"last":false`)
					synctest.Wait() // Finish a pending reconciliation: after the interruption, it would permit the list again.
					test.interrupt(server, cluster)
					advance(5 * time.Second)
					message, err := sub.Next(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					if !strings.Contains(string(message), test.want) {
						t.Errorf("after the first part got %.100s, want %s", message, test.want)
					}
					rows := make(map[string]bool)
					// Stop before the next access review, which would allow the list again 10 s after the interruption.
					ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
					defer cancel()
					for {
						message, err := sub.Next(ctx)
						if errors.Is(err, context.DeadlineExceeded) {
							break
						}
						if err != nil {
							t.Fatal(err)
						}
						for _, name := range names.FindAllString(string(message), -1) {
							rows[name] = true
						}
						if strings.Contains(string(message), `"last":true`) {
							break
						}
					}
					if len(rows) > test.rows ||
						test.want == `"reset"` && len(rows) != podCount ||
						test.want == `"stale"` && len(rows) == 0 {
						t.Errorf("after the new state got %d rows, want at most %d", len(rows), test.rows)
					}
				})
			})
		}
	}
}
