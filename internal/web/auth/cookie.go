package auth

import (
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Login begins a session for whoever has a token. What session the browser had
// before ends, and none is ever taken over.
func (a *Authority) Login(w http.ResponseWriter, r *http.Request, token string) error {
	token, err := checkToken(token)
	if err != nil {
		return err
	}
	is, err := a.reviewed(r.Context(), token)
	if err != nil {
		return err
	}
	a.begin(w, r, newLogin(is.user, token, is.expires, is.at), OverTLS(r))
	return nil
}

// begin begins the session of a login, in the place of what the browser had.
func (a *Authority) begin(w http.ResponseWriter, r *http.Request, l *login, secure bool) {
	a.endOf(r)
	a.setCookie(w, r, secure, a.sessions.begin(l), max(1, int(time.Until(l.expires).Seconds())))
}

// Logout ends the session of whoever sends a request.
func (a *Authority) Logout(w http.ResponseWriter, r *http.Request) {
	if a == nil || a.sessions == nil {
		return
	}
	a.endOf(r)
	a.setCookie(w, r, OverTLS(r), "", -1)
}

func (a *Authority) endOf(r *http.Request) {
	if l, err := a.sessions.of(r); err == nil {
		a.sessions.end(l)
	}
}

func (a *Authority) setCookie(w http.ResponseWriter, r *http.Request, secure bool, value string, age int) {
	http.SetCookie(w, &http.Cookie{
		Name: CookieAt(cookieName, r), Value: value, Path: a.base + "/", MaxAge: age,
		HttpOnly: true, Secure: secure, SameSite: http.SameSiteStrictMode,
	})
}

// CookieAt is the name of a cookie at the port by which a server is called: browsers
// keep one cookie of a name for all ports of a host, each of which may lead to
// another server.
func CookieAt(name string, r *http.Request) string {
	_, port, _ := net.SplitHostPort(r.Host)
	if _, err := strconv.ParseUint(port, 10, 16); err != nil { // There is none, or it is no port.
		return name
	}
	return name + "-" + port
}

// OverTLS reports whether the browser came by TLS: to this program, or to a proxy
// before it, as the Origin says that every form is sent with.
func OverTLS(r *http.Request) bool {
	return r.TLS != nil || strings.HasPrefix(strings.ToLower(r.Header.Get("Origin")), "https://")
}
