package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	"go.uber.org/goleak"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/web"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
)

func TestMain(m *testing.M) {
	// Run more parallel tests at the same time than there are processors, because these tests mostly wait.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

const (
	podsRef    = "core/v1/pods"
	widgetsRef = "example.com/v1/widgets"
)

// site is a test server that listens on a loopback address.
type site struct {
	t      *testing.T
	server *web.Server
	info   request.ClusterInfo // The cluster that is active at startup.
	addr   string
	base   string          // The base path of all URLs; empty if there is none.
	api    *apitest.Server // The fake API server. Nil if there is no cluster; using the cluster then panics.
	log    *lockedBuffer
	stop   func() error
}

type lockedBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// skipIfShort skips a test that takes more than 20 s with the race detector. CI first runs all tests without the race
// detector. Then it runs them with the race detector and the flag -short, which skips these tests.
func skipIfShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes too long with the race detector; runs without -short")
	}
}

// newSite starts a test server whose cluster has a few objects.
func newSite(t *testing.T) *site {
	t.Helper()
	return newSiteWith(t, web.Options{})
}

func newSiteWith(t *testing.T, options web.Options) *site {
	t.Helper()
	api := apitest.New(
		t,
		apitest.Kind{
			Ref: podsRef, Kind: "Pod", ShortNames: []string{"po"},
			Columns: `[{"name":"Name","type":"string"},{"name":"Status","type":"string"},{"name":"Age",` +
				`"type":"string"}]`,
		},
		apitest.Kind{Ref: "core/v1/secrets", Kind: "Secret", Columns: `[{"name":"Name","type":"string"}]`},
		apitest.Kind{
			Ref: "core/v1/namespaces", Kind: "Namespace", Cluster: true, Columns: `[{"name":"Name","type":"string"}]`,
		},
		apitest.Kind{
			Ref: widgetsRef, Kind: "Widget", Cluster: true,
			Columns: `[{"name":"Name","type":"string"},{"name":"=Odd","type":"string"}]`,
		},
	)
	for _, ns := range []string{"a", "b"} {
		api.Set("core/v1/namespaces", apitest.Item{Name: ns})
	}
	for _, pod := range []string{"a/web-1", "a/web-2", "b/web-10"} {
		ns, name, _ := strings.Cut(pod, "/")
		api.Set(podsRef, apitest.Item{
			Namespace: ns, Name: name, Cells: fmt.Sprintf(`[%q,"Running","5m"]`, name),
			Metadata: `"labels":{"app":"web"},"creationTimestamp":"2026-11-21T10:00:00Z"`,
			Rest:     `"spec":{"note":"<b>"}`,
		})
	}
	options.Cluster = startCluster(t, api)
	s := startSiteWith(t, options)
	s.api = api
	s.base = string(options.BasePath)
	s.waitForLive(podsRef)
	return s
}

// waitForLive waits for the first list of a resource, because pages wait only briefly for it.
func (s *site) waitForLive(ref string) {
	s.t.Helper()
	s.waitForText(s.base+"/api/v1/snapshot/"+ref+"?limit=1", `"state":"live"`)
}

// waitForText requests path repeatedly until the response contains text.
func (s *site) waitForText(path, text string, headers ...string) {
	s.t.Helper()
	for began := time.Now(); ; {
		a := s.get(path, headers...)
		if strings.Contains(a.body, text) {
			return
		}
		if time.Since(began) > 2*time.Minute {
			s.t.Fatalf("%s: got %d %.600s after two minutes, want %s", path, a.status, a.body, text)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// startCluster runs a watch.Cluster for api. The cluster watches a resource only while a test or the server reads it.
func startCluster(tb testing.TB, api *apitest.Server) *watch.Cluster {
	tb.Helper()
	return startClusterWith(tb, api, 0)
}

// startClusterWith runs a watch.Cluster for api with a memory limit in bytes; 0 means no limit.
func startClusterWith(tb testing.TB, api *apitest.Server, limit int64) *watch.Cluster {
	tb.Helper()
	cluster, err := watch.New(api.Config, watch.Options{
		Linger: time.Minute, MemoryLimit: limit, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		tb.Fatal(err)
	}
	apitest.Run(tb, cluster.Run)
	return cluster
}

// forRow returns the same site for a row of a test table. The methods of the result report errors to the row's test t.
func (s *site) forRow(t *testing.T) *site {
	t.Helper()
	row := *s
	row.t = t
	return &row
}

// startSite starts a server for the cluster. Without a cluster, each read panics.
func startSite(t *testing.T, cluster *watch.Cluster) *site {
	t.Helper()
	return startSiteWith(t, web.Options{ClusterInfo: request.ClusterInfo{Cluster: cluster}})
}

func startSiteWith(t *testing.T, options web.Options) *site {
	t.Helper()
	if options.Cluster == nil {
		options.Cluster = new(watch.Cluster)
	}
	s := &site{t: t, log: &lockedBuffer{}}
	options.Name, options.Version, options.Log = "test", "v0", slog.New(slog.NewTextHandler(s.log, nil))
	server, err := web.New(options)
	if err != nil {
		t.Fatal(err)
	}
	s.server, s.info = server, options.ClusterInfo
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.addr = listener.Addr().String()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx, listener) }()
	s.stop = sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() {
		if err := s.stop(); err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	return s
}

type httpResponse struct {
	status int
	header http.Header
	body   string
}

// get sends a GET request. Each of headers has the form "Name: value".
func (s *site) get(path string, headers ...string) httpResponse {
	s.t.Helper()
	return s.send("GET", path, headers...)
}

// send writes a request exactly as given, because an HTTP client would change or refuse some invalid test requests.
func (s *site) send(method, path string, headers ...string) httpResponse {
	s.t.Helper()
	conn, err := (&net.Dialer{}).DialContext(s.t.Context(), "tcp", s.addr)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		s.t.Fatal(err)
	}
	host := "Host: " + s.addr
	for _, header := range headers {
		if strings.HasPrefix(header, "Host:") {
			host = ""
		}
	}
	lines := append([]string{method + " " + path + " HTTP/1.1", "Connection: close"}, headers...)
	if host != "" {
		lines = append(lines, host)
	}
	if _, err := io.WriteString(conn, strings.Join(lines, "\r\n")+"\r\n\r\n"); err != nil {
		s.t.Fatal(err)
	}
	return readResponse(s.t, conn, method)
}

func readResponse(t *testing.T, conn net.Conn, method string) httpResponse {
	t.Helper()
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	return httpResponse{response.StatusCode, response.Header, string(body)}
}

// wantProblem checks the problem document of a response, which must contain detail.
func (s *site) wantProblem(name string, a httpResponse, status int, title, detail string) {
	s.t.Helper()
	var p struct {
		Type, Title, Detail string
		Status              int
	}
	err := json.Unmarshal([]byte(a.body), &p)
	if err != nil || a.status != status || p.Status != status || p.Title != title ||
		!strings.Contains(p.Detail, detail) ||
		p.Type != "about:blank" || a.header.Get("Content-Type") != "application/problem+json" {
		s.t.Errorf("%s: got %d %s %s\nwant the problem %d %s with %q", name, a.status, a.header.Get("Content-Type"),
			a.body, status, title, detail)
	}
}

// testRoute is a route of the server. Its path has example values in place of the parameters of the pattern.
type testRoute struct{ method, pattern, path string }

// isPublic reports whether a route needs no login. TestUnauthenticatedClientsGetNoClusterData verifies this.
func (r testRoute) isPublic() bool {
	return slices.Contains([]string{
		"/api/openapi.json", "/static/*", "/third-party-notices", "/healthz", "/readyz", "/login", "/login/callback",
		"/logout", "/share", "/share/leave",
	}, r.pattern)
}

// routeTable returns every route of the server.
func routeTable(tb testing.TB) (all []testRoute) {
	tb.Helper()
	routes, ok := handler(tb).(chi.Routes)
	if !ok {
		tb.Fatal("the handler is not a chi.Routes")
	}
	values := strings.NewReplacer("{group}", "core", "{version}", "v1", "{resource}", "pods", "{namespace}", "a",
		"{name}", "web-1", "{id}", "x", "*", "app.js")
	err := chi.Walk(routes, func(method, pattern string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		path := values.Replace(pattern)
		if strings.Contains(path, "{") {
			return fmt.Errorf("%s has a parameter without an example value", pattern)
		}
		all = append(all, testRoute{method, pattern, path})
		return nil
	})
	if err != nil || len(all) < 15 {
		tb.Fatalf("got routes %v, error %v; want at least 15", all, err)
	}
	return all
}

// routePaths returns the path of every route once, and two paths that do not exist.
func routePaths(tb testing.TB) []string {
	tb.Helper()
	paths := []string{"/nothing", "/api/nothing"}
	for _, route := range routeTable(tb) {
		if !slices.Contains(paths, route.path) {
			paths = append(paths, route.path)
		}
	}
	return paths
}
