package web_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"
	"github.com/glasshouse-project/glasshouse/internal/web"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
)

type searchResponse struct {
	Objects  []struct{ Ref, Kind, NS, Name, UID string }
	Total    int
	Searched []struct {
		Ref, State string
		Count      *int
	}
}

// search returns short forms of the results and of the searched resources, and the total number of results.
func (s *site) search(query string) (hits []string, resources string, total int) {
	s.t.Helper()
	a := s.get("/api/v1/search?" + query)
	var got searchResponse
	if err := json.Unmarshal([]byte(a.body), &got); err != nil || a.status != http.StatusOK || got.Objects == nil ||
		got.Searched == nil {
		s.t.Fatalf("search %s: got %d %s, error %v", query, a.status, a.body, err)
	}
	for _, o := range got.Objects {
		if want := strings.TrimPrefix(o.NS+"/"+o.Name, "/"); o.UID != o.NS+"/"+o.Name && o.UID != want || o.Ref == "" {
			s.t.Errorf("search %s: unexpected result %+v", query, o)
		}
		hits = append(hits, o.Kind+" "+strings.TrimPrefix(o.NS+"/"+o.Name, "/"))
	}
	var parts []string
	for _, r := range got.Searched {
		count := "?"
		if r.Count != nil {
			count = strconv.Itoa(*r.Count)
		}
		parts = append(parts, r.Ref+" "+r.State+" "+count)
	}
	return hits, strings.Join(parts, ", "), got.Total
}

// Invariant: I22. A search covers the resources that the program needs for inherited verdicts. It returns the best
// matches among the objects that the viewer may read. The result does not depend on other readers, and lists the
// resources that were not searched. Without inherited verdicts, a search covers only resources that the program already
// watches. It then neither starts a watch nor keeps one open.
func TestSearchRanksMatchesInWatchedResources(t *testing.T) {
	s := newSite(t)
	s.api.Set(widgetsRef, apitest.Item{Name: "web"}, apitest.Item{Name: "a-Widget"})
	s.api.Set("core/v1/secrets", apitest.Item{Namespace: "web", Name: "key"},
		apitest.Item{Namespace: "a", Name: "web-1"})
	const podsOnly = "core/v1/pods live 3"
	if hits, resources, _ := s.search("q=a"); fmt.Sprint(hits) != "[Pod a/web-1 Pod a/web-2]" || resources != podsOnly {
		t.Errorf("search while only pods are watched: got %v in %s", hits, resources)
	}
	for _, line := range s.api.Requests("") {
		if strings.Contains(line, "secrets") || strings.Contains(line, "widgets") {
			t.Errorf("the search caused the request %s", line)
		}
	}
	for _, ref := range []string{"core/v1/secrets", widgetsRef} {
		s.waitForLive(ref)
	}
	const all = "core/v1/pods live 3, core/v1/secrets live 2, example.com/v1/widgets live 2"
	for _, test := range []struct {
		query, want string
		total       int
	}{
		{"q=web", "[Widget web Pod a/web-1 Pod a/web-2 Pod b/web-10 Secret a/web-1 Secret web/key]", 6},
		{"q=web-1", "[Pod a/web-1 Secret a/web-1 Pod b/web-10]", 3},
		{"q=eb-1", "[Pod a/web-1 Pod b/web-10 Secret a/web-1]", 3},
		{"q=A+WEB-1", "[Pod a/web-1 Secret a/web-1]", 2},
		{"q=1+1+b", "[Pod a/web-1 Pod b/web-10 Secret a/web-1]", 3},
		{"q=b/web-1", "[Pod b/web-10]", 1},
		{"q=widget", "[Widget a-Widget]", 1},
		{"q=web&limit=2", "[Widget web Pod a/web-1]", 6},
		{"q=web&limit=1", "[Widget web]", 6},
		{"q=running", "[]", 0},
		{"q=web+nothing", "[]", 0},
	} {
		t.Run(test.query, func(t *testing.T) {
			if hits, resources, total := s.search(test.query); fmt.Sprint(hits) != test.want || resources != all ||
				total != test.total {
				t.Errorf("got results %v of %d in %s\nwant %s of %d", hits, total, resources, test.want, test.total)
			}
		})
	}
	path := "/api/v1/search"
	for _, test := range []struct{ query, title, detail string }{
		{"", "Empty search", "q=shop web"},
		{"?q=+%09", "Empty search", "q=shop web"},
		{"?q=a&limit=101", "Invalid limit", "at most 100"},
		{"?q=a&limit=0", "Invalid limit", `"0"`},
		{"?q=a&q=b", "Repeated parameter", "q can be set only once"},
		{"?q=a&ns=b", "Unknown parameter", "limit, q, resource."},
		{"?q=" + strings.Repeat("a", 321), "Selector too long", "320 bytes"},
	} {
		t.Run(test.query, func(t *testing.T) {
			s.wantProblem(test.query, s.get(path+test.query), http.StatusBadRequest, test.title, test.detail)
		})
	}
}

// If objects inherit verdicts, the program itself reads most resources. Therefore, a search finds their objects even if
// no client reads them. The response lists the resources that were not searched.
//
// Invariant: I22.
func TestSearchListsWhatIsNotSearched(t *testing.T) {
	const columns = `[{"name":"Name","type":"string"}]`
	api := apitest.New(t, apitest.Kind{Ref: podsRef, Kind: "Pod", Columns: columns},
		apitest.Kind{Ref: "core/v1/secrets", Kind: "Secret", Columns: columns},
		apitest.Kind{Ref: "coordination.k8s.io/v1/leases", Kind: "Lease", Columns: columns})
	api.Set("core/v1/secrets", apitest.Item{
		Namespace: "a", Name: "key", Rest: `"type":"CANARY"`,
	})
	api.Set("coordination.k8s.io/v1/leases", apitest.Item{Namespace: "a", Name: "key"})
	cluster, err := watch.New(api.Config, watch.Options{
		Linger: time.Minute, InheritVerdicts: true, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	apitest.Run(t, cluster.Run)
	s := startSite(t, cluster)
	s.waitForText("/api/v1/search?q=key", `"ref":"core/v1/secrets","state":"live"`)
	s.waitForText("/api/v1/search?q=key", `"ref":"core/v1/pods","state":"live"`)
	const want = `{"objects":[{"ref":"core/v1/secrets","kind":"Secret","ns":"a","name":"key","uid":"a/key"}],"total":1,` +
		`"searched":[{"ref":"core/v1/pods","state":"live","count":0},` +
		`{"ref":"core/v1/secrets","state":"live","count":1}],` +
		`"notSearched":[{"ref":"coordination.k8s.io/v1/leases","reason":"unread"}]}`
	if got := strings.TrimSpace(s.get("/api/v1/search?q=key").body); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	s.waitForLive("coordination.k8s.io/v1/leases")
	if got := strings.TrimSpace(s.get("/api/v1/search?q=key").body); got != want {
		t.Errorf("with a reader of leases: got %s\nwant %s", got, want)
	}
	s.waitForText("/api/v1/search?q=key&resource=coordination.k8s.io/v1/leases",
		`"ref":"coordination.k8s.io/v1/leases","state":"live","count":1`)
	for _, line := range api.Requests("/secrets") {
		if !strings.Contains(line, "includeObject=Metadata") {
			t.Errorf("the search has read more than metadata: %s", line)
		}
	}
}

// A search returns the best matches up to the limit, regardless of the number and order of objects.
//
// Invariant: I22.
func TestSearchReturnsBestMatches(t *testing.T) {
	s := newSite(t)
	items := make([]apitest.Item, 3000)
	for n := range items {
		items[n] = apitest.Item{Namespace: "a", Name: fmt.Sprintf("%04d-many", n)}
	}
	items[2999].Name, items[2998].Name, items[2997].Name = "many", "many-z", "many-y"
	s.api.Set(podsRef, items...)
	s.waitForText("/api/v1/search?q=many", `"total":3000`)
	hits, _, _ := s.search("q=many&limit=5")
	if want := "[Pod a/many Pod a/many-y Pod a/many-z Pod a/0000-many Pod a/0001-many]"; fmt.Sprint(hits) != want {
		t.Errorf("got %v, want %s", hits, want)
	}
	if hits, _, _ := s.search("q=many"); len(hits) != 20 {
		t.Errorf("search without a limit: got %d results, want 20", len(hits))
	}
	if hits, _, _ := s.search("q=many&limit=100"); len(hits) != 100 || hits[99] != "Pod a/0096-many" {
		t.Errorf("search with limit=100: got %d results, the last is %s", len(hits), hits[len(hits)-1])
	}
}

// Invariant: I22.
func TestSearchOmitsForbiddenObjects(t *testing.T) {
	s := newSite(t)
	s.api.Set("core/v1/secrets", apitest.Item{Namespace: "a", Name: "key"})
	s.api.Refuse("core/v1/secrets", "", http.StatusForbidden, "you may not")
	s.waitForText("/api/v1/snapshot/core/v1/secrets", `"state":"forbidden"`)
	if hits, resources, total := s.search("q=key"); len(hits) != 0 || total != 0 ||
		!strings.Contains(resources, "core/v1/secrets forbidden ?") {
		t.Errorf("search in a forbidden resource: got %v of %d in %s", hits, total, resources)
	}
}

// BenchmarkSearchRequest measures searches in 100,000 names and, for comparison, the text filter of a snapshot.
func BenchmarkSearchRequest(b *testing.B) {
	const objects = 100_000
	var handler http.Handler
	get := func(b *testing.B, path string) *httptest.ResponseRecorder {
		b.Helper()
		r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, path, nil)
		r.Host = "localhost"
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, r)
		return recorder
	}
	api := apitest.New(b, apitest.Kind{
		Ref: podsRef, Kind: "Pod", Columns: `[{"name":"Name","type":"string"},{"name":"Status","type":"string"}]`,
	})
	items := make([]apitest.Item, objects)
	for n := range items {
		name := fmt.Sprintf("app-%d-7c9d8f6b5-%05d", n%50, n)
		items[n] = apitest.Item{
			Namespace: fmt.Sprint("team-", n%20), Name: name, Cells: fmt.Sprintf(`[%q,"Running"]`, name),
			Rest: `"spec":{"nodeName":"n"}`,
		}
	}
	api.Set(podsRef, items...)
	cluster := startCluster(b, api)
	server, err := web.New(web.Options{
		ClusterInfo: request.ClusterInfo{Cluster: cluster}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		b.Fatal(err)
	}
	if handler, err = server.Handler(); err != nil {
		b.Fatal(err)
	}
	for began := time.Now(); !strings.Contains(get(b, "/api/v1/search?q=x").Body.String(), `"count":100000`); {
		if time.Since(began) > time.Minute {
			b.Fatal("the list did not arrive within a minute")
		}
		get(b, "/api/v1/snapshot/"+podsRef+"?wait=30s&limit=1")
	}
	subscription, err := cluster.For(watch.Viewer{Program: true}).Subscribe(b.Context(), query.Query{Resource: podsRef},
		stream.Rows, "")
	if err != nil {
		b.Fatal(err)
	}
	defer subscription.Close()
	long := "app"
	// Build a query of at most 320 characters from words that every object name contains.
	for size := 1; size < 5; size++ {
		for at := range len("-7c9d8f6b5-") - size + 1 {
			if word := "-7c9d8f6b5-"[at : at+size]; len(long)+len(word) < 320 {
				long += "+" + word
			}
		}
	}
	for _, c := range []struct{ name, path string }{
		{"one of all objects", "/api/v1/search?q=99999"},
		{"two words", "/api/v1/search?q=team-7+app-2"},
		{"all", "/api/v1/search?q=app&limit=100"},
		{"maximum number of words", "/api/v1/search?limit=100&q=" + long},
		{"baseline: filter of a snapshot", "/api/v1/snapshot/" + podsRef + "?limit=20&q=99999"},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if a := get(b, c.path); a.Code != http.StatusOK {
					b.Fatal(a.Body)
				}
			}
		})
	}
}
