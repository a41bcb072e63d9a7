package watch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/rates"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

const events = "core/v1/events"

func serveRates(t *testing.T) (*apitest.Server, *watch.Cluster) {
	t.Helper()
	server := apitest.New(t, kinds()...)
	const name = `[{"name":"Name","type":"string"}]`
	server.AddKind(apitest.Kind{Ref: events, Kind: "Event", Columns: name})
	server.AddKind(apitest.Kind{Ref: deployments, Kind: "Deployment", Columns: name})
	for _, ns := range []string{"a", "b"} {
		server.Set("core/v1/namespaces", apitest.Item{Name: ns})
	}
	return server, runCluster(t, server)
}

// restarted returns a pod whose containers have restarted n times.
func restarted(namespace, name string, n int) apitest.Item {
	p := pod(namespace, name, fmt.Sprint("Running ", n))
	p.Rest = fmt.Sprintf(`"status":{"containerStatuses":[{"name":"app","restartCount":%d}]}`, n)
	p.Metadata = `"labels":{"app":"` + name + `"}`
	return p
}

// warning returns an event that has occurred n times.
func warning(namespace, name, kind, object, eventType string, n int) apitest.Item {
	apiVersion := "v1"
	if kind == "Deployment" {
		apiVersion = "apps/v1"
	}
	return apitest.Item{
		Namespace: namespace, Name: name, Cells: fmt.Sprintf(`["%s %d"]`, name, n),
		Rest: fmt.Sprintf(`"type":%q,"count":%d,"involvedObject":{"apiVersion":%q,"kind":%q,"namespace":%q,"name":%q}`,
			eventType, n, apiVersion, kind, namespace, object),
	}
}

func openRates(t *testing.T, cluster *watch.Cluster, viewer watch.Viewer, q query.Query) *rates.Reader {
	t.Helper()
	r, err := watch.OpenRates(t.Context(), cluster.For(viewer), q)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// latest reads results until none arrives within 2 s, and returns the last one. The first result can take 10 s.
func latest(t *testing.T, r *rates.Reader) *rates.Result {
	t.Helper()
	synctest.Wait() // Wait until the changes of the test have arrived, because Next reads immediately.
	var last *rates.Result
	for {
		timeout := 11 * time.Second
		if last != nil {
			timeout = 2 * time.Second
		}
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		result, err := r.Next(ctx)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) && last != nil {
			return last
		}
		if err != nil {
			t.Fatal(err)
		}
		last = result
	}
}

// sumOf returns, as text, the state and the sum of a series, and the number of buckets without data.
func sumOf(s *rates.Series) string {
	if s == nil {
		return "none"
	}
	sum, gaps := 0, 0
	for _, n := range s.Counts {
		if n == nil {
			gaps++
		} else {
			sum += *n
		}
	}
	return fmt.Sprintf("%s %d, %d gaps", s.State, sum, gaps)
}

func wantRates(t *testing.T, r *rates.Reader, description, restarts, warnings string) {
	t.Helper()
	got := latest(t, r)
	if sumOf(got.Restarts) != restarts || sumOf(got.Warnings) != warnings {
		t.Errorf("%s: got restarts %s, warnings %s; want %s and %s",
			description, sumOf(got.Restarts), sumOf(got.Warnings), restarts, warnings)
	}
}

// The restarts and warnings of the objects in a list are counted from the journal. Buckets from before the watch have
// no count, instead of the count 0.
func TestRatesCountChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveRates(t)
		server.Set(pods, restarted("a", "web", 5), restarted("a", "db", 0))
		server.Set(events, warning("a", "old", "Pod", "web", "Warning", 7))
		r := openRates(t, cluster, watch.Viewer{Program: true}, query.Query{Resource: pods})
		wantRates(t, r, "at the start", "live 0, 29 gaps", "live 0, 29 gaps")
		since := latest(t, r).Restarts.Since
		if since == nil || time.Since(*since) > time.Minute {
			t.Errorf("since: got %v, want the start of the watch", since)
		}
		advance(30 * time.Second)
		server.Set(pods, restarted("a", "web", 7))
		server.Set(events, warning("a", "old", "Pod", "web", "Warning", 9), warning("a", "new", "Pod", "db", "Warning", 4))
		server.Set(events, warning("a", "normal", "Pod", "db", "Normal", 1), warning("a", "node", "Node", "n", "Warning", 1))
		got := latest(t, r)
		if sumOf(got.Restarts)[:6] != "live 2" || sumOf(got.Warnings)[:6] != "live 3" {
			t.Errorf("after changes: got %s and %s", sumOf(got.Restarts), sumOf(got.Warnings))
		}

		// A reader that is opened later gets the same counts, even for an object that was deleted before the reader opened.
		server.Delete(pods, "a", "web")
		advance(time.Second)
		filtered := openRates(t, cluster, watch.Viewer{Program: true}, query.Query{Resource: pods, Labels: "app=web"})
		if got := latest(t, filtered); *sumPointer(got.Restarts) != 2 || *sumPointer(got.Warnings) != 2 {
			t.Errorf("with labels: got %s and %s", sumOf(got.Restarts), sumOf(got.Warnings))
		}
		text := openRates(t, cluster, watch.Viewer{Program: true}, query.Query{Resource: pods, Text: "db"})
		if got := latest(t, text); *sumPointer(got.Restarts) != 0 || *sumPointer(got.Warnings) != 1 {
			t.Errorf("with words: got %s and %s", sumOf(got.Restarts), sumOf(got.Warnings))
		}

		advance(5 * time.Minute)
		wantRates(t, r, "after 5 minutes", "live 0, 0 gaps", "live 0, 0 gaps")
		if since := latest(t, r).Restarts.Since; since != nil {
			t.Errorf("since: got %v, want none with data for all buckets", since)
		}
	})
}

func sumPointer(s *rates.Series) *int {
	sum := 0
	for _, n := range s.Counts {
		if n != nil {
			sum += *n
		}
	}
	return &sum
}

// The rates of a list of Deployments count the restarts of their pods, and the Warning events about the Deployments and
// about their pods.
func TestRatesOfControllersIncludePods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveRates(t)
		deployment := func(name string) apitest.Item {
			return apitest.Item{
				Namespace: "a", Name: name, Metadata: fmt.Sprintf(`"labels":{"team":%q}`, name),
				Rest: fmt.Sprintf(`"spec":{"selector":{"matchLabels":{"app":%q}}}`, name),
			}
		}
		owned := func(name, owner string, n int) apitest.Item {
			p := restarted("a", name, n)
			p.Metadata = fmt.Sprintf(`"labels":{"app":%q,"pod-template-hash":"5d4"},"ownerReferences":[{"apiVersion":"apps/v1",`+
				`"kind":"ReplicaSet","name":"%s-5d4","uid":"u","controller":true}]`, owner, owner)
			return p
		}
		server.Set(deployments, deployment("web"), deployment("db"))
		server.Set(pods, owned("web-1", "web", 0), owned("db-1", "db", 0), restarted("a", "alone", 0))
		all := openRates(t, cluster, watch.Viewer{Program: true}, query.Query{Resource: deployments})
		web := openRates(t, cluster, watch.Viewer{Program: true}, query.Query{Resource: deployments, Labels: "team=web"})
		latest(t, all)
		latest(t, web)
		server.Set(pods, owned("web-1", "web", 1), owned("db-1", "db", 2), restarted("a", "alone", 4))
		server.Set(events, warning("a", "1", "Pod", "web-1", "Warning", 1), warning("a", "2", "Pod", "alone", "Warning", 1),
			warning("a", "3", "Deployment", "db", "Warning", 1))
		for name, test := range map[string]struct {
			r                  *rates.Reader
			restarts, warnings int
		}{"all": {all, 3, 2}, "web": {web, 1, 1}} {
			got := latest(t, test.r)
			if *sumPointer(got.Restarts) != test.restarts || *sumPointer(got.Warnings) != test.warnings {
				t.Errorf("%s: got %s and %s, want %d and %d",
					name, sumOf(got.Restarts), sumOf(got.Warnings), test.restarts, test.warnings)
			}
		}
		// The Deployments decide which pods are counted, so stale Deployments make the counts stale.
		server.Refuse(deployments, "", http.StatusServiceUnavailable, "ServiceUnavailable")
		server.EndWatches(deployments)
		advance(time.Minute)
		if got := latest(t, all); got.Restarts.State != status.Stale || got.Warnings.State != status.Stale {
			t.Errorf("stale Deployments: got restarts %s, warnings %s", got.Restarts.State, got.Warnings.State)
		}
	})
}

// Hidden objects do not change the counts, the time at which the counts start, or the times at which results arrive.
// Invariant: I18.
func TestRatesHideObjects(t *testing.T) {
	run := func(hidden bool) string {
		var log strings.Builder
		synctest.Test(t, func(t *testing.T) {
			server, cluster := serveRates(t)
			allow(server, "ann list pods a", "ann watch pods a", "ann list events a", "ann watch events a")
			server.Set(pods, restarted("a", "web", 0), restarted("b", "secret", 0))
			program := openRates(t, cluster, watch.Viewer{Program: true}, query.Query{Resource: pods})
			latest(t, program)
			advance(2 * time.Minute)
			change := func(n int) {
				if hidden {
					server.Set(pods, restarted("b", "secret", n))
					server.Set(events, warning("b", "x", "Pod", "secret", "Warning", n),
						warning("b", "y", "Pod", "web", "Warning", n))
				}
				advance(3 * time.Second)
			}
			change(3)
			r := openRates(t, cluster, user("ann"), query.Query{Resource: pods})
			start := time.Now()
			if since := latest(t, r).Restarts.Since; since == nil || start.Sub(*since).Round(time.Second) != time.Minute {
				t.Errorf("start of the data: got %v at %s, want a minute before", since, start)
			}
			for n := range 20 {
				change(4 + n)
				if n == 10 {
					server.Set(pods, restarted("a", "web", 1))
					server.Set(events, warning("a", "z", "Pod", "web", "Warning", 1))
				}
				got := latest(t, r)
				text, _ := json.Marshal(got)
				fmt.Fprintf(&log, "%s %s\n", time.Since(start), text)
			}
			if got := latest(t, r); *sumPointer(got.Restarts) != 1 || *sumPointer(got.Warnings) != 1 {
				t.Errorf("hidden %t: got %s and %s, want one of each", hidden, sumOf(got.Restarts), sumOf(got.Warnings))
			}
		})
		return log.String()
	}
	if with, without := run(true), run(false); with != without {
		t.Errorf("hidden objects change the results:\n%s\nwithout them:\n%s", with, without)
	}
}

// A viewer who may not list events receives the restarts, and the reason why there are no warnings.
func TestRatesStateMissingPermission(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveRates(t)
		grants := allow(server, "ann list pods *", "ann watch pods *")
		server.Set(pods, restarted("a", "web", 0))
		r := openRates(t, cluster, user("ann"), query.Query{Resource: pods})
		got := latest(t, r)
		if got.Restarts.State != status.Live || got.Warnings.State != status.Forbidden || got.Warnings.Reason == "" ||
			sumOf(got.Warnings) != "forbidden 0, 30 gaps" {
			t.Errorf("got restarts %+v, warnings %+v", got.Restarts, got.Warnings)
		}
		grants["ann list pods *"], grants["ann watch pods *"] = false, false
		advance(time.Minute)
		if got := latest(t, r); got.Restarts.State != status.Forbidden || sumOf(got.Restarts) != "forbidden 0, 30 gaps" {
			t.Errorf("after the loss of the permission: got %+v", got.Restarts)
		}
	})
}

// After an interruption, a new list shows only the result of the missed changes, not each change. So the time before
// this list has no counts.
func TestRatesHaveGapAfterInterruption(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveRates(t)
		server.Set(pods, restarted("a", "web", 0))
		r := openRates(t, cluster, watch.Viewer{Program: true}, query.Query{Resource: pods})
		latest(t, r)
		advance(5 * time.Minute)
		wantRates(t, r, "before", "live 0, 0 gaps", "live 0, 0 gaps")
		server.ChangeWhileDown(pods, func() {
			server.Set(pods, restarted("a", "web", 9))
			server.Expire(pods)
		})
		advance(time.Minute)
		got := latest(t, r)
		if got.Restarts.Since == nil || *sumPointer(got.Restarts) != 0 {
			t.Errorf("got %s since %v, want a gap until the new list", sumOf(got.Restarts), got.Restarts.Since)
		}
	})
}

// A Reader returns at most one result per second.
func TestRatesAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveRates(t)
		server.Set(pods, restarted("a", "web", 0))
		r := openRates(t, cluster, watch.Viewer{Program: true}, query.Query{Resource: pods})
		start := time.Now()
		for n := range 10 {
			server.Set(pods, restarted("a", "web", n+1))
			if _, err := r.Next(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(start); took < 9*rates.Interval {
			t.Errorf("10 results took %s, want at least 9 s", took)
		}
	})
}
