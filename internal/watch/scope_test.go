package watch_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"glasshouse/internal/watch"
	"glasshouse/internal/watch/apitest"
)

// allowOnly refuses pods but in the given namespaces.
func allowOnly(server *apitest.Server, namespaces ...string) {
	server.Refuse(pods, "", http.StatusForbidden, "not all of them")
	for _, ns := range namespaces {
		server.Refuse(pods, ns, 0, "not all of them")
	}
}

// Who may not list all namespaces sees those that may be listed, without
// naming them, in one table; and is told which they are.
func TestNamespacesThatMayBeListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set("core/v1/namespaces", apitest.Item{Name: "c"})
		server.Set(pods, pod("a", "p", "Running"), pod("b", "q", "Running"), pod("c", "r", "Running"))
		allowOnly(server, "a", "c")
		all := subscribe(t, cluster, watch.Query{}, "")
		all.settle()
		all.wantRows("a/p=Running", "c/r=Running")
		if got := strings.Join(all.namespaces, " "); all.state != "live" || got != "a c" {
			t.Errorf("it is %s in %s, want live in a c", all.state, got)
		}
		two := subscribe(t, cluster, watch.Query{Namespaces: []string{"a", "b"}}, "")
		two.settle()
		two.wantRows("a/p=Running")
		if got := strings.Join(two.namespaces, " "); got != "a" {
			t.Errorf("two namespaces are covered in %s, want a", got)
		}
		if allowed := subscribe(t, cluster, watch.Query{Namespaces: []string{"a", "c"}}, ""); allowed.settle() == "" || allowed.namespaces != nil {
			t.Errorf("all that were asked for are covered, and it says only %s", allowed.namespaces)
		}
		server.Set(pods, pod("a", "p", "Failed"), pod("c", "r", "Failed"))
		two.wantSettle("update a/p")
		all.settle()
		all.wantRows("a/p=Failed", "c/r=Failed")
	})
}

// A right that comes later is found within a minute, as is a namespace; one
// that goes takes its rows with it within moments, though its watch goes on.
func TestRightsChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"), pod("b", "q", "Running"))
		allowOnly(server, "a")
		r := subscribe(t, cluster, watch.Query{}, "")
		r.settle()
		r.wantRows("a/p=Running")

		server.Refuse(pods, "b", 0, "")
		<-time.After(time.Minute)
		r.settle()
		r.wantRows("a/p=Running", "b/q=Running")

		server.Revoke(pods, "b")
		<-time.After(15 * time.Second)
		r.settle()
		r.wantRows("a/p=Running")
		if got := strings.Join(r.namespaces, " "); r.state != "live" || got != "a" {
			t.Errorf("it is %s in %s, want live in a", r.state, got)
		}

		// All of them at once, and none of them again.
		server.Refuse(pods, "", 0, "")
		<-time.After(time.Minute)
		r.settle()
		if r.wantRows("a/p=Running", "b/q=Running"); r.state != "live" || r.namespaces != nil {
			t.Errorf("it is %s in %s, want live in all", r.state, r.namespaces)
		}
		server.Revoke(pods, "")
		server.Revoke(pods, "a")
		<-time.After(15 * time.Second)
		r.settle()
		if r.wantRows(); r.state != "forbidden" {
			t.Errorf("it is %s, want forbidden", r.state)
		}
	})
}

// The right to watch may go alone: then it is listed again and again.
func TestRightToWatchGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		r := subscribe(t, cluster, watch.Query{}, "")
		r.settle()
		server.RevokeWatch(pods)
		<-time.After(15 * time.Second)
		r.settle()
		if r.wantRows("a/p=Running"); r.state != "stale" || !strings.Contains(r.reason, "not watched") {
			t.Errorf("it is %s: %s, want stale, because it may not be watched", r.state, r.reason)
		}
	})
}

// Where reviews cannot be asked for, the lists themselves tell.
func TestReviewsThatMayNotBeAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.RefuseGet(apitest.Reviews, http.StatusForbidden, "no reviews for you")
		server.Set(pods, pod("a", "p", "Running"), pod("b", "q", "Running"))
		allowOnly(server, "a")
		r := subscribe(t, cluster, watch.Query{}, "")
		r.settle()
		r.wantRows("a/p=Running")
		server.Refuse(pods, "", 0, "")
		<-time.After(time.Minute)
		r.settle()
		if r.wantRows("a/p=Running", "b/q=Running"); r.state != "live" {
			t.Errorf("it is %s, want live", r.state)
		}
	})
}

// The namespaces of one reader end with the informer, and one watch serves all
// who look at a namespace.
func TestOneWatchForEachNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		allowOnly(server, "a")
		for range 20 {
			subscribe(t, cluster, watch.Query{}, "").settle()
			subscribe(t, cluster, watch.Query{Namespaces: []string{"a"}}, "").settle()
		}
		lists := slices.DeleteFunc(server.Requests("/namespaces/a/pods"), func(line string) bool { return !strings.Contains(line, "sendInitialEvents") })
		if len(lists) != 1 {
			t.Errorf("%d lists for 40 readers, want 1", len(lists))
		}
	})
}

// Questions for rights are bounded, however many namespaces there are, and come
// spread; a right that goes is found all the same.
func TestReviewsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		var names []string
		for n := range 100 {
			ns := fmt.Sprint("team-", n)
			names = append(names, ns)
			server.Set("core/v1/namespaces", apitest.Item{Name: ns})
			server.Set(pods, pod(ns, "p", "Running"))
		}
		for n := range 200 {
			server.Set("core/v1/namespaces", apitest.Item{Name: fmt.Sprint("closed-", n)})
		}
		allowOnly(server, names...)
		r := subscribe(t, cluster, watch.Query{}, "")
		r.settle()
		<-time.After(time.Minute)
		most, began := 0, len(server.Requests("POST"))
		for range 120 {
			before := len(server.Requests("POST"))
			<-time.After(5 * time.Second)
			most = max(most, len(server.Requests("POST"))-before)
		}
		if n := len(server.Requests("POST")) - began; n > 600*11 || most > 100 {
			t.Errorf("%d reviews in 10 minutes, %d in 5 s; want 10 a second at most", n, most)
		}
		server.Revoke(pods, "team-50")
		server.Revoke(pods, "team-99")
		<-time.After(30 * time.Second) // 100 of them take 20 s.
		r.settle()
		if len(r.rows) != 98 {
			t.Errorf("%d rows, want 98", len(r.rows))
		}
	})
}
