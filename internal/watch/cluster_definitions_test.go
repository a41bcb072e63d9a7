package watch_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"
)

const definitions = "apiextensions.k8s.io/v1/customresourcedefinitions"

func serves(t *testing.T, cluster *watch.Cluster, ref string) bool {
	t.Helper()
	known, _, err := cluster.For(watch.Viewer{Program: true}).Resources().List(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(known, func(k watch.ResourceStatus) bool { return k.Ref() == ref })
}

// A Follower reports changes of the list of resources. Even if CustomResourceDefinitions cannot be watched, it reports
// a change within 10 s.
func TestFollowerReportsChangesWithoutDefinitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		follower := cluster.For(watch.Viewer{Program: true}).Resources().Follow()
		advance(30 * time.Second)
		await := func(want bool) {
			t.Helper()
			began := time.Now()
			for serves(t, cluster, widgets) != want {
				if _, err := follower.Next(t.Context(), nil, time.Now().Add(stream.Heartbeat)); err != nil {
					t.Fatal(err)
				}
			}
			if passed := time.Since(began); passed > 10*time.Second {
				t.Errorf("change reported after %s, want at most 10 s", passed)
			}
		}
		for n := range 20 {
			server.AddKind(apitest.Kind{Ref: widgets, Kind: "Widget"})
			await(true)
			server.RemoveKind(widgets)
			await(false)
			<-time.After(time.Duration(n) * 700 * time.Millisecond)
		}
		follower.Close()
		advance(10 * time.Minute)
		before := len(server.Requests("GET /apis"))
		advance(time.Hour)
		if n := len(server.Requests("GET /apis")) - before; n > 0 {
			t.Errorf("without followers: got %d discovery requests in an hour, want 0", n)
		}
	})
}

// A Follower can be opened before Cluster.Run. Soon after Run starts, the program watches CustomResourceDefinitions,
// until the Follower is closed.
// Invariant: I19.
func TestFollowBeforeClusterRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apitest.New(t, kinds()...)
		server.AddKind(apitest.Kind{
			Ref: definitions, Kind: "CustomResourceDefinition", Cluster: true,
			Columns: `[{"name":"Name","type":"string"}]`,
		})
		cluster, err := watch.New(server.Config, watch.Options{Linger: time.Minute, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		follower := cluster.For(watch.Viewer{Program: true}).Resources().Follow()
		apitest.Run(t, cluster.Run)
		synctest.Wait()
		for began := time.Now(); time.Since(began) < time.Minute; {
			if _, err := follower.Next(t.Context(), nil, time.Now().Add(stream.Heartbeat)); err != nil {
				t.Fatal(err)
			}
		}
		watched := func() bool {
			return slices.ContainsFunc(cluster.WatchStatus().Entries, func(c watch.WatchStatusEntry) bool {
				return c.Resource == definitions && c.State == status.Live
			})
		}
		if !watched() {
			t.Errorf("CRDs are not watched: %+v", cluster.WatchStatus().Entries)
		}
		follower.Close()
		advance(2 * time.Minute)
		if watched() {
			t.Error("CRDs are watched without followers")
		}
	})
}

// A pinned resource (one that is watched even without readers) is watched soon after its CRD is created.
func TestPinnedResourceWaitsForDefinition(t *testing.T) {
	for name, defined := range map[string]bool{"CRDs are watched": true, "CRDs are not watchable": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := apitest.New(t, kinds()...)
				if defined {
					server.AddKind(apitest.Kind{
						Ref: definitions, Kind: "CustomResourceDefinition", Cluster: true,
						Columns: `[{"name":"Name","type":"string"}]`,
					})
				}
				cluster := runClusterWith(t, server, watch.Options{
					Linger: time.Minute, Pinned: []string{widgets}, Log: slog.New(slog.DiscardHandler),
				})
				advance(time.Hour)
				if n := len(server.Requests("GET /apis")); n > 150 {
					t.Errorf("got %d discovery requests in an hour, want one every 30 s", n)
				}
				server.AddKind(apitest.Kind{Ref: widgets, Kind: "Widget", Columns: `[{"name":"Name","type":"string"}]`})
				// Without a watch of CRDs, discovery runs every 30 s. With a watch, the event for the new CRD starts discovery
				// at once.
				wait := 31 * time.Second
				if defined {
					server.Set(definitions, apitest.Item{Name: "widgets.example.com"})
					wait = 2 * time.Second
				}
				advance(wait)
				if entries := cluster.WatchStatus().Entries; !slices.ContainsFunc(entries, func(c watch.WatchStatusEntry) bool {
					return c.Resource == widgets && c.State == status.Live
				}) {
					t.Errorf("widgets are not live %s after the CRD is served: %+v", wait, entries)
				}
			})
		})
	}
}

// If CRDs change continuously, discovery runs only once per second. A new resource still appears within 2 s.
func TestDiscoveryDuringCRDChurn(t *testing.T) {
	for _, every := range []time.Duration{100 * time.Millisecond, 500 * time.Millisecond} {
		t.Run(every.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster := serveCluster(t)
				server.AddKind(apitest.Kind{
					Ref: definitions, Kind: "CustomResourceDefinition", Cluster: true,
					Columns: `[{"name":"Name","type":"string"}]`,
				})
				follower := cluster.For(watch.Viewer{Program: true}).Resources().Follow()
				defer follower.Close()
				<-time.After(time.Minute)
				write := func(passed time.Duration) {
					for began := time.Now(); time.Since(began) < passed; <-time.After(every) {
						server.Set(definitions, apitest.Item{
							Name: "gadgets.example.com",
							Rest: fmt.Sprintf(`"status":{"n":%d}`, time.Now().UnixNano()),
						})
					}
				}
				discoveries := func() int { return len(server.Requests("GET /apis?")) }
				before := discoveries()
				write(time.Minute)
				if n := discoveries() - before; n > 90 {
					t.Errorf("got %d discovery requests in a minute, want one each second", n)
				}
				server.Set(definitions, apitest.Item{Name: "widgets.example.com"})
				write(700 * time.Millisecond) // Simulate the delay before an API server serves a new resource.
				server.AddKind(apitest.Kind{Ref: widgets, Kind: "Widget"})
				write(2 * time.Second)
				synctest.Wait()
				if !serves(t, cluster, widgets) {
					t.Error("resource is not found 2 s after it is served")
				}
			})
		})
	}
}

func TestRedefinedResourceIsRead(t *testing.T) {
	columns := `[{"name":"Name","type":"string"}]`
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.AddKind(apitest.Kind{Ref: widgets, Kind: "Widget", Columns: columns, Verbs: []string{"get", "list"}})
		r := subscribe(t, cluster, query.Query{Resource: widgets}, "")
		if r.settle(); r.state != "stale" {
			t.Errorf("got state %s, want stale because the resource is not watchable", r.state)
		}
		server.RemoveKind(widgets)
		server.AddKind(apitest.Kind{Ref: widgets, Kind: "Widget", Columns: columns})
		server.Set(widgets, apitest.Item{Namespace: "a", Name: "w"})
		later := func() {
			advance(11 * time.Second)
			serves(t, cluster, widgets) // Read the resource, which runs discovery if the last result is old.
			<-time.After(time.Minute)
			r.settle()
		}
		later()
		r.wantLive(1)

		// The new definition of the resource is cluster-scoped. The program must therefore not request the resource in a
		// namespace.
		server.RemoveKind(widgets)
		later()
		server.AddKind(apitest.Kind{Ref: widgets, Kind: "Widget", Columns: columns, Cluster: true})
		server.Set(widgets, apitest.Item{Name: "w"})
		server.Refuse(widgets, "", http.StatusForbidden, "not any more")
		server.Refuse(widgets, "a", 0, "not any more")
		before := len(server.Requests("/widgets?"))
		later()
		if r.wantRows(); r.state != "forbidden" {
			t.Errorf("got state %s, want forbidden", r.state)
		}
		for _, line := range server.Requests("/widgets?")[before:] {
			if strings.Contains(line, "/namespaces/") {
				t.Errorf("request for a namespace of a cluster-scoped resource: %s", line)
			}
		}
		server.Refuse(widgets, "", 0, "")
		later()
		r.wantLive(1)
	})
}
