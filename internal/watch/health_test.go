package watch_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"glasshouse/internal/watch"
	"glasshouse/internal/watch/apitest"
)

// placed returns a pod that is scheduled to a node.
func placed(phase, rest string) apitest.Item {
	p := pod("a", "p", phase)
	p.Rest = `"spec":{"nodeName":"n","containers":[{"name":"web"}]},"status":{"phase":"` + phase + `"` + rest + `}`
	return p
}

// The Object view sends the health with the object, and then with each change that alters it. With folded changes, it
// sends the health if it differs from the one that the reader has.
func TestHealthOfAnObject(t *testing.T) {
	const (
		starting = `{"status":"InProgress","summary":"0/1 containers ready","details":[]}`
		ready    = `{"status":"Current","summary":"0/1 containers ready","details":[]}`
		failed   = `{"status":"Failed","summary":"Failed: Evicted","details":[]}`
		isReady  = `,"conditions":[{"type":"Ready","status":"True"}]`
	)
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, placed("Running", ""))
		r := subscribe(t, cluster, watch.Query{Namespaces: []string{"a"}, Name: "p"}, "")
		var snapshot told
		for snapshot.Type != "snapshot" {
			snapshot = r.next()
		}
		if string(snapshot.Health) != starting {
			t.Errorf("the snapshot's is %s, want %s", snapshot.Health, starting)
		}
		events := func() told {
			for {
				if m := r.next(); len(m.Events) > 0 {
					return m
				}
			}
		}
		want := func(what, op, health string) {
			t.Helper()
			if m := events(); len(m.Events) != 1 || m.Events[0].Op != op || string(m.Events[0].Health) != health {
				t.Errorf("%s: got %+v with %s, want one %s with %s", what, m, m.Events[0].Health, op, health)
			}
		}
		server.Set(pods, placed("Running", isReady))
		want("it becomes ready", "update", ready)
		server.Set(pods, labelled(placed("Running", isReady), "web"))
		want("it is labelled", "update", "")

		server.Set(pods, placed("Running", ""))
		server.Set(pods, placed("Running", isReady))
		synctest.Wait()
		want("there and back", "update", "")
		server.Set(pods, placed("Running", ""))
		server.Set(pods, placed("Failed", `,"reason":"Evicted"`))
		synctest.Wait()
		want("folded", "update", failed)

		server.Delete(pods, "a", "p")
		want("deleted", "delete", "")
		server.Set(pods, placed("Running", ""))
		want("made anew", "add", starting)

		none := subscribe(t, cluster, watch.Query{Namespaces: []string{"a"}, Name: "none"}, "")
		none.next()
		if m := none.next(); m.Type != "snapshot" || m.Health != nil {
			t.Errorf("an object that is not there gives %+v, want no health", m)
		}
	})
}

// Only the Object view sends the health. Other views do not, and the JSON of the object does not contain it.
func TestHealthIsOfTheObjectViewAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, placed("Running", ""))
		rows := view(t, cluster, watch.Query{}, watch.Rows)
		changes := view(t, cluster, watch.Query{}, watch.Changes)
		server.Set(pods, placed("Failed", ""))
		server.Delete(pods, "a", "p")
		server.Set(pods, placed("Running", ""))
		for _, sub := range []*watch.Subscription{rows, changes} {
			text, err := sub.Next(t.Context())
			if err != nil || !strings.Contains(string(text), `"type":"events"`) ||
				strings.Contains(string(text), "health") {
				t.Errorf("got %s, %v", text, err)
			}
		}
		object, err := cluster.For(watch.Viewer{Program: true}).Object(t.Context(), pods, "a", "p")
		if err != nil || strings.Contains(string(object), "health") {
			t.Errorf("the object is %s, %v", object, err)
		}
	})
}
