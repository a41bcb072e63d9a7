package web

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// policy lets a page load what this server sends, and nothing else: no inline
// script or style, no other host, no frame around it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// guard is what every route has in common: headers, and the refusal of requests
// that a foreign page could have made. A browser that was led here by DNS
// rebinding names a foreign host; one that runs a foreign page names that page
// as Origin.
func guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if !loopbackHost(r.Host) {
			writeProblem(w, problem{
				Title: "Host not allowed", Status: http.StatusForbidden,
				Detail: "This server answers to localhost, 127.0.0.1 and [::1] alone, at any port; open it by one of these names.",
			})
			return
		}
		if origin := r.Header.Get("Origin"); origin != "" && !sameOrigin(origin, r.Host) {
			writeProblem(w, problem{
				Title: "Origin not allowed", Status: http.StatusForbidden,
				Detail: "Another page's script may not read from this server; open http://" + r.Host + "/ itself.",
			})
			return
		}
		if site := r.Header.Get("Sec-Fetch-Site"); (site == "cross-site" || site == "same-site") && r.Header.Get("Sec-Fetch-Mode") != "navigate" {
			writeProblem(w, problem{
				Title: "Origin not allowed", Status: http.StatusForbidden,
				Detail: "Another page may link here, but not load parts of this server; open http://" + r.Host + "/ itself.",
			})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// loopbackHost reports whether a Host header names this machine. The port is
// free: a port-forward has another than the listener.
func loopbackHost(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	return err == nil && addr.IsLoopback()
}

// sameOrigin wants scheme, host and port to be those that were asked for.
func sameOrigin(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Scheme == "http" && strings.EqualFold(u.Host, host)
}
