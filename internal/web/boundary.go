package web

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/web/request"
)

// contentSecurityPolicy allows only files of this server. It forbids inline scripts, inline styles and frames.
const contentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
	"connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// A Boundary checks the Host and Origin headers of requests. A nil Boundary allows only loopback hosts and the
// server's own origin.
type Boundary struct {
	hosts     []string // Allowed Host headers in lower case: "name" (with any port) or "name:port".
	origins   []string // Allowed origins, in the form that originOf returns.
	allowsIPs bool     // Whether every IP address is an allowed host.
}

// NewBoundary returns a Boundary that allows the given hosts, the given origins, and the hosts of these origins.
func NewBoundary(hosts, origins []string) (*Boundary, error) {
	b := &Boundary{}
	for _, text := range hosts {
		u, err := url.Parse("http://" + text)
		if err != nil || u.Host != text || u.Hostname() == "" || strings.HasSuffix(text, ":") ||
			strings.Contains(text, "*") {
			return nil, fmt.Errorf("--allowed-host %q is not a host: write a name, or a name and a port, such as "+
				"glasshouse.example.org or glasshouse.example.org:8443", text)
		}
		b.hosts = append(b.hosts, hostRule(u))
	}
	for _, text := range origins {
		origin, ok := originOf(text)
		if !ok {
			return nil, fmt.Errorf("--allowed-origin %q is not an origin: write scheme and host, and the port if it "+
				"is not the default of the scheme, such as https://glasshouse.example.org", text)
		}
		b.origins = append(b.origins, origin)
		if u, err := url.Parse(origin); err == nil {
			b.hosts = append(b.hosts, hostRule(u))
		}
	}
	return b, nil
}

func hostRule(u *url.URL) string {
	name := strings.ToLower(u.Hostname())
	if u.Port() == "" {
		return name
	}
	return net.JoinHostPort(name, u.Port())
}

// forMetrics returns a Boundary that also allows IP addresses as hosts, because the kubelet and Prometheus use the
// pod's IP address. This is safe, because DNS rebinding attacks always use a host name.
func (b *Boundary) forMetrics() *Boundary {
	m := &Boundary{allowsIPs: true}
	if b != nil {
		m.hosts = b.hosts
	}
	return m
}

// guard is middleware that sets security headers, and refuses requests from pages of other sites.
func (b *Boundary) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", contentSecurityPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if !r.ProtoAtLeast(1, 1) {
			// In HTTP/1.0, net/http ignores Transfer-Encoding. Close the connection, so that a body is not read as a
			// request (RFC 9112, 6.1).
			h.Set("Connection", "close")
		}
		if p := b.check(r); p != nil {
			h.Set("Connection", "close")
			request.WriteProblem(w, *p)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// checkFraming refuses a request with an uncertain body length. Attackers combine Transfer-Encoding with a
// Content-Length to smuggle requests through a proxy (RFC 9112, 6.3 and 11.2).
func checkFraming(r *http.Request) *request.Problem {
	switch {
	// Refuse every Transfer-Encoding, because net/http hides the Content-Length of such a request.
	case len(r.TransferEncoding) > 0, r.ContentLength < 0:
		return &request.Problem{
			Title: "Length required", Status: http.StatusLengthRequired,
			Detail: "Transfer-Encoding, and a body without a Content-Length, are not accepted. " +
				"Send the body with a Content-Length.",
		}
	case r.RequestURI == "*":
		return &request.Problem{
			Title: "Invalid path", Status: http.StatusBadRequest, Detail: "A request needs a path; * is not a path.",
		}
	}
	return nil
}

func (b *Boundary) check(r *http.Request) *request.Problem {
	// Refuse other hosts: after DNS rebinding, the Host header contains the name of the attacker's site.
	if !b.allowsHost(r.Host) {
		return &request.Problem{
			Title: "Host not allowed", Status: http.StatusForbidden,
			Detail: fmt.Sprintf("This server accepts the hosts localhost, 127.0.0.1 and [::1], with any port, "+
				"and the hosts of --allowed-host and --allowed-origin; %.100q is none of them. "+
				"Use one of those hosts, or start the server with --allowed-host=%.100s.",
				r.Host, r.Host),
		}
	}
	if p := checkFraming(r); p != nil {
		return p
	}
	own := schemeOf(r) + "://" + r.Host
	origin, site := r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site")
	switch {
	case origin != "" && !b.allowsOrigin(origin, r):
		return &request.Problem{
			Title: "Origin not allowed", Status: http.StatusForbidden,
			Detail: fmt.Sprintf("Pages of the origin %.100q are not allowed to read from this server. Open %.100s/ "+
				"instead. If a proxy serves this server at that origin, start the server with "+
				"--allowed-origin=%.100s.", origin, own, origin),
		}
	case origin == "" && r.Header.Get("Upgrade") != "" && r.Header.Get("Cookie") != "":
		return &request.Problem{
			Title: "Origin not allowed", Status: http.StatusForbidden,
			Detail: "A WebSocket request with a cookie must have the header Origin; " +
				"send that header, or no cookie.",
		}
	case origin == "" && (site == "cross-site" || site == "same-site") && r.Header.Get("Sec-Fetch-Mode") != "navigate":
		return &request.Problem{
			Title: "Origin not allowed", Status: http.StatusForbidden,
			Detail: fmt.Sprintf("Other sites can link to this server, but are not allowed to load parts of it; "+
				"open %.100s/ directly.", own),
		}
	}
	return nil
}

// allowsHost reports whether a Host header is allowed. Loopback hosts are allowed with any port, for kubectl
// port-forward.
func (b *Boundary) allowsHost(hostport string) bool {
	name, port, err := net.SplitHostPort(hostport)
	if err != nil {
		name, port = strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]"), ""
	}
	name = strings.ToLower(name)
	addr, err := netip.ParseAddr(name)
	switch {
	case name == "localhost", err == nil && addr.IsLoopback():
		return true
	case b == nil:
		return false
	case err == nil && b.allowsIPs:
		return true
	}
	return slices.Contains(b.hosts, name) || port != "" && slices.Contains(b.hosts, net.JoinHostPort(name, port))
}

// allowsOrigin reports whether an origin has the scheme, host and port of the server's own origin or a configured one.
func (b *Boundary) allowsOrigin(origin string, r *http.Request) bool {
	canonical, ok := originOf(origin)
	return ok && slices.Contains(b.allowedOrigins(r), canonical)
}

func (b *Boundary) allowedOrigins(r *http.Request) []string {
	var all []string
	if own, ok := originOf(schemeOf(r) + "://" + r.Host); ok {
		all = append(all, own)
	}
	if b != nil {
		all = append(all, b.origins...)
	}
	return all
}

// originPatterns returns the allowed origins as escaped patterns for the WebSocket library. The library also accepts
// any origin whose host equals the Host header.
func (b *Boundary) originPatterns(r *http.Request) []string {
	all := b.allowedOrigins(r)
	for i, origin := range all {
		all[i] = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(origin)
	}
	return all
}

// protect refuses requests that other sites send to change data, according to the header Sec-Fetch-Site (see
// http.CrossOriginProtection). guard is not enough: it accepts forms of other sites, if there is no Origin header.
func (b *Boundary) protect(next http.Handler) (http.Handler, error) {
	protection := http.NewCrossOriginProtection()
	if b != nil {
		for _, origin := range b.origins {
			if err := protection.AddTrustedOrigin(origin); err != nil {
				return nil, fmt.Errorf("allow the origin %s: %w", origin, err)
			}
		}
	}
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request.WriteProblem(w, request.Problem{
			Title: "Origin not allowed", Status: http.StatusForbidden,
			Detail: fmt.Sprintf("Other sites are not allowed to change anything on this server; open %.100s/ directly.",
				schemeOf(r)+"://"+r.Host),
		})
	}))
	return protection.Handler(next), nil
}

// originFor returns the origin under which the client of a request reaches this server.
func (b *Boundary) originFor(r *http.Request) string {
	if origin, ok := originOf(r.Header.Get("Origin")); ok {
		return origin
	}
	if b != nil {
		for _, origin := range b.origins {
			if _, host, _ := strings.Cut(origin, "://"); strings.EqualFold(host, r.Host) {
				return origin
			}
		}
	}
	return schemeOf(r) + "://" + r.Host
}

// schemeOf returns the scheme of the connection to this process. Behind a proxy that terminates TLS, this is http.
func schemeOf(r *http.Request) string {
	if r.TLS != nil {
		return "https"
	}
	return "http"
}

// originOf converts an http or https origin to lower case, without a default port. ok is false for any other text.
func originOf(text string) (origin string, ok bool) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || strings.Contains(u.Host, "*") ||
		!strings.EqualFold(text, u.Scheme+"://"+u.Host) {
		return "", false
	}
	host := strings.ToLower(u.Host)
	if u.Scheme == "http" {
		host = strings.TrimSuffix(host, ":80")
	} else {
		host = strings.TrimSuffix(host, ":443")
	}
	return u.Scheme + "://" + host, true
}
