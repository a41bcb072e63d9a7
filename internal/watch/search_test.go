package watch_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
)

func search(t *testing.T, cluster *watch.Cluster, text string) (found, searched string) {
	t.Helper()
	got, err := cluster.For(watch.Viewer{Program: true}).Search(t.Context(), text, 10, func(a, b *resource.Resource) int {
		return strings.Compare(a.Ref(), b.Ref())
	})
	if err != nil {
		t.Fatal(err)
	}
	var hits, parts []string
	for _, hit := range got.Hits {
		hits = append(hits, hit.Namespace+"/"+hit.Name)
	}
	for i := range got.Searched {
		known, count := &got.Searched[i], "?"
		if known.Count != nil {
			count = strconv.Itoa(*known.Count)
		}
		parts = append(
			parts, fmt.Sprintf("%s %s %s %s", known.Ref(), known.Status.State, count, known.Status.Namespaces),
		)
	}
	return strings.Join(hits, " "), strings.Join(parts, ", ")
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
