package watch_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"
)

func scheduledPod(phase, rest string) apitest.Item {
	p := pod("a", "p", phase)
	p.Rest = `"spec":{"nodeName":"n","containers":[{"name":"web"}]},"status":{"phase":"` + phase + `"` + rest + `}`
	return p
}

// Health (a status computed from the object) is sent with the object, and with each change that alters it.
// Invariant: I12.
func TestObjectViewSendsHealth(t *testing.T) {
	const (
		starting = `{"status":"InProgress","summary":"0/1 containers ready","details":[]}`
		ready    = `{"status":"Current","summary":"0/1 containers ready","details":[]}`
		failed   = `{"status":"Failed","summary":"Failed: Evicted","details":[]}`
		isReady  = `,"conditions":[{"type":"Ready","status":"True"}]`
	)
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, scheduledPod("Running", ""))
		r := subscribe(t, cluster, query.Query{Namespaces: []string{"a"}, Name: "p"}, "")
		var snapshot message
		for snapshot.Type != "snapshot" {
			snapshot = r.next()
		}
		if string(snapshot.Health) != starting {
			t.Errorf("health in the snapshot: got %s, want %s", snapshot.Health, starting)
		}
		events := func() message {
			for {
				if m := r.next(); len(m.Events) > 0 {
					return m
				}
			}
		}
		want := func(description, op, health string) {
			t.Helper()
			if m := events(); len(m.Events) != 1 || m.Events[0].Op != op || string(m.Events[0].Health) != health {
				t.Errorf("%s: got %+v with health %s, want one %s with health %s", description, m, m.Events[0].Health, op, health)
			}
		}
		server.Set(pods, scheduledPod("Running", isReady))
		want("pod becomes ready", "update", ready)
		server.Set(pods, labelled(scheduledPod("Running", isReady), "web"))
		want("label added", "update", "")

		server.Set(pods, scheduledPod("Running", ""))
		server.Set(pods, scheduledPod("Running", isReady))
		synctest.Wait()
		want("two changes that cancel out", "update", "")
		server.Set(pods, scheduledPod("Running", ""))
		server.Set(pods, scheduledPod("Failed", `,"reason":"Evicted"`))
		synctest.Wait()
		want("merged changes", "update", failed)

		server.Delete(pods, "a", "p")
		want("deleted", "delete", "")
		server.Set(pods, scheduledPod("Running", ""))
		want("recreated", "add", starting)

		missing := subscribe(t, cluster, query.Query{Namespaces: []string{"a"}, Name: "none"}, "")
		missing.next()
		if m := missing.next(); m.Type != "snapshot" || m.Health != nil {
			t.Errorf("missing object: got %+v, want no health", m)
		}
	})
}

// The JSON of the object does not contain its health (a status computed from the object).
// Invariant: I12.
func TestOnlyObjectViewSendsHealth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, scheduledPod("Running", ""))
		rows := subscribeView(t, cluster, query.Query{}, stream.Rows)
		changes := subscribeView(t, cluster, query.Query{}, stream.Changes)
		server.Set(pods, scheduledPod("Failed", ""))
		server.Delete(pods, "a", "p")
		server.Set(pods, scheduledPod("Running", ""))
		for _, sub := range []*watch.Subscription{rows, changes} {
			text, err := sub.Next(t.Context())
			if err != nil || !strings.Contains(string(text), `"type":"events"`) ||
				strings.Contains(string(text), "health") {
				t.Errorf("got %s, error %v", text, err)
			}
		}
		object, err := cluster.For(watch.Viewer{Program: true}).Object(t.Context(), pods, "a", "p")
		if err != nil || strings.Contains(string(object), "health") {
			t.Errorf("Object: got %s, error %v, want no health", object, err)
		}
	})
}
