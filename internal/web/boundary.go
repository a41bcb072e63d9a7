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

// contentSecurityPolicy is the value of the Content-Security-Policy header. A page may load only what this server
// sends, without inline scripts or styles. No page may embed a page of this server in a frame.
const contentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
	"connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// A Boundary decides which Host headers the server accepts, and from which origins scripts may call the server. The
// names of the loopback interface and the origin of the server itself are always allowed. A nil Boundary allows
// nothing else.
type Boundary struct {
	hosts     []string // Allowed hosts: "name" for any port, or "name:port"; in lower case.
	origins   []string // Allowed origins, in the form that originOf returns.
	allowsIPs bool     // Whether any IP address is allowed as a host as well.
}

// NewBoundary returns a Boundary that allows the configured hosts and origins. The host of each origin is also allowed
// in a Host header.
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

// hostRule returns the host of a URL in the form that Boundary.hosts contains.
func hostRule(u *url.URL) string {
	name := strings.ToLower(u.Hostname())
	if u.Port() == "" {
		return name
	}
	return net.JoinHostPort(name, u.Port())
}

// forMetrics returns the boundary of the listener for metrics and probes. It allows IP addresses as hosts, because
// the kubelet and Prometheus call a pod by its address. An attack by DNS rebinding needs a host name, so allowing
// addresses is safe. The boundary allows no configured origins, because no page calls this listener.
func (b *Boundary) forMetrics() *Boundary {
	m := &Boundary{allowsIPs: true}
	if b != nil {
		m.hosts = b.hosts
	}
	return m
}

// guard is middleware that sets the headers of all responses. It also refuses requests that a page of another site
// may have caused. A browser that was misled by DNS rebinding sends the Host of the other site. A browser that runs a
// page of another site sends the origin of that page in the Origin header.
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
			// net/http silently drops the Transfer-Encoding header of an HTTP/1.0 request (RFC 9112, 6.1). The bytes after
			// such a request may therefore be its body and not the next request, so close the connection.
			h.Set("Connection", "close")
		}
		if p := b.check(r); p != nil {
			// Close the connection, because the rest of the request is not read.
			h.Set("Connection", "close")
			writeProblem(w, *p)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// checkFraming returns the problem of a request that is refused because of its request line or the framing of its
// body. It returns nil if the server accepts them. If a request has both a Transfer-Encoding and a Content-Length,
// net/http has already dropped the Content-Length. Attackers use such requests to smuggle other requests through a
// proxy (RFC 9112, 6.3 and 11.2). This program's own clients always send a Content-Length with a body. An HTTP/2 body
// without a Content-Length has an unknown length, and is refused as well.
func checkFraming(r *http.Request) *problem {
	switch {
	case len(r.TransferEncoding) > 0, r.ContentLength < 0:
		return &problem{
			Title: "Length required", Status: http.StatusLengthRequired,
			Detail: "Transfer-Encoding, and a body without a Content-Length, are not accepted. " +
				"Send the body with a Content-Length.",
		}
	case r.RequestURI == "*":
		return &problem{
			Title: "Invalid path", Status: http.StatusBadRequest, Detail: "A request needs a path; * is not a path.",
		}
	}
	return nil
}

// check returns the problem of a request that the boundary refuses. It returns nil if the request is allowed.
func (b *Boundary) check(r *http.Request) *problem {
	if !b.allowsHost(r.Host) {
		return &problem{
			Title: "Host not allowed", Status: http.StatusForbidden,
			Detail: fmt.Sprintf("This server accepts the hosts localhost, 127.0.0.1 and [::1], with any port, "+
				"and those of --allowed-host; %.100q is none of them. "+
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
		return &problem{
			Title: "Origin not allowed", Status: http.StatusForbidden,
			Detail: fmt.Sprintf("A script of %.100q may not read from this server, "+
				"whose own pages are at %.100s/. Open those. If a proxy serves this server at that "+
				"address, start it with --allowed-origin=%.100s.", origin, own, origin),
		}
	case origin == "" && r.Header.Get("Upgrade") != "" && r.Header.Get("Cookie") != "":
		return &problem{
			Title: "Origin not allowed", Status: http.StatusForbidden,
			Detail: "A WebSocket request with a cookie must have the header Origin; " +
				"send that header, or no cookie.",
		}
	case origin == "" && (site == "cross-site" || site == "same-site") && r.Header.Get("Sec-Fetch-Mode") != "navigate":
		return &problem{
			Title: "Origin not allowed", Status: http.StatusForbidden,
			Detail: fmt.Sprintf("Other sites may link here, but not load parts of this server; open %.100s/ directly.",
				own),
		}
	}
	return nil
}

// allowsHost reports whether a Host header is allowed. Loopback hosts are allowed with any port, because the local
// port of a port-forward differs from the port of the listener.
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

// allowsOrigin reports whether scripts of the given origin may call the server. The origin of the server itself and
// the configured origins are allowed. Scheme, host and port must all be equal.
func (b *Boundary) allowsOrigin(origin string, r *http.Request) bool {
	canonical, ok := originOf(origin)
	return ok && slices.Contains(b.allowedOrigins(r), canonical)
}

// allowedOrigins returns all origins from which scripts may call the server.
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

// originPatterns returns the allowed origins as patterns for the WebSocket library. It escapes the characters *, ?, [
// and \, because they have a special meaning in a pattern. In addition to these origins, the library accepts any
// origin whose host equals the Host header.
func (b *Boundary) originPatterns(r *http.Request) []string {
	all := b.allowedOrigins(r)
	for i, origin := range all {
		all[i] = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(origin)
	}
	return all
}

// protect is middleware that refuses cross-origin requests to a route that changes something. It checks the headers
// in which a browser reports the origin of a request. The checks of guard are not enough for such a route. A page of
// another site can submit a form without a script, and the browser may send that request as a navigation.
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
			Detail: fmt.Sprintf("Other sites may not change anything here; open %.100s/ directly.",
				schemeOf(r)+"://"+r.Host),
		})
	}))
	return protection.Handler(next), nil
}

// originFor returns the origin at which the client of a request reaches this server. It returns the Origin header if
// the request has one. If not, it returns the configured origin that has the requested host, or else the scheme and
// host of the request.
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

// schemeOf returns the scheme of the request as it reached this process, which may differ from the client's scheme if
// there is a proxy.
func schemeOf(r *http.Request) string {
	if r.TLS != nil {
		return "https"
	}
	return "http"
}

// originOf returns an origin in the form that browsers send: in lower case, and without the default port of the
// scheme. ok is false if the text is not an origin.
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
