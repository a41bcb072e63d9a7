package watch_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

func scheduledPod(phase, rest string) apitest.Item {
	p := pod("a", "p", phase)
	p.Rest = `"spec":{"nodeName":"n","containers":[{"name":"web"}]},"status":{"phase":"` + phase + `"` + rest + `}`
	return p
}

// Health (a status computed from the object) is sent with the object, and with each change that alters the health.
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

// A pod that does not start in time becomes failed for all readers, without an update from the API server.
//
// Invariant: I12.
func TestOverdueProgressBecomesAProblem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		created := time.Now().UTC().Format(time.RFC3339)
		p := pod("a", "p", "Pending")
		p.Metadata = fmt.Sprintf(`"creationTimestamp":%q`, created)
		server.Set(pods, p)
		rows, failing := subscribe(t, cluster, query.Query{}, ""), subscribe(t, cluster, query.Query{Text: "is:failing"}, "")
		rows.settle()
		failing.settle()
		if len(failing.rows) != 0 {
			t.Fatalf("a new pod is listed by is:failing: %v", failing.rows)
		}
		<-time.After(8 * time.Minute)
		rows.settle()
		failing.settle()
		if len(failing.rows) != 0 {
			t.Errorf("the pod is a problem before the time has passed: %v", failing.rows)
		}
		<-time.After(2 * time.Minute)
		rows.settle()
		failing.settle()
		if len(failing.rows) != 1 {
			t.Errorf("after 10 minutes, is:failing has the rows %v, want the pod", failing.rows)
		}
		snapshot, err := cluster.For(watch.Viewer{Program: true}).Snapshot(t.Context(), query.Query{Resource: pods}, 0)
		if err != nil {
			t.Fatal(err)
		}
		if v := snapshot.Objects[0].Verdict().Unpack(); v.Severity != verdict.Failed || v.Reason != "Pending" {
			t.Errorf("got the verdict %+v, want failed, Pending", v)
		}
		server.Set(pods, withSeverity(pod("a", "p", "Running"), verdict.OK))
		failing.settle()
		if len(failing.rows) != 0 {
			t.Errorf("the pod is running, but is:failing has the rows %v", failing.rows)
		}
	})
}
