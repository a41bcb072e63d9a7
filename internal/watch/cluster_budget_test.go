package watch_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"net/http"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/informer/budget"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
)

const (
	widgets    = "example.com/v1/widgets"
	namespaces = "core/v1/namespaces"
)

func bigItem(namespace, name string, bytes int) apitest.Item {
	var text strings.Builder
	seed := fnv.New64()
	_, _ = seed.Write([]byte(name))
	for n := seed.Sum64(); text.Len() < bytes; n = n*6364136223846793005 + 1442695040888963407 {
		fmt.Fprintf(&text, "%016x", n)
	}
	return apitest.Item{Namespace: namespace, Name: name, Rest: fmt.Sprintf(`"data":%q`, name+text.String())}
}

// newBudgetedCluster returns a Cluster with a memory budget of 1 MiB.
func newBudgetedCluster(t *testing.T) (*apitest.Server, *watch.Cluster) {
	t.Helper()
	return newBudgetedClusterWith(t, func(*http.Request) bool { return false })
}

func newBudgetedClusterWith(t *testing.T, fails func(*http.Request) bool) (*apitest.Server, *watch.Cluster) {
	t.Helper()
	server := apitest.New(t, kinds()...)
	server.Config.WrapTransport = func(next http.RoundTripper) http.RoundTripper {
		return roundTripperFunc(func(r *http.Request) (*http.Response, error) {
			if fails(r) {
				return nil, errors.New("no response")
			}
			return next.RoundTrip(r)
		})
	}
	server.Set("core/v1/namespaces", apitest.Item{Name: "a"}, apitest.Item{Name: "b"})
	server.AddKind(apitest.Kind{Ref: widgets, Kind: "Widget", Columns: `[{"name":"Name","type":"string"}]`})
	return server, runClusterWith(t, server, watch.Options{
		Linger: 5 * time.Minute, MemoryLimit: 50 << 20, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
}

// A resource that does not fit into the memory budget is not watched. A part of it that fits, such as one namespace,
// can still be watched.
// Invariant: I21. All watched resources together fit into the memory budget. If memory is short, the program first
// drops the history (recent changes) of resources. If memory is still short, it ends the watches of resources without
// readers, except resources of `--watch`. If a resource becomes too large, the program stops watching the resource, and
// sends the reason to the readers of the resource.
func TestOversizedResourceIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := newBudgetedCluster(t)
		for n := range 60 {
			server.Set(widgets, bigItem("a", fmt.Sprint("w", n), 40<<10))
		}
		server.Set(widgets, bigItem("b", "small", 1<<10))
		r := subscribe(t, cluster, query.Query{Resource: widgets}, "")
		r.settle()
		if r.state != "failed" || !strings.Contains(r.reason, "61 objects") ||
			!strings.Contains(r.reason, "namespace") || !strings.Contains(r.reason, "MiB") {
			t.Errorf("got state %s: %s, want failed with an estimate and a suggestion", r.state, r.reason)
		}
		part := subscribe(t, cluster, query.Query{Resource: widgets, Namespaces: []string{"b"}}, "")
		part.wantSettle("state live, snapshot of 1")
		subscribe(t, cluster, query.Query{}, "").wantSettle("state live, snapshot of 0")
		if large := subscribe(
			t, cluster, query.Query{Resource: widgets, Namespaces: []string{"a"}}, "",
		); large.settle() == "" || large.state != "failed" {
			t.Errorf("large namespace: got state %s, want failed", large.state)
		}

		for n := range 50 {
			server.Delete(widgets, "a", fmt.Sprint("w", n))
		}
		<-time.After(90 * time.Second)
		r.settle()
		if r.state != "live" || len(r.rows) != 11 {
			t.Errorf("got state %s with %d rows, want live with 11", r.state, len(r.rows))
		}
	})
}

// The refusal contains the memory that the objects need, and the free memory. The two rounded sizes always differ, so
// that users see why the resource was refused.
func TestRefusalShowsDifferentSizes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := newBudgetedCluster(t)
		for n := range 24 {
			server.Set(widgets, bigItem("a", fmt.Sprint("w", n), 40<<10))
		}
		r := subscribe(t, cluster, query.Query{Resource: widgets}, "")
		r.settle()
		var size [2]resource.Quantity
		for n, text := range regexp.MustCompile(
			`about (\S+)B of memory, and (\S+)B of the 1MiB`,
		).FindStringSubmatch(r.reason)[1:] {
			size[n] = resource.MustParse(text)
		}
		if needed, free := size[0].Value(), size[1].Value(); needed <= free || needed > free*11/10 ||
			free < 1<<20*9/10 {
			t.Errorf("got %d bytes needed and %d free, want about 1 MiB free and up to 10%% more needed: %s",
				needed, free, r.reason)
		}
	})
}

func TestRefusalIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apitest.New(t, kinds()...)
		for n := range 30 {
			server.Set(pods, bigItem("a", fmt.Sprint("p", n), 40<<10))
		}
		var log strings.Builder
		runClusterWith(t, server, watch.Options{
			Linger: time.Minute, MemoryLimit: 50 << 20, Pinned: []string{pods},
			Log: slog.New(slog.NewTextHandler(&log, nil)),
		})
		advance(3 * time.Minute)
		synctest.Wait()
		if strings.Count(log.String(), `level=WARN msg="the resource is not watched"`) != 1 ||
			!strings.Contains(log.String(), " objects need about") {
			t.Errorf("want one warning with the estimate, got the log %s", log.String())
		}
	})
}

// If a new resource does not fit into the memory budget, informers without readers are stopped to free memory.
// Informers with readers are not stopped.
// Invariant: I21.
func TestIdleInformersAreEvictedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := newBudgetedCluster(t)
		for n := range 20 {
			server.Set(widgets, bigItem("a", fmt.Sprint("w", n), 40<<10))
			server.Set(pods, bigItem("a", fmt.Sprint("p", n), 40<<10))
		}
		first := subscribe(t, cluster, query.Query{Resource: widgets}, "")
		first.settle()
		first.wantLive(20)
		second := subscribe(t, cluster, query.Query{}, "")
		second.settle()
		if second.state != "failed" {
			t.Errorf("second subscription while the first is probed: got state %s, want failed", second.state)
		}
		first.sub.Close()
		<-time.After(90 * time.Second)
		second.settle()
		second.wantLive(20)
	})
}

// A list request is canceled if the response exceeds the memory budget. It is sent again after 5 minutes.
// Invariant: I21.
func TestOversizedFieldSelectorIsCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := newBudgetedCluster(t)
		for n := range 600 {
			server.Set(widgets, bigItem("a", fmt.Sprint("w", n), 4<<10))
		}
		bystander := subscribe(t, cluster, query.Query{}, "")
		// With a field selector, the API server does not report the number of objects, so the memory cannot be estimated
		// before the list.
		r := subscribe(t, cluster, query.Query{Resource: widgets, Fields: "metadata.namespace=a"}, "")
		r.settle()
		if r.state != "failed" || !strings.Contains(r.reason, "more objects can follow") ||
			!strings.Contains(r.reason, "narrower field selector") || len(r.rows) > 0 {
			t.Errorf("got state %s with %d rows: %s, want failed with no rows and a suggestion", r.state, len(r.rows), r.reason)
		}
		advance(4 * time.Minute)
		if lists := server.Requests("fieldSelector"); len(lists) != 2 {
			t.Errorf("got %d requests, want an estimate and a list: %s", len(lists), lists)
		}
		for n := range 500 {
			server.Delete(widgets, "a", fmt.Sprint("w", n))
		}
		<-time.After(2 * time.Minute)
		r.settle()
		r.wantLive(100)
		bystander.settle()
		bystander.wantLive(0)
	})
}

// If namespaces are watched one by one, a namespace is listed only if its objects fit into the remaining memory budget.
// Invariant: I21.
func TestStartedNamespacesFitTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := newBudgetedCluster(t)
		server.Refuse(widgets, "", http.StatusForbidden, "not all of them")
		for n := range 10 {
			ns := fmt.Sprint("team-", n)
			server.Set(namespaces, apitest.Item{Name: ns})
			server.Refuse(widgets, ns, 0, "not all of them")
			for m := range 10 {
				server.Set(widgets, bigItem(ns, fmt.Sprint("w", n, m), 40<<10))
			}
		}
		r := subscribe(t, cluster, query.Query{Resource: widgets}, "")
		r.settle()
		covered := ""
		for range 5 {
			r.wantLive(20)
			if got := strings.Join(r.namespaces, " "); len(r.namespaces) != 2 || covered != "" && got != covered ||
				!strings.Contains(r.reason, " objects need about") {
				t.Errorf("covered namespaces: got %s, before %s, reason %s; want the same two and a reason for the others",
					got, covered, r.reason)
			}
			covered = strings.Join(r.namespaces, " ")
			if status := cluster.WatchStatus(); status.UsedBytes > status.Limit {
				t.Errorf("got %d bytes in use, want at most %d", status.UsedBytes, status.Limit)
			}
			<-time.After(time.Minute)
			r.settle()
		}
		if lists := server.Requests("widgets?allowWatch"); len(lists) != 2 {
			t.Errorf("got %d lists of namespaces, want 2: %s", len(lists), lists)
		}
	})
}

// If one watch of all namespaces replaces the watches of single namespaces, the objects that are already in memory are
// not counted a second time.
// Invariant: I21.
func TestPermissionForAllNamespacesNeedsNoMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := newBudgetedCluster(t)
		server.Refuse(widgets, "", http.StatusForbidden, "not all of them")
		for _, ns := range []string{"a", "b"} {
			server.Refuse(widgets, ns, 0, "not all of them")
			for n := range 350 {
				server.Set(widgets, bigItem(ns, fmt.Sprint(ns, n), 1<<10))
			}
		}
		r := subscribe(t, cluster, query.Query{Resource: widgets}, "")
		r.settle()
		r.wantLive(700)
		server.Refuse(widgets, "", 0, "")
		for range 30 {
			advance(time.Second)
			c := cluster.WatchStatus()
			if c := c.Entries[len(c.Entries)-1]; c.Objects != 700 || c.State == status.Failed {
				t.Fatalf("got state %s with %d rows: %s, want 700 rows and not failed", c.State, c.Objects, c.Reason)
			}
		}
		if r.settle(); r.namespaces != nil {
			t.Errorf("got state %s in namespaces %s, want all namespaces", r.state, r.namespaces)
		}
		r.wantLive(700)
	})
}

// While a new feed (list and watch) replaces an old one, both can contain the same object. The memory of this object
// counts once.
// Invariant: I21.
func TestRelistedObjectsAreCountedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apitest.New(t, kinds()...)
		for n := range 18 {
			server.Set(pods, bigItem("a", fmt.Sprint("p", n), 40<<10))
		}
		var slow atomic.Bool
		server.Config.WrapTransport = slowLists(&slow)
		cluster := runClusterWith(t, server, watch.Options{
			Linger: 5 * time.Minute, MemoryLimit: 50 << 20, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		})
		r := subscribe(t, cluster, query.Query{}, "")
		r.settle()
		r.wantLive(18)
		slow.Store(true)
		server.RevokeWatch(pods)
		for range 60 {
			advance(time.Second)
			c := cluster.WatchStatus().Entries[0]
			if c.State == status.Failed {
				t.Fatalf("got state %s: %s, want any other than failed", c.State, c.Reason)
			}
		}
		r.settle()
		if len(r.rows) != 18 || r.state != "stale" {
			t.Errorf("got state %s with %d rows, want stale with 18", r.state, len(r.rows))
		}
	})
}

func TestRecreatedResourceGetsNewMemoryEstimate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := newBudgetedCluster(t)
		for n := range 600 {
			server.Set(widgets, bigItem("a", fmt.Sprint("w", n), 4<<10))
		}
		picker := cluster.For(watch.Viewer{Program: true}).Resources().Follow()
		defer picker.Close()
		r := subscribe(t, cluster, query.Query{Resource: widgets, Fields: "metadata.namespace=a"}, "")
		if r.settle(); r.state != "failed" {
			t.Errorf("got state %s, want failed", r.state)
		}
		server.RemoveKind(widgets)
		<-time.After(20 * time.Second)
		if r.settle(); r.state != "absent" {
			t.Errorf("got state %s, want absent", r.state)
		}
		server.AddKind(apitest.Kind{Ref: widgets, Kind: "Widget", Columns: `[{"name":"Name","type":"string"}]`})
		server.Set(widgets, bigItem("a", "small", 1<<10))
		<-time.After(20 * time.Second)
		r.settle()
		r.wantLive(1)
	})
}

func TestRefusalReturnsAfterPermissionLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := newBudgetedCluster(t)
		for n := range 30 {
			server.Set(widgets, bigItem("a", fmt.Sprint("w", n), 40<<10))
		}
		r := subscribe(t, cluster, query.Query{Resource: widgets}, "")
		r.wantSettle("state failed")
		server.Revoke(widgets, "")
		advance(11 * time.Second)
		r.next()
		server.Refuse(widgets, "", 0, "")
		advance(11 * time.Second)
		if r.next(); r.state != "failed" || !strings.Contains(r.reason, "30 objects") {
			t.Errorf("got state %s: %s, want failed because 30 objects do not fit", r.state, r.reason)
		}
	})
}

// If new objects make a watched resource too large for the memory budget, its watch stops with a reason. Other
// resources stay live.
// Invariant: I21.
func TestWatchOfTooLargeResourceIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := newBudgetedCluster(t)
		bystander := subscribe(t, cluster, query.Query{}, "")
		r := subscribe(t, cluster, query.Query{Resource: widgets}, "")
		r.settle()
		for n := range 40 {
			server.Set(widgets, bigItem("a", fmt.Sprint("w", n), 40<<10))
		}
		advance(15 * time.Second)
		r.settle()
		if r.state != "failed" || !strings.Contains(r.reason, "objects of the resource need") {
			t.Errorf("got state %s: %s, want failed because the resource has grown", r.state, r.reason)
		}
		bystander.settle()
		bystander.wantLive(0)
	})
}

// If the objects of a namespace exceed the memory budget, the watch of the namespace stops with a reason. The namespace
// is not listed again at once.
// Invariant: I21.
func TestWatchOfTooLargeNamespaceIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := newBudgetedCluster(t)
		server.Refuse(widgets, "", http.StatusForbidden, "not all of them")
		server.Refuse(widgets, "a", 0, "")
		time.AfterFunc(5*time.Second, func() {
			for n := range 40 {
				server.Set(widgets, bigItem("a", fmt.Sprint("w", n), 40<<10))
			}
		})
		q := query.Query{Resource: widgets, Namespaces: []string{"a"}}
		states := strings.Join(statesFor(t, cluster, q, 40*time.Second), ", ")
		// The first list can end before the reader gets the first state.
		if strings.TrimPrefix(states, "syncing, ") != "live, failed" {
			t.Errorf("got states %s, want syncing, live, failed", states)
		}
		late := subscribe(t, cluster, q, "")
		late.settle()
		if late.state != "failed" || !strings.Contains(late.reason, "objects of the resource need") ||
			!strings.Contains(late.reason, "use a field selector") {
			t.Errorf("got state %s: %s, want failed because the resource has grown", late.state, late.reason)
		}
		if lists := server.Requests("widgets?allowWatch"); len(lists) != 1 {
			t.Errorf("got %d lists, want 1: %s", len(lists), lists)
		}
	})
}

func statesFor(t *testing.T, cluster *watch.Cluster, q query.Query, duration time.Duration) (states []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), duration)
	defer cancel()
	sub, err := cluster.For(watch.Viewer{Program: true}).Subscribe(ctx, q, stream.Rows, "")
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	for {
		text, err := sub.Next(ctx)
		if err != nil {
			return states
		}
		state, isState := strings.CutPrefix(string(text), `"type":"state","state":"`)
		state, _, _ = strings.Cut(state, `"`)
		if isState && (len(states) == 0 || states[len(states)-1] != state) {
			states = append(states, state)
		}
	}
}

// The memory estimate before a list matches the memory that the objects use after the list. If the estimate were too
// low, a watch could be stopped soon after its start.
// Invariant: I21.
func TestEstimateMatchesUsedMemory(t *testing.T) {
	values := `"data":{"one":"MQ==","two":"Mg==","three":"Mw==","four":"NA=="}`
	for name, test := range map[string]struct {
		ref        string
		objects    int
		rest       string
		namespaces []string
		fields     string
		want       string
	}{
		"small objects":          {ref: widgets, objects: 5000, want: "failed"},
		"small objects that fit": {ref: widgets, objects: 3500, want: "live"},
		"small objects of a named namespace": {
			ref: widgets, objects: 5000, namespaces: []string{"a"}, want: "failed",
		},
		"Secrets":          {ref: secrets, objects: 1500, rest: values, want: "failed"},
		"Secrets that fit": {ref: secrets, objects: 980, rest: values, want: "live"},
		"Secrets without a known count": {
			ref: secrets, objects: 1130, rest: values, fields: "metadata.namespace=a", want: "failed",
		},
		"Secrets without a known count that fit": {
			ref: secrets, objects: 1100, rest: values, fields: "metadata.namespace=a", want: "live",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster := newBudgetedCluster(t)
				server.AddKind(apitest.Kind{Ref: secrets, Kind: "Secret", Columns: `[{"name":"Name","type":"string"}]`})
				var all []apitest.Item
				for n := range test.objects {
					all = append(all, apitest.Item{Namespace: "a", Name: fmt.Sprintf("w%04d", n), Rest: test.rest})
				}
				server.Set(test.ref, all...)
				states := statesFor(
					t, cluster, query.Query{Resource: test.ref, Namespaces: test.namespaces, Fields: test.fields},
					4*time.Minute,
				)
				if len(states) > 2 || states[len(states)-1] != test.want {
					t.Errorf("states within 4 minutes: got %s, want a final state %s", states, test.want)
				}
				status := cluster.WatchStatus()
				if status.UsedBytes > status.Limit {
					t.Errorf("got %d bytes in use, want at most %d", status.UsedBytes, status.Limit)
				}
				started := len(server.Requests("allowWatch")) > 0
				if estimated := test.fields == ""; started == estimated && test.want == "failed" {
					t.Errorf("list or watch requested: %t, count estimated before: %t", started, estimated)
				}
			})
		})
	}
}

// A relist (a new list after an interrupted watch) that exceeds the memory budget is canceled. This is also true for
// resources that are listed at intervals instead of watched.
// Invariant: I21.
func TestRelistIsLimitedByBudget(t *testing.T) {
	for name, test := range map[string]struct {
		count  int
		polled bool
	}{
		"many":        {count: 500},
		"few":         {count: 30},
		"polled":      {count: 500, polled: true},
		"few, polled": {count: 30, polled: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster := newBudgetedCluster(t)
				bystander := subscribe(t, cluster, query.Query{}, "")
				server.Set(widgets, bigItem("a", "w", 40<<10))
				if test.polled {
					server.RefuseWatches(widgets, http.StatusForbidden)
				}
				r := subscribe(t, cluster, query.Query{Resource: widgets}, "")
				r.settle()
				server.ChangeWhileDown(widgets, func() {
					for n := range test.count {
						server.Set(widgets, bigItem("a", fmt.Sprint("w", n), 40<<10))
					}
				})
				maxBytes := int64(0)
				for range 400 {
					advance(100 * time.Millisecond)
					maxBytes = max(maxBytes, cluster.WatchStatus().UsedBytes)
				}
				if maxBytes > 1<<20 {
					t.Errorf("got %d KiB in use, want at most 1 MiB", maxBytes>>10)
				}
				log := r.settle()
				if r.state != "failed" || !strings.Contains(r.reason, "of the 1MiB for watched objects") ||
					strings.Contains(log, "delete") {
					t.Errorf("got state %s: %s, want failed for the budget and no delete; messages: %s", r.state, r.reason, log)
				}
				bystander.settle()
				bystander.wantLive(0)
				server.ChangeWhileDown(widgets, func() {
					for n := range test.count {
						server.Delete(widgets, "a", fmt.Sprint("w", n))
					}
				})
				advance(6 * time.Minute)
				if r.settle(); len(r.rows) != 1 || r.state == "failed" {
					t.Errorf("got state %s with %d rows, want 1 row and not failed", r.state, len(r.rows))
				}
			})
		})
	}
}

// A relist (a new list after an interrupted watch) needs memory only for new objects. If these fit into the memory
// budget, no watch is stopped.
// Invariant: I21.
func TestFittingRelistStopsNoWatch(t *testing.T) {
	for name, test := range map[string]struct {
		ref         string
		bytes       int
		rest        string
		count, more int
	}{
		"large objects": {ref: widgets, bytes: 40 << 10, count: 23, more: 2},
		"Secrets": {
			ref: secrets, rest: `"data":{"one":"MQ==","two":"Mg==","three":"Mw==","four":"NA=="}`, count: 980,
			more: 110,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster := newBudgetedCluster(t)
				server.AddKind(apitest.Kind{Ref: secrets, Kind: "Secret", Columns: `[{"name":"Name","type":"string"}]`})
				var all []apitest.Item
				for n := range test.count + test.more {
					item := apitest.Item{Namespace: "a", Name: fmt.Sprintf("w%04d", n), Rest: test.rest}
					if test.rest == "" {
						item = bigItem("a", item.Name, test.bytes)
					}
					all = append(all, item)
				}
				server.Set(test.ref, all[:test.count]...)
				r := subscribe(t, cluster, query.Query{Resource: test.ref}, "")
				r.settle()
				r.wantLive(test.count)
				for range 2 {
					server.ChangeWhileDown(test.ref, func() { server.Set(test.ref, all...) })
					for range 60 {
						advance(time.Second)
						for _, c := range cluster.WatchStatus().Entries {
							if c.State == status.Failed {
								t.Fatalf("got state %s: %s, want any other than failed", c.State, c.Reason)
							}
						}
					}
				}
				r.settle()
				r.wantLive(test.count + test.more)
			})
		})
	}
}

// isExceededWith returns the result of account.IsExceeded. During this call, another, larger account releases 2 MiB,
// after a busy loop with the given number of steps.
func isExceededWith(account, large *budget.Account, steps int) bool {
	reserved := large.Reserve(2 << 20)
	var started atomic.Bool
	var ending sync.WaitGroup
	ending.Go(func() {
		for started.Store(true); steps > 0; steps-- {
			started.Load()
		}
		reserved.Release()
	})
	for !started.Load() {
		runtime.Gosched()
	}
	isExceeded := account.IsExceeded()
	ending.Wait()
	return isExceeded
}

// The informer of one resource never stops while a larger one releases memory, whatever the order of their steps is.
// Invariant: I21.
func TestOnlyLargestInformerStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, cluster := newBudgetedCluster(t)
		for _, ref := range []string{pods, widgets} {
			subscribe(t, cluster, query.Query{Resource: ref}, "").settle()
		}
		for n := range 40_000 {
			if isExceededWith(cluster.Informer(pods).Account, cluster.Informer(widgets).Account, n%5000) {
				t.Fatalf("attempt %d: the informer of another resource exceeds the budget", n)
			}
		}
	})
}

// The history of changes is limited, and is dropped before any informer is stopped. Therefore, the history never causes
// the stop of an informer.
// Invariant: I21.
func TestHistoryIsDroppedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := newBudgetedCluster(t)
		for n := range 20 {
			server.Set(widgets, bigItem("a", fmt.Sprint("w", n), 40<<10))
		}
		first := subscribe(t, cluster, query.Query{}, "")
		second := subscribe(t, cluster, query.Query{Resource: widgets}, "")
		first.settle()
		second.settle()
		var maxBytes, history int64
		for n := range 60 {
			server.Set(pods, bigItem("a", "p", 30<<10+16*n))
			server.Set(widgets, bigItem("b", "w", 30<<10+16*n))
			advance(time.Second)
			current := cluster.WatchStatus()
			maxBytes = max(maxBytes, current.UsedBytes)
			for _, c := range current.Entries {
				history = max(history, c.RingBytes)
				if c.State != status.Live {
					t.Fatalf("%s: got state %s after %d s, want live: %s", c.Resource, c.State, n, c.Reason)
				}
			}
		}
		if limit := int64(1 << 20); history > limit/8 || maxBytes < limit {
			t.Errorf("got a maximum of %d KiB in total and %d KiB in one history; want at most 1/8 of %d KiB in one history "+
				"and more in total",
				maxBytes>>10, history>>10, limit>>10)
		}
		for _, c := range cluster.WatchStatus().Entries {
			if c.Drops > 0 || c.Lists != 1 {
				t.Errorf("%s: got %d lists, want 1 and no drops", c.Resource, c.Lists)
			}
		}
		first.settle()
		first.wantLive(1)
		second.settle()
		second.wantLive(21)

		server.Set(namespaces, bigItem("", "large", 100<<10))
		third := subscribe(t, cluster, query.Query{Resource: namespaces}, "")
		third.settle()
		third.wantLive(3)
	})
}

// If a new resource would not fit into the memory budget even without idle informers and histories, the resource is
// refused. The idle informers and histories are then kept.
// Invariant: I21.
func TestRefusedResourceEvictsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := newBudgetedCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		for n := range 30 {
			server.Set(widgets, bigItem("a", fmt.Sprint("w", n), 40<<10))
		}
		small := subscribe(t, cluster, query.Query{}, "")
		small.settle()
		server.Set(pods, pod("a", "p", "Failed"))
		small.sub.Close()
		large := subscribe(t, cluster, query.Query{Resource: widgets}, "")
		large.settle()
		if large.state != "failed" {
			t.Errorf("got state %s, want failed", large.state)
		}
		back := subscribe(t, cluster, query.Query{}, small.cursor)
		back.rows = small.rows
		back.wantSettle("state live, update a/p")
	})
}

// A pinned resource (one that is watched even without readers) is watched as soon as the cluster serves it.
// Invariant: I21.
func TestPinnedResourceIsWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apitest.New(t, kinds()...)
		server.Set(pods, pod("a", "p", "Running"))
		cluster := runClusterWith(t, server, watch.Options{
			Linger: time.Minute, Pinned: []string{pods, widgets}, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		})
		advance(20 * time.Minute)
		subscribe(t, cluster, query.Query{}, "").wantSettle("state live, snapshot of 1")
		if lists := server.Requests("/pods?"); len(lists) != 1 {
			t.Errorf("got %d lists of pods in 20 minutes, want 1: %s", len(lists), lists)
		}
		server.AddKind(apitest.Kind{Ref: widgets, Kind: "Widget", Columns: `[{"name":"Name","type":"string"}]`})
		advance(time.Minute)
		if lists := server.Requests("/widgets?"); len(lists) != 1 {
			t.Errorf("got %d lists of widgets, want 1", len(lists))
		}
	})
}
