package web_test

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/livetest"
)

// A request with the Host of another site is refused. Browsers send such requests after DNS rebinding.
func TestForeignHostsAreRefused(t *testing.T) {
	s := startSite(t, nil)
	for _, host := range []string{
		"localhost", "LocalHost:80", "127.0.0.1:1234", "127.0.0.1", "127.1.2.3:8080", "[::1]:80", "[::1]",
		"localhost:1",
	} {
		t.Run(host, func(t *testing.T) {
			s := s.forRow(t)
			if a := s.get("/healthz", "Host: "+host); a.status != http.StatusOK || a.body != "ok\n" {
				t.Errorf("got %d %s, want 200", a.status, a.body)
			}
		})
	}
	for _, host := range []string{
		"evil.test", "localhost.evil.test", "127.0.0.1.evil.test", "evil.test:8080", "", ":8080", "0.0.0.0",
		"169.254.169.254", "10.0.0.1:80",
		"localhost@evil.test", "evil.test#localhost", "localhost.", "2130706433", "[::ffff:10.0.0.1]:80", "::", "[::]",
	} {
		t.Run(cmp.Or(host, "empty"), func(t *testing.T) {
			s := s.forRow(t)
			for _, path := range routePaths(t) {
				a := s.get(path, "Host: "+host)
				if a.status == http.StatusBadRequest && !strings.Contains(a.body, "{") {
					continue // net/http refuses an invalid Host before the handler runs.
				}
				s.wantProblem(path, a, http.StatusForbidden, "Host not allowed",
					"localhost, 127.0.0.1 and [::1]")
			}
		})
	}
	// The error names the command-line flag that would allow the host.
	for _, path := range []string{"/healthz", "/nothing"} {
		s.wantProblem(path, s.get(path, "Host: pods.example.org:8443"), http.StatusForbidden, "Host not allowed",
			"--allowed-host=pods.example.org:8443.")
	}
	// The WebSocket library accepts an Origin whose host equals the Host header. Only the boundary refuses this
	// request.
	a := s.get("/api/v1/live", livetest.UpgradeHeader("Host: evil.test", "Origin: http://evil.test")...)
	s.wantProblem("WebSocket with a foreign Host", a, http.StatusForbidden, "Host not allowed", "")
}

func TestForeignOriginsAreRefused(t *testing.T) {
	s := startSite(t, nil)
	_, port, _ := strings.Cut(s.addr, ":")
	for _, origin := range []string{"http://" + s.addr, "HTTP://" + s.addr} {
		if a := s.get("/healthz", "Origin: "+origin); a.status != http.StatusOK {
			t.Errorf("origin %s: got %d, want 200", origin, a.status)
		}
	}
	for _, origin := range []string{
		"http://127.0.0.1:1", "http://127.0.0.1", "https://" + s.addr, "null", "http://localhost:" + port,
		"http://evil.test", "http://" + s.addr + ".evil.test",
		"file://", "http://", s.addr, "http://%zz", "chrome-extension://abc",
	} {
		t.Run(strings.ReplaceAll(origin, port, "PORT"), func(t *testing.T) {
			s := s.forRow(t)
			for _, path := range routePaths(t) {
				a := s.get(path, "Origin: "+origin)
				s.wantProblem(path, a, http.StatusForbidden, "Origin not allowed",
					"http://"+s.addr+"/")
			}
			a := s.get("/api/v1/live", livetest.UpgradeHeader("Origin: "+origin)...)
			s.wantProblem("WebSocket", a, http.StatusForbidden, "Origin not allowed",
				"http://"+s.addr+"/")
		})
	}
}

// Every response has the security headers, and none has a CORS header that lets other sites read it.
func TestSecurityHeadersAreSetOnEveryResponse(t *testing.T) {
	skipIfShort(t)
	t.Parallel()
	s := newSite(t)
	want := map[string]string{
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
		"Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
	}
	check := func(request string, a httpResponse) {
		t.Helper()
		for name, value := range want {
			if got := a.header.Get(name); got != value {
				t.Errorf("%s (%d): %s is %q, want %q", request, a.status, name, got, value)
			}
		}
		policy := a.header.Get("Content-Security-Policy")
		for _, part := range []string{
			"default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'",
			"frame-ancestors 'none'", "base-uri 'none'",
		} {
			if !strings.Contains(policy, part) {
				t.Errorf("%s (%d): Content-Security-Policy %q does not contain %s", request, a.status, policy, part)
			}
		}
		if strings.Contains(policy, "unsafe") {
			t.Errorf("%s: Content-Security-Policy is %q, want it without unsafe", request, policy)
		}
		for name := range a.header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%s: got header %s, want no CORS headers", request, name)
			}
		}
		if cache := a.header.Get("Cache-Control"); cache == "" ||
			strings.HasPrefix(cache, "public") && a.status != http.StatusOK {
			t.Errorf("%s (%d): Cache-Control is %q", request, a.status, cache)
		}
	}
	for _, path := range append(
		routePaths(t), "/r/core/v1/none", "/o/"+podsRef+"/a/none", "/api/v1/snapshot/"+podsRef+"?x=1", "/static/none.js",
		"/static/", "/static/%2e%2e/x",
	) {
		check(path, s.get(path))
		check(path+" for a browser", s.get(path, "Accept: text/html"))
		check(path+", foreign Origin", s.get(path, "Origin: http://evil.test"))
		check(path+", foreign Host", s.get(path, "Host: evil.test"))
		check("POST "+path, s.send("POST", path, "Content-Length: 0"))
		check("OPTIONS "+path, s.send("OPTIONS", path, "Origin: http://"+s.addr, "Access-Control-Request-Method: GET"))
	}
}

func TestUnsupportedMethodsAreRefused(t *testing.T) {
	s := startSite(t, nil)
	allowed := map[string]string{
		"/contexts": "GET, POST", "/api/v1/context": "POST", "/api/v1/shares": "GET, POST", "/api/v1/shares/x": "DELETE",
		"/share": "GET, POST", "/share/leave": "POST", "/login": "GET, POST", "/logout": "POST",
	}
	for _, path := range routePaths(t) {
		want := cmp.Or(allowed[path], "GET")
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"} {
			if slices.Contains(strings.Split(want, ", "), method) {
				continue
			}
			a := s.send(method, path, "Content-Length: 0")
			if strings.HasSuffix(path, "/nothing") && a.status == http.StatusNotFound {
				continue
			}
			s.wantProblem(method+" "+path, a, http.StatusMethodNotAllowed, "Read only", method)
			if allow := a.header.Get("Allow"); allow != want {
				t.Errorf("%s %s: Allow is %q, want %s", method, path, allow, want)
			}
		}
	}
}

// A panic in a handler gives status 500 for that request only. The response does not contain the stack.
func TestPanicFailsOnlyItsRequest(t *testing.T) {
	s := startSite(t, nil)
	for _, path := range []string{"/api/v1/resources", "/api/v1/snapshot/" + podsRef, "/readyz", "/r/" + podsRef} {
		t.Run(path, func(t *testing.T) {
			s := s.forRow(t)
			a := s.get(path)
			s.wantProblem(path, a, http.StatusInternalServerError, "Internal error", "The error was logged")
			if strings.Contains(a.body, "goroutine") || strings.Contains(a.body, "nil pointer") {
				t.Errorf("the response reveals internals: %s", a.body)
			}
		})
	}
	if !strings.Contains(s.log.String(), "nil pointer") {
		t.Errorf("log is %q, want it to contain the panic", s.log)
	}
	if a := s.get("/healthz"); a.status != http.StatusOK {
		t.Errorf("GET /healthz after the panic: got %d, want 200", a.status)
	}
}
