package web

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// policy lets a page load what this server sends, and nothing else: no inline
// script or style, no other host, no frame around it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// A Boundary says by which names the server may be called, and which pages'
// scripts may speak to it. The names of loopback may always be used, and the
// page's own origin always speaks; the nil Boundary allows nothing else.
type Boundary struct {
	hosts     []string // "name", at any port, or "name:port"; in lower case.
	origins   []string // As originOf writes them.
	addresses bool     // Any IP address is a name, too.
}

// NewBoundary makes a Boundary of the hosts and origins that are configured. A
// host of an origin may be used as a name, too.
func NewBoundary(hosts, origins []string) (*Boundary, error) {
	b := &Boundary{}
	for _, text := range hosts {
		u, err := url.Parse("http://" + text)
		if err != nil || u.Host != text || u.Hostname() == "" || strings.HasSuffix(text, ":") || strings.Contains(text, "*") {
			return nil, fmt.Errorf("--allowed-host %q is no host: write a name, or a name and a port, as in glasshouse.example.org or glasshouse.example.org:8443", text)
		}
		b.hosts = append(b.hosts, hostRule(u))
	}
	for _, text := range origins {
		origin, ok := originOf(text)
		if !ok {
			return nil, fmt.Errorf("--allowed-origin %q is no origin: write scheme and host, and the port where it is not the scheme's own, as in https://glasshouse.example.org", text)
		}
		b.origins = append(b.origins, origin)
		if u, err := url.Parse(origin); err == nil {
			b.hosts = append(b.hosts, hostRule(u))
		}
	}
	return b, nil
}

// hostRule is the host of an address as Boundary.hosts has it.
func hostRule(u *url.URL) string {
	name := strings.ToLower(u.Hostname())
	if u.Port() == "" {
		return name
	}
	return net.JoinHostPort(name, u.Port())
}

// ofMetrics is the boundary of the listener for metrics and probes: the kubelet
// and Prometheus call a pod by its address, which no foreign name can be bound
// to. No page has a script for it.
func (b *Boundary) ofMetrics() *Boundary {
	m := &Boundary{addresses: true}
	if b != nil {
		m.hosts = b.hosts
	}
	return m
}

// guard is what every route has in common: headers, and the refusal of requests
// that a foreign page could have made. A browser that was led here by DNS
// rebinding names a foreign host; one that runs a foreign page names that page
// as Origin.
func (b *Boundary) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if !r.ProtoAtLeast(1, 1) {
			// net/http drops the Transfer-Encoding of HTTP/1.0 unseen (RFC 9112, 6.1):
			// what follows the request may be its body.
			h.Set("Connection", "close")
		}
		if p := b.refuses(r); p != nil {
			h.Set("Connection", "close") // As for what is oversized.
			writeProblem(w, *p)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// refusesFraming says why a request is refused for its request line or the framing of
// its body; nil if it is not. net/http has dropped the Content-Length of a request that
// has a Transfer-Encoding as well, which is how requests are smuggled past a proxy
// (RFC 9112, 6.3 and 11.2). No client of ours sends a body without its length.
func refusesFraming(r *http.Request) *problem {
	switch {
	case len(r.TransferEncoding) > 0:
		return &problem{
			Title: "Length required", Status: http.StatusLengthRequired,
			Detail: "Transfer-Encoding is not accepted. Send the body with a Content-Length.",
		}
	case r.RequestURI == "*":
		return &problem{Title: "Not a path", Status: http.StatusBadRequest, Detail: "A request needs a path: * is none."}
	}
	return nil
}

// refuses says why a request is not served; nil where it is.
func (b *Boundary) refuses(r *http.Request) *problem {
	if !b.known(r.Host) {
		return &problem{
			Title: "Host not allowed", Status: http.StatusForbidden,
			Detail: fmt.Sprintf("This server answers to localhost, 127.0.0.1 and [::1], at any port, and to what --allowed-host names; %.100q is none of them. "+
				"Open it by one of those names, or start it with this one, too: --allowed-host=%.100s.", r.Host, r.Host),
		}
	}
	if p := refusesFraming(r); p != nil {
		return p
	}
	own := schemeOf(r) + "://" + r.Host
	origin, site := r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site")
	switch {
	case origin != "" && !b.welcome(origin, r):
		return &problem{
			Title: "Origin not allowed", Status: http.StatusForbidden,
			Detail: fmt.Sprintf("A script of %.100q may not read from this server, whose own pages are at %.100s/. Open those; "+
				"or, where a proxy in front of this server gives it that address, start it with --allowed-origin=%.100s.", origin, own, origin),
		}
	case origin == "" && r.Header.Get("Upgrade") != "" && r.Header.Get("Cookie") != "":
		return &problem{
			Title: "Origin not allowed", Status: http.StatusForbidden,
			Detail: "A WebSocket with a cookie is a browser's, which names its page as Origin; send that, or no cookie.",
		}
	case origin == "" && (site == "cross-site" || site == "same-site") && r.Header.Get("Sec-Fetch-Mode") != "navigate":
		return &problem{
			Title: "Origin not allowed", Status: http.StatusForbidden,
			Detail: fmt.Sprintf("Another page may link here, but not load parts of this server; open %.100s/ itself.", own),
		}
	}
	return nil
}

// known reports whether a Host header is a name of this server. At loopback the
// port is free: a port-forward has another than the listener.
func (b *Boundary) known(hostport string) bool {
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
	case err == nil && b.addresses:
		return true
	}
	return slices.Contains(b.hosts, name) || port != "" && slices.Contains(b.hosts, net.JoinHostPort(name, port))
}

// welcome reports whether the scripts of an origin may speak to the server:
// those of its own pages, and of the origins that are configured. Scheme, host
// and port all have to be the same.
func (b *Boundary) welcome(origin string, r *http.Request) bool {
	given, ok := originOf(origin)
	return ok && slices.Contains(b.welcomed(r), given)
}

// welcomed are the origins whose scripts may speak to the server.
func (b *Boundary) welcomed(r *http.Request) []string {
	var all []string
	if own, ok := originOf(schemeOf(r) + "://" + r.Host); ok {
		all = append(all, own)
	}
	if b != nil {
		all = append(all, b.origins...)
	}
	return all
}

// patterns are the same origins for the socket's library, which else lets in any
// Origin that is the Host. It reads *, ?, [ and \ as patterns.
func (b *Boundary) patterns(r *http.Request) []string {
	all := b.welcomed(r)
	for i, origin := range all {
		all[i] = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(origin)
	}
	return all
}

// protect guards what changes something, by what a browser says of where a
// request comes from: a form of another page has no script, and its request
// may be a navigation.
func (b *Boundary) protect(next http.Handler) (http.Handler, error) {
	protection := http.NewCrossOriginProtection()
	if b != nil {
		for _, origin := range b.origins {
			if err := protection.AddTrustedOrigin(origin); err != nil {
				return nil, fmt.Errorf("trust %s: %w", origin, err)
			}
		}
	}
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		writeProblem(w, problem{
			Title: "Origin not allowed", Status: http.StatusForbidden,
			Detail: fmt.Sprintf("Another page may not change anything here; do it at %.100s/ itself.", schemeOf(r)+"://"+r.Host),
		})
	}))
	return protection.Handler(next), nil
}

// originFor is the origin at which whoever sends a request sees this server: what
// the browser says, or what is configured for the host that was called.
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

// schemeOf is the scheme by which a request has come to this process.
func schemeOf(r *http.Request) string {
	if r.TLS != nil {
		return "https"
	}
	return "http"
}

// originOf is an origin as browsers write it: in lower case, and without the
// port that is the scheme's own. It is not ok where the text is none.
func originOf(text string) (origin string, ok bool) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || strings.Contains(u.Host, "*") || !strings.EqualFold(text, u.Scheme+"://"+u.Host) {
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
