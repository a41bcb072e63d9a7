package watch_test

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"glasshouse/internal/watch"
	"glasshouse/internal/watch/apitest"
)

// Where the namespaces may not be listed any more, for a moment or for good, those
// that were known before are watched for as long as reviews let them be: they are not
// none. One that was deleted meanwhile is none to the reviews; one that is new is
// found when they may be listed again.
func TestNamespacesThatMayNotBeListedAnyMore(t *testing.T) {
	for _, status := range []int{http.StatusForbidden, http.StatusUnauthorized} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster := serveCluster(t)
				server.Serve(apitest.Kind{Ref: widgets, Kind: "Widget", Columns: `[{"name":"Name","type":"string"}]`})
				server.Set(widgets, apitest.Item{Namespace: "a", Name: "w"})
				server.Refuse(widgets, "", http.StatusForbidden, "not all of them")
				server.Refuse(widgets, "a", 0, "not all of them")
				server.Set(pods, pod("a", "p", "Running"), pod("b", "q", "Running"))
				allowOnly(server, "a", "b", "c")
				r := subscribe(t, cluster, watch.Query{}, "")
				r.settle()
				for _, long := range []time.Duration{3 * time.Second, 10 * time.Minute} {
					server.Refuse(namespaces, "", status, "not now")
					<-time.After(long)
					if long == 3*time.Second {
						server.Refuse(namespaces, "", 0, "")
						<-time.After(time.Minute)
					}
					r.wantSettle("")
				}
				server.Set(pods, pod("a", "p", "Failed"))
				r.wantSettle("update a/p")
				later := subscribe(t, cluster, watch.Query{Resource: widgets}, "")
				later.settle()
				later.wantLive(1)

				server.Delete(pods, "b", "q")
				server.Delete(namespaces, "", "b")
				server.Refuse(pods, "b", http.StatusForbidden, "not all of them")
				server.Set(namespaces, apitest.Item{Name: "c"})
				server.Set(pods, pod("c", "r", "Running"))
				<-time.After(time.Minute)
				r.settle()
				r.wantRows("a/p=Failed")
				r.wantLive(1)
				server.Refuse(namespaces, "", 0, "")
				<-time.After(time.Minute)
				r.settle()
				r.wantRows("a/p=Failed", "c/r=Running")
			})
		})
	}
}

// Nor are they none where they do not fit into the memory any more.
func TestNamespacesThatDoNotFitAnyMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := budgeted(t)
		server.Set(pods, pod("a", "p", "Running"), pod("b", "q", "Running"))
		allowOnly(server, "a", "b")
		r := subscribe(t, cluster, watch.Query{}, "")
		r.settle()
		for n := range 40 {
			server.Set(namespaces, big("", fmt.Sprint("n", n), 40<<10))
		}
		<-time.After(time.Minute)
		if state := cluster.For(watch.Viewer{}).Coverage().Entries[0].State; state != watch.Failed {
			t.Errorf("the namespaces are %s, want failed", state)
		}
		r.wantSettle("")
		r.wantLive(2)
	})
}
