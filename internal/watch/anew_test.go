package watch_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"glasshouse/internal/watch"
)

// What is listed while columns become others is not told with those before.
func TestListedWhileColumnsChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		subscribe(t, cluster, watch.Query{}, "").settle()
		got := make(chan *watch.Snapshot, 1)
		cluster.Recolumn(pods, "Other", func() {
			go func() {
				s, err := cluster.For(watch.Viewer{}).Snapshot(t.Context(), watch.Query{Resource: pods}, time.Minute)
				if err != nil {
					t.Error(err)
				}
				got <- s
			}()
			awaitReader()
		})
		if s := <-got; s.Synced || len(s.Objects) > 0 {
			t.Errorf("%d objects are listed under %v", len(s.Objects), s.Columns)
		}
	})
}

// Who collects changes while the resource begins anew is told that, and why: not
// the changes, nor that they were too many.
func TestCollectedWhileItBeginsAnew(t *testing.T) {
	for name, begin := range map[string]func(*watch.Cluster){
		"other columns":    func(c *watch.Cluster) { c.Recolumn(pods, "Other", func() {}) },
		"the past is gone": func(c *watch.Cluster) { c.BeginAnew(pods) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster := serveCluster(t)
				server.Set(pods, pod("a", "p", "Running"))
				r := subscribe(t, cluster, watch.Query{}, "")
				r.settle()
				server.Set(pods, pod("a", "p", "1"))
				<-time.After(time.Second)
				if m := r.next(); m.Type != "events" { // So late that it collects for a while before the next.
					t.Fatalf("got %+v", m)
				}
				server.Set(pods, pod("a", "p", "2"))
				synctest.Wait()
				got := make(chan string, 1)
				go func() {
					message := `"type":"state"`
					for strings.HasPrefix(message, `"type":"state"`) { // Other columns are listed for.
						text, err := r.sub.Next(context.WithoutCancel(t.Context()))
						if err != nil {
							t.Error(err)
						}
						message = string(text)
					}
					got <- message
				}()
				synctest.Wait()
				begin(cluster)
				if message := <-got; !strings.HasPrefix(message, `"type":"reset","reason":"the resource came back, has other columns`) {
					t.Errorf("told %s", message)
				}
			})
		})
	}
}
