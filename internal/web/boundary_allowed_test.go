package web_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/livetest"
	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/web"
)

// newServerWithoutCluster returns a server whose cluster panics at each read.
func newServerWithoutCluster(tb testing.TB, options web.Options) *web.Server {
	tb.Helper()
	options.Cluster = new(watch.Cluster)
	options.Log = slog.New(slog.DiscardHandler)
	server, err := web.New(options)
	if err != nil {
		tb.Fatal(err)
	}
	return server
}

func newBoundary(t *testing.T, hosts, origins []string) *web.Boundary {
	t.Helper()
	b, err := web.NewBoundary(hosts, origins)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// allRoutes returns each route as "METHOD /path" with example values for its parameters, plus two paths that do not
// exist.
func allRoutes(t *testing.T) []string {
	t.Helper()
	all := []string{"GET /nothing", "GET /api/nothing"}
	for _, route := range routeTable(t) {
		all = append(all, route.method+" "+route.path)
	}
	return all
}

// problemTitle returns the title of the problem document with which the handler responds, or "" if there is none.
func problemTitle(h http.Handler, r *http.Request) string {
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, r)
	var p struct{ Title string }
	_ = json.Unmarshal(recorder.Body.Bytes(), &p) // An error leaves the title empty.
	return p.Title
}

// Every route accepts only the allowed hosts and origins. The test combines all hosts with all origins.
//
// Invariant: I26.
func TestBoundaryAllowsOnlyConfiguredHostsAndOrigins(t *testing.T) {
	skipIfShort(t)
	t.Parallel()
	const (
		badHost   = "Host not allowed"
		badOrigin = "Origin not allowed"
	)
	boundaries := map[string]*web.Boundary{
		"loopback": nil,
		"configured": newBoundary(
			t,
			[]string{"Glasshouse.example.org", "10.0.0.5:8080", "[2001:db8::1]"},
			[]string{"https://glasshouse.example.org", "http://localhost:8001", "HTTPS://Other.example.org:443"},
		),
	}
	// For each host, the name of the only boundary that allows it. "both" means both boundaries, and "" means none.
	hosts := map[string]string{
		"localhost": "both", "LOCALHOST:8080": "both", "127.0.0.1:1": "both", "127.9.9.9": "both", "[::1]": "both",
		"[::1]:8080":             "both",
		"glasshouse.example.org": "configured", "GLASSHOUSE.example.org:8443": "configured",
		"10.0.0.5:8080": "configured", "[2001:db8::1]:80": "configured", "[2001:DB8::1]": "configured",
		"other.example.org": "configured",
		"10.0.0.5":          "", "10.0.0.5:8081": "", "10.0.0.6:8080": "", "evil.test": "", "localhost.evil.test": "",
		"127.0.0.1.evil.test": "", "": "", "glasshouse.example.org.": "",
		"glasshouse.example.org.evil.test": "", "evil.glasshouse.example.org": "", "example.org": "",
		"[2001:db8::2]": "", "0.0.0.0": "", "kubernetes.default.svc": "",
	}
	// For each origin, the boundaries that allow it: "both", only "configured", or "" for none.
	origins := map[string]string{
		"": "both", "https://glasshouse.example.org": "configured", "https://GLASSHOUSE.example.org:443": "configured",
		"http://localhost:8001": "configured", "https://other.example.org": "configured",
		"http://glasshouse.example.org:81": "", "https://glasshouse.example.org:8443": "", "http://localhost:8002": "",
		"https://localhost:8001": "", "http://127.0.0.1:8001": "",
		"http://evil.test": "", "null": "", "https://glasshouse.example.org.evil.test": "",
		"https://evil.test?https://glasshouse.example.org": "", "file://": "", "http://": "",
		"https://glasshouse.example.org/": "", "https://user@glasshouse.example.org": "", "https://*.example.org": "",
		"glasshouse.example.org": "",
	}
	for name, boundary := range boundaries {
		t.Run(name, func(t *testing.T) {
			handler, err := newServerWithoutCluster(t, web.Options{Boundary: boundary}).Handler()
			if err != nil {
				t.Fatal(err)
			}
			allowedBy := func(allowing string) bool { return allowing == "both" || allowing == name }
			for _, route := range allRoutes(t) {
				method, path, _ := strings.Cut(route, " ")
				check := func(host, origin, want string) {
					r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
					r.Host = host
					if origin != "" {
						r.Header.Set("Origin", origin)
					}
					if got := problemTitle(handler, r); got != want && (want != "" || got == badHost || got == badOrigin) {
						t.Errorf("%s with host %q and origin %q: got problem %q, want %q", route, host, origin, got, want)
					}
				}
				for host, allowingHost := range hosts {
					for origin, allowing := range origins {
						want := ""
						switch {
						case !allowedBy(allowingHost):
							want = badHost
						case method != http.MethodGet && strings.ToLower(origin) != origin:
							// A route that changes something requires the origin in lower case, as browsers send it.
							want = badOrigin
						case !allowedBy(allowing):
							want = badOrigin
						}
						check(host, origin, want)
					}
					if allowedBy(allowingHost) {
						check(host, "http://"+host, "")
						check(host, "http://"+host+":1", badOrigin)
					} else if host != "" {
						check(host, "http://"+host, badHost) // After DNS rebinding, Host and Origin are equal.
					}
				}
			}
		})
	}
}

// The error for a refused host or origin contains the flag that would allow it.
//
// Invariant: I26.
func TestBoundaryErrorNamesTheFlagToSet(t *testing.T) {
	throughProxy := func(boundary *web.Boundary) (host, origin httpResponse) {
		handler, err := newServerWithoutCluster(t, web.Options{Boundary: boundary}).Handler()
		if err != nil {
			t.Fatal(err)
		}
		get := func(headers ...string) httpResponse {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/healthz", nil)
			r.Host = "10.244.0.5:8080"
			if len(headers) > 0 {
				r.Host = "127.0.0.1:8080"
				r.Header.Set("Origin", headers[0])
			}
			recorder := httptest.NewRecorder()
			handler.ServeHTTP(recorder, r)
			return httpResponse{recorder.Code, recorder.Header(), recorder.Body.String()}
		}
		return get(), get("http://127.0.0.1:8001")
	}
	host, origin := throughProxy(nil)
	s := &site{t: t}
	s.wantProblem("other host", host, http.StatusForbidden, "Host not allowed", "--allowed-host=10.244.0.5:8080.")
	s.wantProblem("other origin", origin, http.StatusForbidden, "Origin not allowed",
		"--allowed-origin=http://127.0.0.1:8001.")
	host, origin = throughProxy(newBoundary(t, []string{"10.244.0.5:8080"}, []string{"http://127.0.0.1:8001"}))
	if host.status != http.StatusOK || origin.status != http.StatusOK {
		t.Errorf("allowed host and origin: got %d %s and %d %s, want 200", host.status, host.body, origin.status, origin.body)
	}
}

// WebSockets have the same allowed origins as requests. With a cookie, a WebSocket needs an Origin header.
//
// Invariant: I26.
func TestBoundaryChecksSocketOrigins(t *testing.T) {
	s := startSiteWith(t, web.Options{
		Boundary: newBoundary(t, []string{"[2001:db8::1]"}, []string{"https://glasshouse.example.org"}),
	})
	for _, test := range []struct {
		headers []string
		status  int
	}{
		{nil, 101},
		{[]string{"Origin: http://" + s.addr}, 101},
		{[]string{"Origin: https://glasshouse.example.org"}, 101}, // A proxy can change the Host, but not the Origin.
		{[]string{"Host: glasshouse.example.org", "Origin: https://glasshouse.example.org"}, 101},
		{[]string{"Host: [2001:db8::1]:8080", "Origin: http://[2001:db8::1]:8080"}, 101},
		{[]string{"Cookie: look=dark", "Origin: http://" + s.addr}, 101},
		{[]string{"Cookie: look=dark"}, 403},
		{[]string{"Origin: http://glasshouse.example.org"}, 403},
		{[]string{"Host: glasshouse.example.org", "Origin: https://glasshouse.example.org:8443"}, 403},
		{[]string{"Host: evil.test", "Origin: https://glasshouse.example.org"}, 403},
		{[]string{"Origin: null"}, 403},
	} {
		t.Run(strings.Join(test.headers, ", "), func(t *testing.T) {
			if a := s.get("/api/v1/live", livetest.UpgradeHeader(test.headers...)...); a.status != test.status {
				t.Errorf("headers %q: got status %d, want %d", test.headers, a.status, test.status)
			}
		})
	}
}

// A page of another origin cannot change anything, not even by a form that navigates the browser.
//
// Invariant: I26.
func TestWritesFromOtherOriginsAreRefused(t *testing.T) {
	changed := 0
	handler, err := newServerWithoutCluster(
		t, web.Options{Boundary: newBoundary(t, nil, []string{"https://glasshouse.example.org"})},
	).
		HandlerWith(http.MethodPost, "/change", func(http.ResponseWriter, *http.Request) { changed++ })
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	for _, site := range []string{"", "none", "same-origin", "same-site", "cross-site", "odd"} {
		for _, mode := range []string{"", "navigate", "cors", "no-cors"} {
			for _, origin := range []string{
				"", "http://localhost:8080", "https://glasshouse.example.org", "https://localhost:8080",
				"http://evil.test", "null",
			} {
				r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/change", nil)
				r.Host = "localhost:8080"
				for name, value := range map[string]string{
					"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Origin": origin,
				} {
					if value != "" {
						r.Header.Set(name, value)
					}
				}
				isOwn := site == "" || site == "none" || site == "same-origin"
				allowed := isOwn && (origin == "" || origin == "http://localhost:8080") ||
					origin == "https://glasshouse.example.org"
				if allowed {
					want++
				}
				title := problemTitle(handler, r)
				if refused := title == "Origin not allowed"; refused == allowed || changed != want {
					t.Fatalf("site %q, mode %q, origin %q: got problem %q and %d changes, want %d", site, mode, origin, title,
						changed, want)
				}
			}
		}
	}
}

// The error for an invalid host or origin contains an example of a valid one.
func TestNewBoundaryRejectsInvalidHostsAndOrigins(t *testing.T) {
	for _, host := range []string{
		"", ":8080", "https://x.org", "x.org/", "x.org:", "a b", "*", "*.example.org", "user@x.org", "x.org?", "::1",
		"x.org:port",
	} {
		t.Run(cmp.Or(host, "empty"), func(t *testing.T) {
			if _, err := web.NewBoundary([]string{host}, nil); err == nil ||
				!strings.Contains(err.Error(), fmt.Sprintf("--allowed-host %q is not a host: write a name", host)) {
				t.Errorf("got error %v, want one that names the host", err)
			}
		})
	}
	for _, origin := range []string{
		"", "x.org", "https://", "https://x.org/", "https://x.org/a", "https://*.x.org", "ftp://x.org", "null",
		"https://u@x.org", "https://x.org#a", "*",
	} {
		t.Run(cmp.Or(origin, "empty"), func(t *testing.T) {
			if _, err := web.NewBoundary(nil, []string{origin}); err == nil ||
				!strings.Contains(
					err.Error(), fmt.Sprintf("--allowed-origin %q is not an origin: write scheme and host", origin),
				) {
				t.Errorf("got error %v, want one that names the origin", err)
			}
		})
	}
}
