package watch_test

import (
	"cmp"
	"errors"
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
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"
)

// Old API servers do not support aggregated discovery. With them, discovery sends one request per API group.
func TestResourcesIncludeDiscoveryAndState(t *testing.T) {
	for _, plain := range []bool{false, true} {
		t.Run(fmt.Sprint("plain ", plain), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := apitest.New(t, kinds()...)
				server.AddKind(apitest.Kind{Ref: "example.com/v1/widgets", Kind: "Widget", ShortNames: []string{"w"}})
				server.AddKind(apitest.Kind{Ref: "example.com/v1beta1/widgets", Kind: "Widget"})
				server.AddKind(apitest.Kind{
					Ref: "example.com/v1beta1/gadgets", Kind: "Gadget", Cluster: true, Verbs: []string{"create"},
				})
				if plain {
					server.DisableAggregatedDiscovery()
				}
				server.Set(pods, pod("a", "p", "Running"))
				cluster := runCluster(t, server)
				subscribe(t, cluster, query.Query{}, "").settle()
				known, groupErrors, err := cluster.For(watch.Viewer{Program: true}).Resources().List(t.Context(), 0)
				if err != nil || len(groupErrors) != 0 {
					t.Fatal(groupErrors, err)
				}
				var got []string
				for i := range known {
					k := &known[i]
					line := fmt.Sprintf("%s %s namespaced=%t preferred=%t short=%v verbs=%v",
						k.Ref(), k.Kind, k.Namespaced, k.Preferred, k.ShortNames, k.Verbs)
					if k.Status != nil {
						line += fmt.Sprintf(" %s %d", k.Status.State, *k.Count)
					}
					got = append(got, line)
				}
				want := []string{
					"core/v1/namespaces Namespace namespaced=false preferred=true short=[] verbs=[get list watch]",
					"core/v1/pods Pod namespaced=true preferred=true short=[po] verbs=[get list watch] live 1",
					"example.com/v1/widgets Widget namespaced=true preferred=true short=[w] verbs=[get list watch]",
					"example.com/v1beta1/gadgets Gadget namespaced=false preferred=true short=[] verbs=[create]",
					"example.com/v1beta1/widgets Widget namespaced=true preferred=false short=[] " +
						"verbs=[get list watch]",
				}
				if a, b := strings.Join(got, "\n"), strings.Join(want, "\n"); a != b {
					t.Errorf("got\n%s\nwant\n%s", a, b)
				}
				_, err = cluster.For(watch.Viewer{Program: true}).Snapshot(
					t.Context(), query.Query{Resource: "example.com/v1beta1/gadgets"}, 0,
				)
				wantProblem(t, err, status.Invalid, "Not listable", "create")
			})
		})
	}
}

func TestGroupErrorContainsItsReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apitest.New(t, kinds()...)
		server.DisableAggregatedDiscovery()
		server.AddKind(apitest.Kind{Ref: "metrics.example.com/v1/pods", Kind: "PodMetrics"})
		server.MakeUnavailable("/apis/metrics.example.com/v1", "the backend is away")
		cluster := runCluster(t, server)
		known, groupErrors, err := cluster.For(watch.Viewer{Program: true}).Resources().List(t.Context(), 0)
		if err != nil || len(known) != 2 || len(groupErrors) != 1 || groupErrors[0].Group != "metrics.example.com" ||
			!strings.Contains(groupErrors[0].Reason, "the backend is away") {
			t.Errorf("got %d resources, group errors %+v, error %v; want 2 and one group error with its reason",
				len(known), groupErrors, err)
		}
		const ref = "metrics.example.com/v1/pods"
		_, err = cluster.For(watch.Viewer{Program: true}).Resource(t.Context(), ref)
		wantProblem(
			t, err, status.Unknown, "Unknown resource",
			"The API group metrics.example.com cannot be read now: the backend is away",
		)
		guest := cluster.For(watch.Viewer{Program: true, Scope: &watch.Scope{Parts: []watch.Part{{Resource: ref}}}})
		_, err = guest.Resource(t.Context(), ref)
		p, ok := errors.AsType[*status.Problem](err)
		if !ok {
			t.Fatalf("got %v, want a Problem", err)
		}
		if got, want := guest.PublicDetail(p), `The cluster does not serve "metrics.example.com/v1/pods".`; got != want {
			t.Errorf("PublicDetail: got %s, want %s", got, want)
		}
	})
}

func TestUnknownResourceSuggestsSimilarOnes(t *testing.T) {
	for ref, detail := range map[string]string{
		"core/v2/pods":    "Did you mean core/v1/pods or example.com/v1/pods?",
		"core/v1/Pod":     "Did you mean core/v1/pods",
		"core/v1/po":      "Did you mean core/v1/pods?",
		"core/v1/nothing": "GET /api/v1/resources lists",
		"pods":            "write group/version/resource",
		"":                "write group/version/resource",
		"core/v1/pods/x":  "write group/version/resource",
		"a/b/../..":       "write group/version/resource",
	} {
		t.Run(cmp.Or(ref, "empty"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster := serveCluster(t)
				server.AddKind(apitest.Kind{Ref: "example.com/v1/pods", Kind: "Pod"})
				_, err := cluster.For(watch.Viewer{Program: true}).Resource(t.Context(), ref)
				wantProblem(t, err, status.Unknown, "Unknown resource", detail)
			})
		})
	}
}

func TestNewResourceIsFoundAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		const ref = "example.com/v1/widgets"
		server.AddKind(apitest.Kind{Ref: ref, Kind: "Widget"})
		start := time.Now()
		if _, err := cluster.For(watch.Viewer{Program: true}).Resource(t.Context(), ref); err != nil {
			t.Error(err)
		}
		if passed := time.Since(start); passed > 2*time.Second {
			t.Errorf("Resource: found after %s, want at most 2 s", passed)
		}
		server.RemoveKind(ref)
		<-time.After(11 * time.Second)
		cluster.For(watch.Viewer{Program: true}).Resources().List(t.Context(), 0) //nolint:errcheck // Triggers discovery.
		advance(2 * time.Second)
		known, _, err := cluster.For(watch.Viewer{Program: true}).Resources().List(t.Context(), 0)
		if err != nil || len(known) != 2 {
			t.Errorf("after the removal: got %d resources, error %v; want 2", len(known), err)
		}
	})
}

func TestServerDownAtStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apitest.New(t, kinds()...)
		server.Set(pods, pod("a", "p", "Running"))
		server.Down(true)
		cluster := runCluster(t, server)
		access := cluster.For(watch.Viewer{Program: true})
		_, _, err := access.Resources().List(t.Context(), 0)
		wantProblem(
			t, err, status.Unavailable, "The API server does not respond", "connection refused. Next attempt in ",
		)
		_, err = access.Snapshot(t.Context(), query.Query{Resource: pods}, time.Second)
		wantProblem(t, err, status.Unavailable, "The API server does not respond", "http://api.test: ")
		advance(10 * time.Minute)
		server.Down(false)
		advance(16 * time.Second)
		subscribe(t, cluster, query.Query{}, "").wantSettle("state live, snapshot of 1")

		// Resources that discovery has found stay known while the API server is down.
		server.Down(true)
		advance(time.Minute)
		if known, _, err := access.Resources().List(t.Context(), 0); err != nil || len(known) != 2 {
			t.Errorf("while the API server is down: got %d resources, error %v; want 2", len(known), err)
		}
	})
}

func TestListFailsBeforeClusterRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apitest.New(t, kinds()...)
		cluster, err := watch.New(server.Config, watch.Options{Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = cluster.For(watch.Viewer{Program: true}).Resources().List(t.Context(), 0)
		wantProblem(
			t, err, status.Unavailable, "The API server does not respond",
			"Connecting to http://api.test for the first time.",
		)
	})
}

func TestObjectFromCacheAndAPIServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		access := cluster.For(watch.Viewer{Program: true})
		want := `{"apiVersion":"v1","kind":"Pod",` +
			`"metadata":{"name":"p","namespace":"a","uid":"a/p","resourceVersion":"103"},"status":{"phase":"Running"}}`
		read := func() {
			t.Helper()
			if text, err := access.Object(t.Context(), pods, "a", "p"); err != nil || string(text) != want {
				t.Errorf("got %s, %v; want %s", text, err, want)
			}
		}
		read()
		subscribe(t, cluster, query.Query{}, "").settle()
		gets := len(server.Requests("/pods/p"))
		read()
		if now := len(server.Requests("/pods/p")); now != gets || gets != 1 {
			t.Errorf("got %d requests, then %d; want 1 and 1", gets, now)
		}

		before := len(server.Requests(""))
		for _, test := range []struct {
			ref, namespace, name string
			cause                status.Cause
			title, detail        string
		}{
			{pods, "a", "none", status.Unknown, "Not found", "a/none: "},
			{pods, "", "p", status.Invalid, "Invalid object reference", "are namespaced"},
			{"core/v1/namespaces", "a", "p", status.Invalid, "Invalid object reference", "are not"},
			{pods, "a", "..", status.Invalid, "Invalid name", `".."`},
			{pods, "a", "../../secrets", status.Invalid, "Invalid name", "secrets"},
			{pods, "a", "p%2f", status.Invalid, "Invalid name", "p%2f"},
			{pods, "a", strings.Repeat("n", 254), status.Invalid, "Invalid name", "nnn"},
			{pods, "..", "p", status.Invalid, "Invalid namespace", `".."`},
			{pods, "../secrets", "p", status.Invalid, "Invalid namespace", "secrets"},
			{pods, "a/secrets", "p", status.Invalid, "Invalid namespace", "secrets"},
			{pods, "a%2f..", "p", status.Invalid, "Invalid namespace", "%2f"},
		} {
			_, err := access.Object(t.Context(), test.ref, test.namespace, test.name)
			wantProblem(t, err, test.cause, test.title, test.detail)
		}
		for _, line := range server.Requests("")[before:] {
			if line != "GET /api/v1/namespaces/a/pods/none" && line != "POST "+apitest.SelfReviewsPath &&
				!strings.Contains(line, "/api?") && !strings.Contains(line, "/apis?") {
				t.Errorf("unexpected request to the API server: %s", line)
			}
		}
		server.MakeUnavailable("/api/v1/namespaces/a/pods/hidden", "not now")
		_, err := access.Object(t.Context(), pods, "a", "hidden")
		wantProblem(t, err, status.Unavailable, "The API server does not respond", "not now")
	})
}

// A date column is read from the object, at the JSONPath in the CRD.
func TestDateColumnIsReadAtItsJSONPath(t *testing.T) {
	const ref, definitions = "example.com/v1/backups", "apiextensions.k8s.io/v1/customresourcedefinitions"
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.AddKind(apitest.Kind{Ref: definitions, Kind: "CustomResourceDefinition", Cluster: true})
		server.AddKind(apitest.Kind{
			Ref: ref, Kind: "Backup", Columns: `[{"name":"Name","type":"string"},{"name":"Last","type":"date"}]`,
		})
		server.Set(definitions, apitest.Item{Name: "backups.example.com", Rest: `"spec":{"versions":[
			{"name":"v1beta1","additionalPrinterColumns":[{"name":"Last","type":"date","jsonPath":".status.wrong"}]},
			{"name":"v1","additionalPrinterColumns":[{"name":"Last","type":"date","jsonPath":".status.last"},` +
			`{"name":"Other","type":"string","jsonPath":".x"}]}]}`})
		server.Set(ref, apitest.Item{
			Namespace: "a", Name: "x", Cells: `["x","33h"]`,
			Rest: `"status":{"last":"1999-12-30T14:59:58Z","wrong":"1990-01-01T00:00:00Z"}`,
		})
		r := subscribe(t, cluster, query.Query{Resource: ref}, "")
		r.settle()
		r.wantRows("a/x=1999-12-30T14:59:58Z")
	})
}

// An object is not requested if a self-review denies the get. If self-reviews fail, the object is requested, and the
// API server decides.
// Invariant: I27.
func TestForbiddenObjectIsNotRequested(t *testing.T) {
	const path = "/api/v1/namespaces/a/pods/p"
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"), pod("a", "q", "Running"))
		server.FailPath(path, http.StatusForbidden, "you may not")
		access := cluster.For(watch.Viewer{Program: true})
		for range 3 {
			_, err := access.Object(t.Context(), pods, "a", "p")
			wantProblem(t, err, status.Refused, "Forbidden", `You cannot get Pods in the namespace "a".`)
		}
		if requests := server.Requests(path); len(requests) > 0 {
			t.Errorf("Object: got upstream requests %q, want none", requests)
		}
		if reviews := server.Requests(apitest.SelfReviewsPath); len(reviews) != 2 {
			t.Errorf("got %d self-reviews, want one for all objects and one by name", len(reviews))
		}
		if _, err := access.Object(t.Context(), pods, "a", "q"); err != nil {
			t.Error(err)
		}
		server.FailPath(apitest.SelfReviewsPath, http.StatusForbidden, "no reviews for you")
		advance(time.Minute)
		_, err := access.Object(t.Context(), pods, "a", "p")
		wantProblem(t, err, status.Refused, "Forbidden", "you may not")
	})
}

// A Follower reports a change of the list of resources within 2 s. It needs no periodic discovery.
// Invariant: I19.
func TestFollowerReportsNewAndRemovedResources(t *testing.T) {
	const definitions = "apiextensions.k8s.io/v1/customresourcedefinitions"
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.AddKind(apitest.Kind{
			Ref: definitions, Kind: "CustomResourceDefinition", Cluster: true,
			Columns: `[{"name":"Name","type":"string"}]`,
		})
		access := cluster.For(watch.Viewer{Program: true})
		follower := access.Resources().Follow()
		defer follower.Close()
		advance(time.Minute)
		served := func() bool {
			resources, _, err := access.Resources().List(t.Context(), 0)
			if err != nil {
				t.Fatal(err)
			}
			return slices.ContainsFunc(resources, func(k watch.ResourceStatus) bool { return k.Ref() == widgets })
		}
		await := func(want bool) {
			t.Helper()
			began := time.Now()
			for served() != want && time.Since(began) < time.Minute {
				if _, err := follower.Next(t.Context(), nil, time.Now().Add(stream.Heartbeat)); err != nil {
					t.Fatal(err)
				}
			}
			if passed := time.Since(began); served() != want || passed > 2*time.Second {
				t.Errorf("after %s: got served %t, want %t within 2 s", passed, served(), want)
			}
		}
		server.Set(definitions, apitest.Item{Name: "widgets.example.com"})
		<-time.After(700 * time.Millisecond) // The API server needs a moment until it serves a new resource.
		server.AddKind(apitest.Kind{Ref: widgets, Kind: "Widget", Columns: `[{"name":"Name","type":"string"}]`})
		await(true)
		server.RemoveKind(widgets)
		server.Delete(definitions, "", "widgets.example.com")
		await(false)
		for _, line := range server.Requests("/customresourcedefinitions?") {
			if !strings.Contains(line, "includeObject=Metadata") {
				t.Errorf("request for complete definitions: %s", line)
			}
		}
	})
}

func TestFailingDiscoveryIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		access := cluster.For(watch.Viewer{Program: true})
		follower := access.Resources().Follow()
		defer follower.Close()
		advance(time.Minute)
		groupErrors := func() []resource.GroupError {
			t.Helper()
			known, reported, err := access.Resources().List(t.Context(), 0)
			if err != nil || len(known) != 2 {
				t.Errorf("Resources: got %d resources, error %v; want 2", len(known), err)
			}
			return reported
		}
		began := time.Now()
		server.FailPath("/apis", http.StatusForbidden, "not today")
		advance(12 * time.Second)
		if reported := groupErrors(); len(reported) != 0 {
			t.Errorf("a single failed discovery is reported: %+v", reported)
		}
		awaitChange := func() {
			t.Helper()
			for changed := false; !changed; {
				var err error
				if changed, err = follower.Next(t.Context(), nil, time.Now().Add(stream.Heartbeat)); err != nil ||
					time.Since(began) > 2*time.Minute {
					t.Fatalf("the follower got no update: error %v", err)
				}
			}
		}
		for len(groupErrors()) == 0 {
			awaitChange()
		}
		reported := groupErrors()
		if len(reported) != 1 || reported[0].Group != "*" {
			t.Fatalf("got %+v, want one group error for all groups", reported)
		}
		_, rest, _ := strings.Cut(reported[0].Reason, "failed since ")
		since, err := time.Parse(time.RFC3339, rest[:min(len(rest), 20)])
		if passed := since.Sub(began); err != nil || passed < 0 || passed > 10*time.Second {
			t.Errorf("discovery failed since %s, %s after its start; want at most 10 s", since, passed)
		}
		server.FailPath("/apis", 0, "")
		for len(groupErrors()) > 0 {
			awaitChange()
		}
	})
}
