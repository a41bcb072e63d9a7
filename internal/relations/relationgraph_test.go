package relations_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/relations"
	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

// newCluster returns a cluster with a pod that uses ConfigMaps, and other pods that each have a ReplicaSet as
// owner.
func newCluster(t *testing.T, uses, others int) (*apitest.Server, *watch.Cluster) {
	t.Helper()
	columns := `[{"name":"Name","type":"string"}]`
	server := apitest.New(t,
		apitest.Kind{Ref: pods, Kind: "Pod", Columns: columns},
		apitest.Kind{Ref: configMaps, Kind: "ConfigMap", Columns: columns})
	var volumes []string
	for n := range uses {
		volumes = append(volumes, fmt.Sprintf(`{"name":"v%d","configMap":{"name":"c%d"}}`, n, n))
	}
	items := []apitest.Item{
		{Namespace: "a", Name: "p", Rest: `"spec":{"volumes":[` + strings.Join(volumes, ",") + `]}`},
	}
	for n := range others {
		items = append(items, apitest.Item{
			Namespace: "a", Name: fmt.Sprint("other-", n),
			Metadata: fmt.Sprintf(
				`"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-%d","uid":"%032d"}]`, n,
				n,
			),
		})
	}
	server.Set(pods, items...)
	return server, startCluster(t, server)
}

// A graph uses a processor (see watch.ReadOptions.ScanLimiter) for its computation, but not while it awaits responses.
func TestProcessorIsLeasedWhileComputing(t *testing.T) {
	const uses = 6
	synctest.Test(t, func(t *testing.T) {
		server, cluster := newCluster(t, uses, 3)
		var leases, inUse, reading, maxReading atomic.Int64
		for n := range uses {
			server.Handle(fmt.Sprint(
				"/api/v1/namespaces/a/configmaps/c", n,
			), func(w http.ResponseWriter, _ *http.Request) {
				maxReading.Store(max(maxReading.Load(), reading.Add(1)))
				<-time.After(100 * time.Millisecond)
				if n := inUse.Load(); n != 0 {
					t.Errorf("%d leases are in use during a request to the API server", n)
				}
				reading.Add(-1)
				w.WriteHeader(http.StatusNotFound)
			})
		}
		limiter := func(context.Context) (release func(), err error) {
			leases.Add(1)
			inUse.Add(1)
			return func() { inUse.Add(-1) }, nil
		}
		access := cluster.For(watch.Viewer{Program: true}).With(watch.ReadOptions{ScanLimiter: limiter})
		if _, err := access.Snapshot(t.Context(), query.Query{Resource: pods}, time.Minute); err != nil {
			t.Fatal(err)
		}
		before := leases.Load()
		graph, err := relations.Of(t.Context(), access, pods, "a", "p")
		if err != nil {
			t.Fatal(err)
		}
		if len(graph.Nodes) < uses {
			t.Errorf("the graph has %d nodes, want %d at least", len(graph.Nodes), uses)
		}
		searched := 0
		for _, s := range graph.Searched {
			if s.State == status.Live {
				searched++
			}
		}
		if n := int(leases.Load() - before); n != searched+3 {
			t.Errorf("%d leases were taken, want one for each of %d kinds, and 3 for the graph", n, searched)
		}
		if maxReading.Load() != 2 {
			t.Errorf("%d objects were read at a time, want 2", maxReading.Load())
		}
	})
}

// The memory for the rows of a graph is reported with ReadOptions.Grow before it is allocated. The reported size is
// between the real size and twice the real size.
func TestRowsOfAGraphAreReported(t *testing.T) {
	const rows = 20_000
	synctest.Test(t, func(t *testing.T) {
		server, cluster := newCluster(t, 0, rows)
		server.Set(configMaps, apitest.Item{Namespace: "a", Name: "c"})
		var reported, heapGrowth atomic.Int64
		var before int64
		access := cluster.For(watch.Viewer{Program: true}).With(watch.ReadOptions{
			Grow: func(bytes int64) { reported.Add(bytes) },
			ScanLimiter: func(context.Context) (func(), error) {
				return func() { heapGrowth.Store(max(heapGrowth.Load(), heap()-before)) }, nil
			},
		})
		snapshot, err := access.Snapshot(t.Context(), query.Query{Resource: pods}, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		reported.Store(0)
		before = heap()
		heapGrowth.Store(0)
		if _, err := relations.Of(t.Context(), access, configMaps, "a", "c"); err != nil {
			t.Fatal(err)
		}
		if got := reported.Load(); got < heapGrowth.Load() || got > 2*heapGrowth.Load() {
			t.Errorf("%d rows take %d bytes; %d were reported", rows, heapGrowth.Load(), got)
		}
		runtime.KeepAlive(snapshot)
	})
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc) //nolint:gosec // The value is far below 2^63.
}

func TestUnreadableObjectHasNoGraph(t *testing.T) {
	errBusy := errors.New("busy")
	for _, test := range []struct {
		name   string
		path   string
		viewer watch.Viewer
		setup  func(*testCluster)
		cause  status.Cause
		want   string
	}{
		{name: "unknown resource", path: "core/v1/nones/a/p", cause: status.Unknown, want: "Unknown resource"},
		{name: "no such object", path: pods + "/a/none", cause: status.Unknown, want: "Not found"},
		{
			name: "an object that the program may not get", path: configMaps + "/a/c", cause: status.Refused,
			setup: func(c *testCluster) {
				c.server.FailPath("/api/v1/namespaces/a/configmaps/c", http.StatusForbidden, "not for you")
			},
			want: "You cannot get ConfigMaps",
		},
		{
			name: "an object that the user may not get", path: pod, viewer: watch.Viewer{User: &authz.User{Name: "ann"}},
			cause: status.Refused, want: "You cannot get Pods",
		},
		{
			name: "an object that the link does not include", path: pod,
			viewer: watch.Viewer{Program: true, Scope: &watch.Scope{}}, cause: status.Refused,
			want: "does not include the requested data",
		},
		{
			name: "the API server fails", path: configMaps + "/a/c", cause: status.Unavailable,
			setup: func(c *testCluster) { c.server.MakeUnavailable("/api/v1/namespaces/a/configmaps/c", "away") },
			want:  "away",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, kinds(), func(c *testCluster) {
				t := c.t
				c.add(object{path: pod}, object{path: configMaps + "/a/c"})
				if test.setup != nil {
					test.setup(c)
				}
				if test.viewer.User != nil || test.viewer.Scope != nil {
					c.as(test.viewer)
				}
				ref, namespace, name := splitPath(test.path)
				g, err := relations.Of(t.Context(), c.access, ref, namespace, name)
				p, ok := errors.AsType[*status.Problem](err)
				if g != nil || !ok || p.Cause != test.cause || !strings.Contains(p.Error(), test.want) {
					t.Errorf("got %v, %v, want a problem with the cause %d and %q", g, err, test.cause, test.want)
				}
			})
		})
	}
	t.Run("no processor is free", func(t *testing.T) {
		for n := range 3 { // For this graph, the program waits three times for a free processor.
			inCluster(t, kinds(), func(c *testCluster) {
				t := c.t
				c.add(object{path: "core/v1/namespaces/_/x"}) // A Namespace needs no search, which would need a processor.
				uses := 0
				access := c.access.With(watch.ReadOptions{ScanLimiter: func(context.Context) (func(), error) {
					if uses++; uses == n+1 {
						return nil, errBusy
					}
					return func() {}, nil
				}})
				if g, err := relations.Of(t.Context(), access, namespaces, "", "x"); !errors.Is(err, errBusy) || g != nil {
					t.Errorf("after %d uses: got %v, %v, want %v", n, g, err, errBusy)
				}
			})
		}
	})
	t.Run("the request ends during the last step", func(t *testing.T) {
		inCluster(t, kinds(), func(c *testCluster) {
			t := c.t
			c.add(object{path: namespaces + "/_/x"})
			ctx, cancel := context.WithCancel(t.Context())
			uses := 0
			access := c.access.With(watch.ReadOptions{ScanLimiter: func(context.Context) (func(), error) {
				if uses++; uses == 3 {
					cancel()
				}
				return func() {}, nil
			}})
			if _, err := relations.Of(ctx, access, namespaces, "", "x"); !errors.Is(err, context.Canceled) || uses != 3 {
				t.Errorf("after %d uses: got %v, want %v", uses, err, context.Canceled)
			}
		})
	})
}

// The page and other clients depend on the names and values in the JSON of a graph.
func TestGraphIsEncodedWithStableNames(t *testing.T) {
	t.Run("all members", func(t *testing.T) {
		got, err := json.Marshal(relations.Graph{
			Nodes: []relations.Node{
				{
					ID: "i", Ref: "r", Kind: "k", Namespace: "n", Name: "m", UID: "u", State: relations.Present, Reason: "why",
					Count: 2,
				},
				{State: relations.Missing},
				{State: relations.Forbidden},
				{State: relations.Unknown},
			},
			Edges:     []relations.Edge{{From: "f", To: "t", Type: "owns", Via: "v"}},
			Truncated: true,
			Searched:  []relations.Searched{{Ref: "r", Status: status.Status{State: status.Failed, Reason: "why"}}},
		})
		want := `{"nodes":[{"id":"i","ref":"r","kind":"k","ns":"n","name":"m","uid":"u","state":"there","reason":"why",` +
			`"count":2},` +
			`{"id":"","ref":"","kind":"","ns":"","name":"","uid":"","state":"missing"},` +
			`{"id":"","ref":"","kind":"","ns":"","name":"","uid":"","state":"forbidden"},` +
			`{"id":"","ref":"","kind":"","ns":"","name":"","uid":"","state":"unknown"}],` +
			`"edges":[{"from":"f","to":"t","type":"owns","via":"v"}],"truncated":true,` +
			`"searched":[{"ref":"r","state":"failed","reason":"why"}]}`
		if err != nil || string(got) != want {
			t.Errorf("got %s, %v\nwant %s", got, err, want)
		}
	})
	t.Run("empty lists are not null", func(t *testing.T) {
		inCluster(t, kinds(), func(c *testCluster) {
			t := c.t
			text, err := json.Marshal(c.graph(t, namespaces+"/_/a"))
			want := `"edges":[],"truncated":false,"searched":[]}`
			if err != nil || !strings.HasSuffix(string(text), want) {
				t.Errorf("got %s, %v, want the end %s", text, err, want)
			}
		})
	})
}
