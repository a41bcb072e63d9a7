package web_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Metrics are those of what is looked at now, on their own listener alone.
func TestMetrics(t *testing.T) {
	s := newSite(t)
	handler, err := s.server.MetricsHandler()
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
	want := func(path, host string, status int, parts ...string) {
		t.Helper()
		got, body := get(path, host)
		if got != status {
			t.Errorf("%s of %s: got %d, want %d: %s", path, host, got, status, body)
		}
		for _, part := range parts {
			if !strings.Contains(body, part) {
				t.Errorf("%s of %s does not say %q: %s", path, host, part, body)
			}
		}
	}
	s.open(nil).alive()
	s.open(nil).alive()
	want("/metrics", "127.0.0.1:9090", 200,
		"\nglasshouse_sockets 2\n", "\ngo_goroutines ", "\n"+`glasshouse_informer_objects{group="core",resource="pods",scope="all",version="v1"} 3`+"\n",
		"\n"+`glasshouse_informer_state{group="core",resource="pods",scope="all",state="live",version="v1"} 1`+"\n")
	want("/debug/pprof/", "localhost", 200, "goroutine")
	want("/debug/pprof/heap?debug=1", "localhost", 200, "heap profile")
	want("/debug/pprof/cmdline", "localhost", 200)
	want("/", "localhost", 404)
	for _, path := range []string{"/metrics", "/debug/pprof/", "/debug/pprof/heap"} {
		want(path, "evil.test", 403, "Host not allowed")
		s.wantProblem(path, s.get(path), 404, "No such page", path)
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	want("/metrics", "localhost", 200, "\nglasshouse_sockets 0\n")
}
