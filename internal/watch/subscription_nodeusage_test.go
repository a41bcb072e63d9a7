package watch_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"
)

const nodes = "core/v1/nodes"

func podOn(node, name, phase, cpu string) apitest.Item {
	return apitest.Item{
		Namespace: "a", Name: name, Cells: fmt.Sprintf(`[%q,"x"]`, name),
		Rest: fmt.Sprintf(`"spec":{"nodeName":%q,"containers":[{"name":"c","resources":{"requests":`+
			`{"cpu":%q,"memory":"512Mi"}}}]},"status":{"phase":%q}`, node, cpu, phase),
	}
}

// nodeCluster has two nodes and the pods of the node "n1". It keeps a list of nodes open for a viewer.
func nodeCluster(t *testing.T) (server *apitest.Server, cluster *watch.Cluster) {
	t.Helper()
	server, cluster = newCauseCluster(t, true)
	for _, name := range []string{"n1", "n2"} {
		server.Set(nodes, apitest.Item{
			Name: name, Rest: `"status":{"allocatable":{"cpu":"3920m","memory":"8Gi","pods":"110"},` +
				`"conditions":[{"type":"Ready","status":"True"}]}`,
		})
	}
	server.Set(pods, podOn("n1", "p1", "Running", "250m"), podOn("n1", "p2", "Pending", "1"),
		podOn("n1", "ended", "Succeeded", "1"), podOn("", "waiting", "Pending", "1"))
	return server, cluster
}

// wantUsage checks the extra cells of the nodes n1 and n2, without their last changes.
func wantUsage(t *testing.T, access *watch.Access, name, n1, n2 string) {
	t.Helper()
	list, err := access.Snapshot(t.Context(), query.Query{Resource: nodes}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"n1": n1, "n2": n2}
	for _, o := range list.Objects {
		if w, ok := want[o.Name()]; ok && strings.TrimPrefix(string(compact.Extra(o)), "[null") != w {
			t.Errorf("%s: node %s: got %s, want %s", name, o.Name(), compact.Extra(o), w)
		}
	}
}

// A row of a node contains the sums over the pods that are on the node and have not ended.
func TestRowsOfNodesContainTheirUsage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := nodeCluster(t)
		access := cluster.For(watch.Viewer{Program: true})
		r := subscribe(t, cluster, query.Query{Resource: nodes}, "")
		r.settle()
		advance(10 * time.Second)
		const idle = `,"0/110","0/3.92","0/8 GiB"]`
		wantUsage(t, access, "at first", `,"2/110","1.25/3.92","1/8 GiB"]`, idle)

		server.Set(pods, podOn("n1", "p1", "Failed", "250m"))
		server.Set(pods, podOn("n2", "waiting", "Pending", "1"))
		advance(3 * time.Second)
		const one = `,"1/110","1/3.92","0.5/8 GiB"]`
		wantUsage(t, access, "after changes", one, one)
		if got := r.settle(); !strings.Contains(got, "n1") || !strings.Contains(got, "n2") {
			t.Errorf("the reader got %s, want updates of both nodes", got)
		}

		server.Delete(pods, "a", "p2")
		server.Set(nodes, apitest.Item{Name: "n1", Rest: `"status":{"allocatable":{"cpu":"2","memory":"4Gi","pods":"10"}}`})
		advance(3 * time.Second)
		wantUsage(t, access, "after the deletion of a pod", `,"0/10","0/2","0/4 GiB"]`, one)
	})
}

// If the program cannot list all pods, the sums are unknown.
func TestUsageIsUnknownWithoutPods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := nodeCluster(t)
		server.Refuse(pods, "", http.StatusForbidden, "no")
		subscribe(t, cluster, query.Query{Resource: nodes}, "").settle()
		advance(10 * time.Second)
		wantUsage(t, cluster.For(watch.Viewer{Program: true}), "without pods", "]", "]")
	})
}

// Viewers who may not list all pods get no sums over pods, and no updates when these change.
//
// Invariant: I18.
func TestUsageOfNodesRequiresPods(t *testing.T) {
	for name, test := range map[string]struct {
		pods   string // The namespace in which the viewer may list pods.
		sees   bool
		viewer watch.Viewer
	}{
		"all pods":            {"*", true, user("ann")},
		"pods of namespace a": {"a", false, user("ann")},
		"no pods":             {"", false, user("ann")},
		"guest":               {"", false, sharedWith(watch.Part{Resource: nodes})},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster := nodeCluster(t)
				grants := []string{"ann list nodes *", "ann watch nodes *"}
				if test.pods != "" {
					grants = append(grants, "ann list pods "+test.pods, "ann watch pods "+test.pods)
				}
				allow(server, grants...)
				for _, view := range []stream.View{stream.Rows, stream.Windowed} {
					q := query.Query{Resource: nodes}
					if view == stream.Windowed {
						q.Window, _ = query.NewWindow("", 0, 10)
					}
					sub, err := cluster.For(test.viewer).Subscribe(t.Context(), q, view, "")
					if err != nil {
						t.Fatal(err)
					}
					first, _ := readUntil(t, sub, "snapshot", "window")
					advance(10 * time.Second)
					server.Set(pods, podOn("n2", fmt.Sprint("new-", view), "Running", "1"))
					advance(3 * time.Second)
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					var messages strings.Builder
					updates := 0
					for {
						text, err := sub.Next(ctx)
						if err != nil {
							break
						}
						messages.Write(text)
						updates += strings.Count(string(text), `"op":"update"`)
					}
					cancel()
					sub.Close()
					all := first + messages.String()
					if got := strings.Contains(all, "/110") && strings.Contains(all, "extraColumns"); got != test.sees {
						t.Errorf("view %s: got %s, want sums: %t", view, all, test.sees)
					}
					if !test.sees && updates > 0 {
						t.Errorf("view %s: got %s, want no update", view, all)
					}
				}
			})
		})
	}
}
