package watch_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
)

func search(t *testing.T, cluster *watch.Cluster, text string) (found, searched string) {
	t.Helper()
	got := searchAs(t, cluster.For(watch.Viewer{Program: true}), watch.SearchQuery{Text: text, Limit: 10})
	return hitsOf(got), searchedBy(got)
}

func searchAs(t *testing.T, access *watch.Access, q watch.SearchQuery) *watch.SearchResult {
	t.Helper()
	got, err := access.Search(t.Context(), q, func(a, b *resource.Resource) int {
		return strings.Compare(a.Ref(), b.Ref())
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func hitsOf(got *watch.SearchResult) string {
	var hits []string
	for _, hit := range got.Hits {
		hits = append(hits, hit.Namespace+"/"+hit.Name)
	}
	return strings.Join(hits, " ")
}

func searchedBy(got *watch.SearchResult) string {
	var parts []string
	for i := range got.Searched {
		known, count := &got.Searched[i], "?"
		if known.Count != nil {
			count = strconv.Itoa(*known.Count)
		}
		parts = append(
			parts, fmt.Sprintf("%s %s %s %s", known.Ref(), known.Status.State, count, known.Status.Namespaces),
		)
	}
	return strings.Join(parts, ", ")
}

func wantFound(t *testing.T, cluster *watch.Cluster, text, found, searched string) {
	t.Helper()
	if a, b := search(t, cluster, text); a != found || b != searched {
		t.Errorf("Search(%s): got %q in %q, want %q in %q", text, a, b, found, searched)
	}
}

// Invariant: I22.
func TestSearchStartsNoWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		before := len(server.Requests(""))
		wantFound(t, cluster, "p", "", "")
		if got := server.Requests(""); len(got) != before {
			t.Errorf("Search: got upstream requests %s, want none", got[before:])
		}
		r := subscribe(t, cluster, query.Query{}, "")
		r.settle()
		wantFound(t, cluster, "p", "a/p", pods+" live 1 []")
		r.sub.Close()
		for range 9 { // 4.5 minutes pass. Without readers, the informer keeps watching for 5 minutes.
			advance(30 * time.Second)
			wantFound(t, cluster, "p", "a/p", pods+" live 1 []")
		}
		advance(31 * time.Second)
		wantFound(t, cluster, "p", "", "")
	})
}

// newSearchCluster returns a cluster with ConfigMaps, a Lease, a Widget, an event and a pod. InheritVerdicts is on.
func newSearchCluster(t *testing.T) (*apitest.Server, *watch.Cluster) {
	t.Helper()
	const columns = `[{"name":"Name","type":"string"},{"name":"Value","type":"string"}]`
	server := apitest.New(t, append(
		causeKinds(), apitest.Kind{Ref: leases, Kind: "Lease", Columns: columns},
		apitest.Kind{Ref: widgets, Kind: "Widget", Columns: columns},
	)...)
	server.Set("core/v1/namespaces", apitest.Item{Name: "a"}, apitest.Item{Name: "b"})
	server.Set(configMaps, apitest.Item{
		Namespace: "a", Name: "front-config", Metadata: `"labels":{"app":"web"}`,
	}, apitest.Item{Namespace: "b", Name: "front-hidden"})
	server.Set(leases, apitest.Item{Namespace: "a", Name: "front-lease"})
	server.Set(widgets, apitest.Item{
		Namespace: "a", Name: "front-widget", Cells: `["front-widget","CANARY"]`,
		Rest: `"spec":{"containers":[{"name":"c","env":[{"name":"A","value":"CANARY"}]}]}`,
	})
	server.Set("core/v1/events", apitest.Item{Namespace: "a", Name: "front.17"})
	server.Set(pods, pod("a", "x-front", "Running"))
	return server, runClusterWith(t, server, watch.Options{
		Linger: 5 * time.Minute, Log: slog.New(slog.NewTextHandler(t.Output(), nil)), InheritVerdicts: true,
	})
}

const (
	configMaps = "core/v1/configmaps"
	leases     = "coordination.k8s.io/v1/leases"
)

func omittedBy(got *watch.SearchResult) string {
	var parts []string
	for _, o := range got.Omitted {
		parts = append(parts, o.Resource.Ref()+" "+string(o.Reason))
	}
	return strings.Join(parts, ", ")
}

// The resources that a search reads do not depend on what viewers have opened. The result reports resources whose first
// list is still being read. Events are last, because their names start with those of other objects.
//
// Invariant: I22.
func TestSearchIsIndependentOfReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, cluster := newSearchCluster(t)
		access := cluster.For(watch.Viewer{Program: true})
		q := watch.SearchQuery{Text: "front", Limit: 10}
		// The first search starts the watches. Some of them can be live before this search reads their objects.
		if first := searchAs(t, access, q); len(first.Searched) != 9 {
			t.Errorf("first search: got %s, want 9 resources", searchedBy(first))
		}
		want := func(when string) {
			t.Helper()
			got := searchAs(t, access, q)
			if hits := hitsOf(got); hits != "a/front-config b/front-hidden a/front-widget a/x-front a/front.17" {
				t.Errorf("%s: got %q", when, hits)
			}
			if all := searchedBy(got); len(got.Searched) != 9 || strings.Count(all, " live ") != 9 ||
				!strings.Contains(all, configMaps+" live 2 []") || omittedBy(got) != leases+" unread" {
				t.Errorf("%s: got %s; not searched: %s", when, all, omittedBy(got))
			}
		}
		advance(10 * time.Second)
		want("after the first lists")
		for _, ref := range []string{configMaps, leases, widgets} {
			r := subscribe(t, cluster, query.Query{Resource: ref}, "")
			r.settle()
			want("while " + ref + " has a reader")
			r.sub.Close()
			want("after " + ref + " had a reader")
		}
		for range 4 { // Each search keeps the engine running for 5 minutes, the linger time.
			advance(4 * time.Minute)
			want("4 minutes later")
		}
	})
}

// A search includes the list that the viewer has open, even if searches usually omit the resource of this list.
//
// Invariant: I22.
func TestSearchIncludesTheShownList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := newSearchCluster(t)
		access := cluster.For(watch.Viewer{Program: true})
		q := watch.SearchQuery{Text: "front-lease", Limit: 10, Shown: leases}
		searchAs(t, access, q)
		advance(10 * time.Second)
		if got := searchAs(t, access, q); hitsOf(got) != "" || omittedBy(got) != leases+" unread" {
			t.Errorf("without a reader: got %q; not searched: %s", hitsOf(got), omittedBy(got))
		}
		if got := server.Requests("/leases"); len(got) > 0 {
			t.Errorf("the search has caused the requests %s", got)
		}
		subscribe(t, cluster, query.Query{Resource: leases}, "").settle()
		if got := searchAs(t, access, q); hitsOf(got) != "a/front-lease" || omittedBy(got) != "" {
			t.Errorf("with a reader: got %q; not searched: %s", hitsOf(got), omittedBy(got))
		}
	})
}

// About a resource that a user may not list, the result reveals only that it was not searched: neither names nor
// numbers.
//
// Invariant: I22.
func TestSearchHidesForbiddenResources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := newSearchCluster(t)
		allow(server, "ann list pods *", "ann watch pods *", "ann list configmaps a", "ann watch configmaps a",
			"ann list widgets *") // This is not enough: a search also needs the permission to watch.
		access := cluster.For(user("ann"))
		results := make(map[string]bool)
		for n := range 4 {
			for range 2 {
				got := searchAs(t, access, watch.SearchQuery{Text: "front", Limit: 10, Shown: widgets})
				if advance(50 * time.Second); n == 0 {
					continue // Ignore results while the first lists are being read.
				}
				results[fmt.Sprint(hitsOf(got), got.Total, searchedBy(got), omittedBy(got))] = true
			}
			hidden := fmt.Sprintf("front-%d", n)
			server.Set(configMaps, apitest.Item{Namespace: "b", Name: hidden})
			server.Set(widgets, apitest.Item{Namespace: "a", Name: hidden})
			server.Set("core/v1/nodes", apitest.Item{Name: hidden})
		}
		const want = "a/front-config a/x-front2core/v1/configmaps live 1 [a], core/v1/pods live 1 []" +
			"apps/v1/deployments forbidden, apps/v1/replicasets forbidden, " + leases + " unread, " +
			"core/v1/events forbidden, core/v1/namespaces forbidden, core/v1/nodes forbidden, " +
			"core/v1/persistentvolumeclaims forbidden, " + widgets + " forbidden"
		if len(results) != 1 || !results[want] {
			t.Errorf("got %v, want only %q", results, want)
		}
	})
}

// A guest's search finds what the share link shares, and reports on no other resource. The words of a link must match
// the masked cells that the guest sees, not the original cells.
//
// Invariant: I22.
func TestGuestSearchesOnlyTheShare(t *testing.T) {
	for name, test := range map[string]struct {
		part                   watch.Part
		hits, searched, beyond string
	}{
		"all": {
			watch.Part{Resource: configMaps}, "a/front-config b/front-hidden", configMaps + " live 2 []", "",
		},
		"namespace": {
			watch.Part{Resource: configMaps, Namespaces: []string{"a"}}, "a/front-config", configMaps + " live 1 [a]", "",
		},
		"labels": {watch.Part{Resource: configMaps, Labels: "app=web"}, "a/front-config", configMaps + " live 1 []", ""},
		"name": {
			watch.Part{Resource: configMaps, Namespaces: []string{"b"}, Name: "front-hidden"},
			"b/front-hidden",
			configMaps + " live 1 [b]", "",
		},
		"words": {
			watch.Part{Resource: configMaps, Text: "config"}, "a/front-config", configMaps + " live 1 []", "",
		},
		"custom resource": {watch.Part{Resource: widgets}, "a/front-widget", widgets + " live 1 []", ""},
		"words of a custom resource": {
			watch.Part{Resource: widgets, Text: "widget"}, "a/front-widget", widgets + " live 1 []", "",
		},
		// Guests see an environment variable of this widget only as a mask, so the word "canary" does not match it.
		"words in masked cells": {watch.Part{Resource: widgets, Text: "canary"}, "", widgets + " live 0 []", ""},
		"not read":              {watch.Part{Resource: leases}, "", "", leases + " unread"},
		"not a share":           {watch.Part{Resource: "core/v1/pods/log"}, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, cluster := newSearchCluster(t)
				access := cluster.For(sharedWith(test.part))
				q := watch.SearchQuery{Text: "front", Limit: 10, Shown: "core/v1/events"}
				searchAs(t, access, q)
				advance(10 * time.Second)
				got := searchAs(t, access, q)
				if hitsOf(got) != test.hits || got.Total != len(got.Hits) || searchedBy(got) != test.searched ||
					omittedBy(got) != test.beyond {
					t.Errorf("got %q of %d in %q; not searched: %q", hitsOf(got), got.Total, searchedBy(got), omittedBy(got))
				}
			})
		})
	}
}

// The state of each searched resource, such as syncing or forbidden, explains missing objects.
// Invariant: I22.
func TestSearchFindsPermittedObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "q", "Running"), pod("b", "q", "Running"))
		allowOnly(server, "a", "b")
		searched := make(chan struct{})
		for _, path := range []string{"/api/v1/namespaces/a/pods", "/api/v1/namespaces/b/pods"} {
			server.Handle(path, func(w http.ResponseWriter, r *http.Request) {
				<-searched
				server.Handle(path, nil)
				server.Handler().ServeHTTP(w, r)
			})
		}
		r := subscribe(t, cluster, query.Query{}, "")
		if found, searched := search(t, cluster, "q"); found != "" || !strings.Contains(searched, pods+" syncing ? ") {
			t.Errorf("Search before the first list: got %q in %q", found, searched)
		}
		close(searched)
		r.settle()
		const namespaces = "core/v1/namespaces live 2 [], "
		wantFound(t, cluster, "q", "a/q b/q", namespaces+pods+" live 2 [a b]")
		restore := cluster.Informer(pods).Faults().Uncover("b")
		if found, _ := search(t, cluster, "q"); found != "a/q" {
			t.Errorf("Search while rows are removed: got %q, want a/q", found)
		}
		restore()
		server.Revoke(pods, "b")
		advance(15 * time.Second)
		wantFound(t, cluster, "q", "a/q", namespaces+pods+" live 1 [a]")
		server.Revoke(pods, "a")
		advance(15 * time.Second)
		wantFound(t, cluster, "q", "", namespaces+pods+" forbidden ? []")
	})
}

// BenchmarkSearchOfAllResources measures searches in 100,000 objects of four resources, as an administrator and as a
// user of one namespace.
func BenchmarkSearchOfAllResources(b *testing.B) {
	server := apitest.New(b, causeKinds()...)
	for ref, count := range map[string]int{pods: 40_000, configMaps: 30_000, replicaSets: 20_000, deployments: 10_000} {
		items := make([]apitest.Item, count)
		for n := range items {
			items[n] = apitest.Item{Namespace: fmt.Sprint("team-", n%20), Name: fmt.Sprintf("app-%d-7c9d8f6b5-%05d", n%50, n)}
		}
		server.Set(ref, items...)
	}
	allow(server, "ann list pods team-1", "ann watch pods team-1")
	server.Set(namespaces, apitest.Item{Name: "team-1"})
	cluster, err := watch.New(server.Config, watch.Options{
		Linger: time.Minute, Log: slog.New(slog.DiscardHandler), InheritVerdicts: true,
	})
	if err != nil {
		b.Fatal(err)
	}
	apitest.Run(b, cluster.Run)
	program := cluster.For(watch.Viewer{Program: true})
	byRef := func(a, b *resource.Resource) int { return strings.Compare(a.Ref(), b.Ref()) }
	for found := 0; found < 100_000; <-time.After(100 * time.Millisecond) {
		got, err := program.Search(b.Context(), watch.SearchQuery{Text: "app", Limit: 1}, byRef)
		if err == nil {
			found = got.Total
		}
	}
	for name, access := range map[string]*watch.Access{"administrator": program, "user": cluster.For(user("ann"))} {
		for _, text := range []string{"99999", "team-7 app-2", "app"} {
			b.Run(name+"/"+text, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := access.Search(b.Context(), watch.SearchQuery{Text: text, Limit: 20}, byRef); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
