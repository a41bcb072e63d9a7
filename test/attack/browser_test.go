package attack

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

type tally struct {
	*probe

	count, wrong int
}

func (t *tally) check(ok bool, format string, args ...any) {
	t.Helper()
	t.count++
	if ok {
		return
	}
	if t.wrong++; t.wrong <= 10 {
		t.Logf(format, args...)
	}
}

func (t *tally) require(finding, bar string) {
	t.Helper()
	t.probe.require(t.wrong == 0 && t.count > 0, finding, bar, "%d of %d wrong", t.wrong, t.count)
}

func (s *site) tryRequest(r request) *response {
	a, err := exchange(s.Context(), attacker(len(r.path)), s.address, r)
	if err != nil {
		return &response{header: http.Header{}}
	}
	return a
}

// Requests with a foreign Host header get no content, even with a valid token. DNS rebinding sends such requests.
func TestForeignHostsGetNothing(t *testing.T) {
	t.Parallel()
	runOnEach(t, func(p *probe) {
		s := p.open()
		t := &tally{probe: p}
		_, port, _ := strings.Cut(s.address, ":")
		for _, r := range append(s.writes(), s.inventory()...) {
			for _, host := range []string{
				"evil.test", "localhost.evil.test:" + port, "127.0.0.1.evil.test", "192.0.2.1:" + port, "",
			} {
				a := s.tryRequest(r.request(s.address, "Host: "+host, bearer(s.creator)))
				t.check(a.status == http.StatusForbidden || a.status == http.StatusBadRequest,
					"%s with Host %q: got status %d, want 403 or 400",
					r.name, host, a.status)
			}
		}
		t.require("S01: foreign Host on each route", "403 or 400")
	})
}

// Scripts of other origins get no content, and no response has a CORS header.
func TestForeignOriginsGetNothing(t *testing.T) {
	t.Parallel()
	runOnEach(t, func(p *probe) {
		s := p.open()
		guest := s.shareContent()
		t := &tally{probe: p}
		_, port, _ := strings.Cut(s.address, ":")
		for _, r := range append(s.writes(), s.inventory()...) {
			for _, origin := range []string{
				"http://evil.test", "null", "https://" + s.address, "http://127.0.0.1:1",
				"http://" + s.address + ".evil.test",
				"http://localhost:" + port + "/", "file://",
			} {
				foreign := r.request(s.address, bearer(s.creator))
				foreign.headers = append(withoutPrefix(foreign.headers, "Origin:"), "Origin: "+origin)
				a := s.tryRequest(foreign)
				t.check(
					a.status == http.StatusForbidden, "%s with Origin %q: got status %d, want 403", r.name, origin,
					a.status,
				)
				for name := range a.header {
					t.check(
						!strings.HasPrefix(name, "Access-Control-"), "%s with Origin %q: got header %s, want no CORS headers", r.name,
						origin, name,
					)
				}
			}
			if r.subscribe != "" {
				foreign := r.request(s.address, guest)
				foreign.headers = withoutPrefix(foreign.headers, "Origin:")
				a := s.tryRequest(foreign)
				t.check(a.status == http.StatusForbidden,
					"WebSocket with a cookie and without an Origin: got status %d, want 403",
					a.status)
			}
		}
		t.require("S02, S03, S07: foreign Origin on each route and upgrade", "403, no CORS header")
	})
}

func withoutPrefix(headers []string, prefix string) (rest []string) {
	for _, header := range headers {
		if !strings.HasPrefix(header, prefix) {
			rest = append(rest, header)
		}
	}
	return rest
}

func TestForeignPagesChangeNothing(t *testing.T) {
	t.Parallel()
	runOnEach(t, func(p *probe) {
		s := p.open()
		guest := s.shareContent()
		t := &tally{probe: p}
		share := fmt.Sprintf(`{"parts":[{"resource":%q,"namespaces":[%q]}],"to":"/r/%s?ns=%s"}`, configMaps,
			s.namespace,
			configMaps, s.namespace)
		for _, r := range []request{
			post("/api/v1/shares", share, bearer(s.creator)),
			{method: "DELETE", path: "/api/v1/shares/x", headers: []string{bearer(s.creator)}},
			post("/share", `{"token":"x"}`), post("/share/leave", "", guest), post("/login", "token=x"),
			post("/logout", ""),
			post("/api/v1/context", `{}`, bearer(s.creator)), post("/contexts", "", bearer(s.creator)),
		} {
			for _, headers := range [][]string{
				{"Sec-Fetch-Site: cross-site"},
				{"Sec-Fetch-Site: same-site"},
				{"Origin: http://evil.test"},
				{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"},
				{"Origin: null"},
			} {
				foreign := r
				foreign.headers = append(append([]string{}, r.headers...), headers...)
				a := s.tryRequest(foreign)
				t.check(
					a.status == http.StatusForbidden, "%s %s with %q: got status %d, want 403", r.method, r.path, headers,
					a.status,
				)
			}
		}
		var listed struct{ Shares []any }
		a := s.do(get("/api/v1/shares", bearer(s.creator)))
		t.check(decode(a.body, &listed) == nil && len(listed.Shares) == 1, "list of shares changed: %s", a.body)
		t.require("S05: state-changing requests of foreign pages", "403, no changes")
	})
}

// Error responses and responses to anonymous clients also have a strict Content-Security-Policy.
func TestEachResponseHasPolicy(t *testing.T) {
	t.Parallel()
	runOnEach(t, func(p *probe) {
		s := p.open()
		guest := s.shareContent()
		t := &tally{probe: p}
		requests := map[string]request{
			"unknown route": get("/nothing"), "unsupported method": {method: "PUT", path: "/healthz"},
			"foreign Host": get("/", "Host: evil.test"), "long URL": get("/?" + strings.Repeat("a", 20<<10)),
			"unknown method": {method: "NONE", path: "/"}, "OPTIONS of a page": {
				method: "OPTIONS", path: "/",
			},
		}
		for identity, headers := range s.identities(guest) {
			for _, r := range append(s.writes(), s.inventory()...) {
				if r.subscribe == "" && !strings.Contains(r.path, "follow=true") {
					requests[r.name+" as "+identity] = r.request(s.address, headers...)
				}
			}
		}
		for name, r := range requests {
			a := s.tryRequest(r)
			policy := a.header.Get("Content-Security-Policy")
			strict := strings.Contains(policy, "default-src 'none'") &&
				strings.Contains(policy, "frame-ancestors 'none'") &&
				strings.Contains(policy, "base-uri 'none'") && !strings.Contains(policy, "unsafe")
			t.check(strict, "%s: got status %d with Content-Security-Policy %q", name, a.status, policy)
			t.check(a.header.Get("X-Content-Type-Options") == "nosniff", "%s: X-Content-Type-Options is not nosniff", name)
			t.check(
				a.header.Get("Cross-Origin-Resource-Policy") == "same-origin", "%s: Cross-Origin-Resource-Policy is not "+
					"same-origin", name,
			)
			t.check(a.header.Get("Referrer-Policy") == "no-referrer", "%s: no Referrer-Policy", name)
		}
		t.require("S06, S07, S38: headers of each response", "strict policy, nosniff, same-origin, no-referrer")
	})
}
