package watch_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"
)

// Some aggregated APIs respond to a list in an unknown namespace with 404 Not Found. Only this namespace is then
// absent, and others stay live.
// Invariant: I20.
func TestNotFoundNamespaceAffectsNoOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"), pod("b", "q", "Running"))
		allowOnly(server, "a")
		a := subscribe(t, cluster, query.Query{Namespaces: []string{"a"}}, "")
		a.settle()
		all := subscribe(t, cluster, query.Query{}, "")
		all.settle()
		server.Refuse(pods, "b", http.StatusNotFound, "no such namespace")
		<-time.After(40 * time.Second) // Wait for the next access review of namespace b.
		if got := a.settle(); got != "" && got != "state live" {
			t.Errorf("reader of namespace a: got %s, want no rows", got)
		}
		a.wantLive(1)
		for range 8 {
			a.wantSettle("")
		}
		if all.settle(); all.state != "live" || len(all.rows) != 1 {
			t.Errorf("all namespaces: got state %s with %d rows, want live with 1", all.state, len(all.rows))
		}
		b := subscribe(t, cluster, query.Query{Namespaces: []string{"b"}}, "")
		if b.settle(); b.state != "absent" || b.reason != "no such namespace" {
			t.Errorf("namespace b: got state %s: %s, want absent with the API server's reason", b.state, b.reason)
		}
		all.log = nil
		for range 8 {
			all.wantSettle("")
		}
		server.Refuse(pods, "b", 0, "")
		<-time.After(time.Minute)
		b.settle()
		b.wantLive(1)
	})
}

// If the program may not list a resource, the API server's reason names the user of the program. Guests do not get it.
// Invariant: I18.
func TestForbiddenListNamesUserOfProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Refuse(pods, "", http.StatusForbidden, `pods is forbidden: User "ann" cannot list resource "pods"`)
		r := subscribe(t, cluster, query.Query{}, "")
		for range 3 { // Later reviews keep the reason.
			if r.settle(); r.state != "forbidden" || r.reason != `User "ann" cannot list resource "pods"` {
				t.Errorf("got state %s: %s, want forbidden with the user", r.state, r.reason)
			}
			advance(time.Minute)
		}
		guest := watch.Viewer{Program: true, Scope: &watch.Scope{Parts: []watch.Part{{Resource: pods}}}}
		g := subscribeAs(t, cluster.For(guest), query.Query{Resource: pods}, stream.Rows, "")
		if g.settle(); g.state != "forbidden" || strings.Contains(g.reason, "ann") {
			t.Errorf("a guest: got state %s: %s, want forbidden without the user", g.state, g.reason)
		}
		if sent := len(server.Requests("/api/v1/pods")); sent != 1 {
			t.Errorf("got %d lists in 3 minutes, want 1", sent)
		}
		server.Refuse(pods, "", 0, "")
		advance(time.Minute)
		r.settle()
		r.wantLive(0)
	})
}

// A resource that was removed from the cluster is not listed until the cluster serves it again. The test opens no
// Follower, so discovery does not run at intervals.
func TestRemovedResourceIsNotListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		kind := apitest.Kind{Ref: widgets, Kind: "Widget", Columns: `[{"name":"Name","type":"string"}]`}
		server.AddKind(kind)
		r := subscribe(t, cluster, query.Query{Resource: widgets}, "")
		r.settle()
		server.RemoveKind(widgets)
		<-time.After(10 * time.Second)
		r.wantSettle("state absent, reset, snapshot of 0")
		before := len(server.Requests("/widgets"))
		<-time.After(5 * time.Minute)
		r.wantSettle("")
		if lists := len(server.Requests("/widgets")) - before; lists > 0 {
			t.Errorf("got %d lists in 5 minutes, want 0", lists)
		}
		server.AddKind(kind)
		server.Set(widgets, apitest.Item{Namespace: "a", Name: "w"})
		<-time.After(30 * time.Second)
		r.settle()
		r.wantLive(1)
	})
}

// If discovery reports a resource, but a list of it gets 404 (as from an unhealthy aggregated API), the state is
// "absent".
func TestServedResourceThatIsNotFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Refuse(pods, "", http.StatusNotFound, "nothing here")
		r := subscribe(t, cluster, query.Query{}, "")
		if r.settle(); r.state != "absent" {
			t.Errorf("got state %s, want absent", r.state)
		}
		for range 8 {
			r.wantSettle("")
		}
		server.Refuse(pods, "", 0, "")
		<-time.After(15 * time.Second)
		r.wantSettle("state live, snapshot of 0")
	})
}

func TestResourceMissingInDiscoveryStaysLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		r := subscribe(t, cluster, query.Query{}, "")
		r.settle()
		server.FailPath("/api", http.StatusNotFound, "not today")
		server.AddKind(apitest.Kind{Ref: widgets, Kind: "Widget"})
		for range 4 {
			advance(11 * time.Second)
			serves(t, cluster, pods)
		}
		if serves(t, cluster, pods) {
			t.Error("discovery has a resource of an unavailable group")
		}
		r.wantSettle("")
		r.wantLive(1)
		server.RemoveKind(pods)
		<-time.After(30 * time.Second)
		r.settle()
		if r.wantRows(); r.state != "absent" {
			t.Errorf("got state %s, want absent", r.state)
		}
	})
}
