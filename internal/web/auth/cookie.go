package auth

import (
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Login starts a session for the user of a token, and ends the previous session of the browser.
func (a *Authority) Login(w http.ResponseWriter, r *http.Request, token string) error {
	token, err := checkToken(token)
	if err != nil {
		return err
	}
	review, err := a.reviewToken(r.Context(), token)
	if err != nil {
		return err
	}
	a.startSession(w, r, newLogin(review.user, token, review.expires, review.startedAt), OverTLS(r))
	return nil
}

func (a *Authority) startSession(w http.ResponseWriter, r *http.Request, l *login, secure bool) {
	a.endSessionOf(r)
	a.setCookie(w, r, secure, a.sessions.begin(l), max(1, int(time.Until(l.expires).Seconds())))
}

// Logout ends the session in the cookie of a request, and deletes the cookie.
func (a *Authority) Logout(w http.ResponseWriter, r *http.Request) {
	if a == nil || a.sessions == nil {
		return
	}
	a.endSessionOf(r)
	a.setCookie(w, r, OverTLS(r), "", -1)
}

func (a *Authority) endSessionOf(r *http.Request) {
	if l, err := a.sessions.find(r); err == nil {
		a.sessions.end(l)
	}
}

func (a *Authority) setCookie(w http.ResponseWriter, r *http.Request, secure bool, value string, age int) {
	http.SetCookie(w, &http.Cookie{
		Name: CookieNameFor(cookieName, r), Value: value, Path: a.base + "/", MaxAge: age,
		HttpOnly: true, Secure: secure, SameSite: http.SameSiteStrictMode,
	})
}

// CookieNameFor appends the port of the Host header to a cookie name, because browsers share cookies between all
// ports of a host.
func CookieNameFor(name string, r *http.Request) string {
	_, port, _ := net.SplitHostPort(r.Host)
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return name
	}
	return name + "-" + port
}

// OverTLS reports whether the browser uses TLS. Behind a proxy that terminates TLS, only the Origin (https) shows this.
func OverTLS(r *http.Request) bool {
	return r.TLS != nil || strings.HasPrefix(strings.ToLower(r.Header.Get("Origin")), "https://")
}
