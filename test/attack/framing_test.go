package attack

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// refusals returns the statuses with which the server refuses a request before it selects a route.
func refusals() []int {
	return []int{
		http.StatusBadRequest, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusLengthRequired,
		http.StatusRequestEntityTooLarge, http.StatusNotImplemented,
	}
}

func TestAmbiguousRequestsAreRefused(t *testing.T) {
	t.Parallel()
	runOnEach(t, func(p *probe) {
		s := p.open()
		for name, r := range map[string]request{
			"OPTIONS *": {method: "OPTIONS", path: "*"},
			"Content-Length with Transfer-Encoding": {
				method: "POST", path: "/share", headers: []string{"Content-Length: 6", "Transfer-Encoding: chunked"},
				body: "0\r\n\r\nG",
			},
			"two different Content-Length headers": {
				method: "POST", path: "/share", headers: []string{"Content-Length: 1", "Content-Length: 2"}, body: "{}",
			},
			"Transfer-Encoding: gzip, chunked": {
				method: "POST", path: "/share", headers: []string{"Transfer-Encoding: gzip, chunked"},
				body: "0\r\n\r\n",
			},
			"two Host headers":               get("/healthz", "Host: localhost", "Host: localhost"),
			"space before a colon":           get("/healthz", "X-Space : a"),
			"CONNECT":                        {method: "CONNECT", path: "a.test:443", headers: []string{"Host: a.test"}},
			"absolute URL with another host": get("http://a.test/healthz", "Host: localhost"),
			"GET with a body": {
				method: "GET", path: "/", headers: []string{"Content-Length: 2"}, body: "{}",
			},
		} {
			a, err := exchange(p.Context(), attacker(0), s.address, r)
			// A closed connection also counts as a refusal.
			value, refused := "closed", err != nil
			if err == nil {
				value, refused = strconv.Itoa(a.status), slices.Contains(refusals(), a.status)
			}
			s.require(refused, "ambiguous request: "+name, "400, 403, 405, 411, 413, 501 or closed", "%s", value)
		}
		if s.hasEnded() {
			p.Error("the program has exited")
		}
	})
}

// Only a proxy in --forwarded-by can set the client address in the log with headers such as X-Forwarded-For.
func TestOnlyProxiesNameTheirClients(t *testing.T) {
	t.Parallel()
	runOnEach(t, func(p *probe) {
		const proxy, client, forwarded = "127.0.7.1", "127.0.7.2", "192.0.2.77"
		s := p.open("--forwarded-by", proxy+"/32")
		open := func(from string) string {
			before := len(s.program.Log())
			r := post("/share", `{"token":"no such token"}`, "X-Forwarded-For: "+forwarded, "Forwarded: for="+forwarded,
				"X-Real-IP: "+forwarded)
			a := must(exchange(p.Context(), from, s.address, r))(p)
			if a.status != 404 {
				p.Fatalf("POST /share with an unknown token: got %d %s, want 404", a.status, a.body)
			}
			var line string
			p.check(eventually(5*time.Second, func() error {
				if line = s.program.Log()[before:]; !strings.Contains(line, "from=") {
					return fmt.Errorf("the log contains no line with the address: %q", line)
				}
				return nil
			}))
			return line
		}
		byProxy, direct := open(proxy), open(client)
		isIgnored := strings.Contains(byProxy, "from="+forwarded) && strings.Contains(direct, "from="+client) &&
			!strings.Contains(direct, forwarded)
		s.require(isIgnored, "X-Forwarded-For of a client that is not a proxy", "ignored", "ignored: %t", isIgnored)
	})
}
