package web_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/web"
)

// The metrics listener serves metrics about the currently watched resources. The listener for pages serves neither
// metrics nor profiles.
func TestOnlyMetricsListenerServesMetrics(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	handler, err := s.server.MetricsHandler(true)
	if err != nil {
		t.Fatal(err)
	}
	get := func(path, host string) (int, string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		r.Host = host
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, r)
		return recorder.Code, recorder.Body.String()
	}
	wantResponse := func(path, host string, status int, substrings ...string) {
		t.Helper()
		got, body := get(path, host)
		if got != status {
			t.Errorf("%s with Host %s: got status %d, want %d: %s", path, host, got, status, body)
		}
		for _, part := range substrings {
			if !strings.Contains(body, part) {
				t.Errorf("%s with Host %s: response does not contain %q: %s", path, host, part, body)
			}
		}
	}
	s.open(nil).checkAlive()
	s.open(nil).checkAlive()
	wantResponse("/metrics", "127.0.0.1:9090", 200,
		"\nglasshouse_sockets 2\n", "\ngo_goroutines ",
		"\n"+`glasshouse_informer_objects{group="core",resource="pods",scope="all",version="v1"} 3`+"\n",
		"\n"+`glasshouse_informer_state{group="core",resource="pods",scope="all",state="live",version="v1"} 1`+"\n")
	wantResponse("/debug/pprof/", "localhost", 200, "goroutine")
	wantResponse("/debug/pprof/heap?debug=1", "localhost", 200, "heap profile")
	wantResponse("/debug/pprof/cmdline", "localhost", 200)
	wantResponse("/", "localhost", 404)
	for _, path := range []string{"/metrics", "/debug/pprof/", "/debug/pprof/heap"} {
		wantResponse(path, "evil.test", 403, "Host not allowed")
		s.wantProblem(path, s.get(path), 404, "Page not found", path)
	}
	wantResponse("/healthz", "localhost", 200, "ok\n")
	wantResponse("/readyz", "localhost", 200, "ok\n")
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	wantResponse("/metrics", "localhost", 200, "\nglasshouse_sockets 0\n")
	wantResponse("/healthz", "localhost", 200, "ok\n")
	wantResponse("/readyz", "localhost", 503, "Shutting down", "stopping")
}

// A metrics listener serves profiles only on a loopback address. It accepts the pod's IP address as Host header.
//
// Invariant: I26.
func TestMetricsListenerServesProfilesOnlyOnLoopback(t *testing.T) {
	for _, test := range []struct {
		address  string
		profiles int
	}{{"127.0.0.1:0", 200}, {"[::1]:0", 200}, {"0.0.0.0:0", 404}, {":0", 404}} {
		t.Run(test.address, func(t *testing.T) {
			server := newServerWithoutCluster(t, web.Options{
				Boundary: newBoundary(t, []string{"glasshouse.monitoring.svc"}, []string{"https://glasshouse.example.org"}),
			})
			listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", test.address)
			if err != nil {
				if test.address == "[::1]:0" {
					return // The machine has no IPv6.
				}
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- server.RunMetrics(ctx, listener) }()
			s := &site{t: t, addr: listener.Addr().String()}
			for _, host := range []string{
				"10.244.0.5:9090", "[2001:db8::1]:9090", "localhost", "glasshouse.monitoring.svc:9090",
			} {
				if a := s.get("/healthz", "Host: "+host); a.status != 200 {
					t.Errorf("probe with Host %s: got %d %s, want 200", host, a.status, a.body)
				}
				for _, path := range []string{"/debug/pprof/", "/debug/pprof/heap?debug=1", "/debug/pprof/cmdline"} {
					if a := s.get(path, "Host: "+host); a.status != test.profiles {
						t.Errorf("%s with Host %s: got status %d, want %d: %.200s", path, host, a.status,
							test.profiles, a.body)
					}
				}
			}
			for _, path := range []string{"/healthz", "/readyz", "/metrics", "/debug/pprof/heap"} {
				s.wantProblem(path+", foreign Host", s.get(path, "Host: evil.test"), 403, "Host not allowed", "")
				s.wantProblem(path+", foreign Origin", s.get(path, "Origin: https://glasshouse.example.org"), 403,
					"Origin not allowed", "")
			}
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}
