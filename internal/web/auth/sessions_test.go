package auth_test

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/web/auth"
)

// A session cookie contains only 256 random bits. It is SameSite=Strict. If the login used TLS, it is also Secure.
//
// Invariant: I29.
func TestSessionCookieIsRandomAndStrict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &apiServer{users: users("anna")}
		a, _ := authority(t, s)
		seen := make(map[string]bool)
		for range 10 {
			c := login(t, a, "anna")
			raw, err := base64.RawURLEncoding.DecodeString(c.Value)
			if err != nil || len(raw) != 32 || seen[c.Value] {
				t.Errorf("session cookie is %q, want 32 random bytes", c.Value)
			}
			seen[c.Value] = true
			if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/base/" || c.Domain != "" ||
				c.Secure || c.MaxAge <= 0 || c.MaxAge > 12*3600 {
				t.Errorf("session cookie is %v", c)
			}
		}
		for name, useTLS := range map[string]func(*http.Request){
			"TLS":                    func(r *http.Request) { r.TLS = &tls.ConnectionState{} },
			"TLS at the first proxy": func(r *http.Request) { r.Header.Set("Origin", "https://glasshouse.example") },
			"TLS in upper case":      func(r *http.Request) { r.Header.Set("Origin", "HTTPS://glasshouse.example") },
		} {
			r, w := request(t), httptest.NewRecorder()
			useTLS(r)
			if err := a.Login(w, r, " anna\n"); err != nil || !w.Result().Cookies()[0].Secure {
				t.Errorf("login with %s: got cookies %v, error %v; want a Secure cookie", name, w.Result().Cookies(), err)
			}
		}
	})
}

// Invariant: I29.
func TestCookieNameContainsThePort(t *testing.T) {
	for host, want := range map[string]string{
		"localhost": "c", "localhost:8080": "c-8080", "[::1]:8081": "c-8081", "[::1]": "c",
		"glasshouse.example.org:443": "c-443",
		"":                           "c", "localhost:": "c", "localhost:x": "c", "localhost:+80": "c",
		"localhost:80;a=b": "c", "localhost:65536": "c",
	} {
		t.Run(cmp.Or(host, "empty"), func(t *testing.T) {
			r := request(t)
			r.Host = host
			if got := auth.CookieNameFor("c", r); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// Each login creates a new session ID, and ends the previous session of the browser.
//
// Invariant: I29.
func TestLoginReplacesPreviousSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &apiServer{users: users("anna", "mallory")}
		a, _ := authority(t, s)
		planted := &http.Cookie{Name: "glasshouse-session", Value: strings.Repeat("A", 43)}
		c := login(t, a, "anna", planted)
		if got := identifiedUser(t, a, withCookies(request(t), planted), status.Unauthenticated); got != "" ||
			c.Value == planted.Value {
			t.Errorf("planted cookie: got user %q, want none and a new cookie", got)
		}
		malloryCookie := login(t, a, "mallory")
		annaCookie := login(t, a, "anna", malloryCookie)
		if got := identifiedUser(t, a, withCookies(request(t), malloryCookie), status.Unauthenticated); got != "" {
			t.Errorf("previous session: got user %q, want none", got)
		}
		if got := identifiedUser(t, a, withCookies(request(t), annaCookie), 0); got != "anna" {
			t.Errorf("new session: got user %q, want anna", got)
		}
		if got := identifiedUser(t, a, withCookies(request(t), planted, annaCookie), 0); got != "anna" {
			t.Errorf("with an additional planted cookie: got user %q, want anna", got)
		}
		// With an invalid Authorization header, a valid session cookie is not used instead.
		if got := identifiedUser(t, a, withCookies(bearer(t, "bad"), annaCookie), status.Unauthenticated); got != "" {
			t.Errorf("with an invalid bearer token: got user %q, want none", got)
		}
		w := httptest.NewRecorder()
		if err := a.Login(w, withCookies(request(t), annaCookie), "bad"); err == nil || len(w.Result().Cookies()) != 0 {
			t.Errorf("login with an invalid token: got cookies %v, error %v; want an error and no cookie",
				w.Result().Cookies(), err)
		}
		if got := identifiedUser(t, a, withCookies(request(t), annaCookie), 0); got != "anna" {
			t.Errorf("session after a failed login: got user %q, want anna", got)
		}
	})
}

// A session ends at logout or token expiry, or after 12 h if the token has no expiry.
//
// Invariant: I29.
func TestSessionEndsOnLogoutOrExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		token := jwtExpiringAt(time.Now().Add(time.Hour))
		s := &apiServer{
			users: map[string]*authz.User{token: {Name: "anna"}, "opaque": {Name: "bob"}, "a.b.c": {Name: "carl"}},
		}
		a, _ := authority(t, s)
		for _, test := range []struct {
			token       string
			identityCtx time.Duration
		}{{token, time.Hour}, {"opaque", 12 * time.Hour}, {"a.b.c", 12 * time.Hour}} {
			began := time.Now()
			if test.token == token {
				test.identityCtx = time.Hour
			}
			c := login(t, a, test.token)
			i, err := a.Identify(withCookies(request(t), c))
			if err != nil || !i.Cookie {
				t.Fatal(i, err)
			}
			identityCtx, done := i.Context(t.Context())
			<-identityCtx.Done()
			done()
			if took := time.Since(began); took > test.identityCtx || took < test.identityCtx-2*time.Second ||
				!errors.Is(context.Cause(identityCtx), auth.ErrEnded) {
				t.Errorf("token %s: session ended after %s with cause %v, want after %s",
					test.token, took, context.Cause(identityCtx),
					test.identityCtx)
			}
			if got := identifiedUser(t, a, withCookies(request(t), c), status.Unauthenticated); got != "" {
				t.Errorf("session after its end: got user %q, want none", got)
			}
			<-time.After(2 * time.Second)
			if !hasEnded(i) {
				t.Error("Ended of the session's identity was not closed")
			}
		}
		c, other := login(t, a, "opaque"), login(t, a, "opaque")
		i, _ := a.Identify(withCookies(request(t), c))
		identityCtx, done := i.Context(t.Context())
		defer done()
		w := httptest.NewRecorder()
		a.Logout(w, withCookies(request(t), c))
		synctest.Wait()
		if !hasEnded(i) || !errors.Is(context.Cause(identityCtx), auth.ErrEnded) {
			t.Error("logout did not cancel the context of the identity")
		}
		if got := w.Result().Cookies(); len(got) != 1 || got[0].MaxAge >= 0 || got[0].Value != "" ||
			got[0].Path != "/base/" {
			t.Errorf("logout: got cookies %v, want one expired, empty cookie", got)
		}
		if got := identifiedUser(
			t, a, withCookies(request(t), c), status.Unauthenticated,
		) + identifiedUser(t, a, withCookies(request(t), other), 0); got != "bob" {
			t.Errorf("after a logout: got users %q, want only bob", got)
		}
	})
}

// A session ends soon after its user was deleted or got other groups or another UID. It also ends after 10 min without
// a response of the API server.
//
// Invariant: I29.
func TestSessionEndsWhenReviewFails(t *testing.T) {
	annaUsers := func() map[string]*authz.User { return users("anna") }
	for name, test := range map[string]struct {
		change   func(*apiServer)
		maxDelay time.Duration
	}{
		"deleted": {func(s *apiServer) { s.users = nil }, 31 * time.Second},
		"other groups": {func(s *apiServer) {
			s.users = map[string]*authz.User{"anna": {Name: "anna", Groups: []string{"of-anna", "more"}}}
		}, 31 * time.Second},
		"other UID": {func(s *apiServer) {
			s.users = map[string]*authz.User{"anna": {Name: "anna", UID: "2", Groups: []string{"of-anna"}}}
		}, 31 * time.Second},
		"away": {func(s *apiServer) { s.unavailable = true }, 10*time.Minute + time.Second},
	} {
		for credential, request := range map[string]func(t *testing.T, c *http.Cookie) *http.Request{
			"session": func(t *testing.T, c *http.Cookie) *http.Request {
				t.Helper()
				return withCookies(request(t), c)
			},
			"token": func(t *testing.T, _ *http.Cookie) *http.Request { t.Helper(); return bearer(t, "anna") },
		} {
			t.Run(name+", by "+credential, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := &apiServer{users: annaUsers()}
					a, _ := authority(t, s)
					i, err := a.Identify(request(t, login(t, a, "anna")))
					if err != nil {
						t.Fatal(err)
					}
					identityCtx, done := i.Context(t.Context())
					defer done()
					<-time.After(5 * time.Minute)
					if n := s.takeReviewCount(); n < 9 || n > 11 || identityCtx.Err() != nil {
						t.Errorf("got %d reviews in 5 min, context error %v; want 9 to 11 and no error", n, identityCtx.Err())
					}
					s.change(func() { test.change(s) })
					start := time.Now()
					<-identityCtx.Done()
					if took := time.Since(start); took > test.maxDelay ||
						test.maxDelay > time.Minute && took < test.maxDelay-31*time.Second {
						t.Errorf("session ended after %s, want %s", took, test.maxDelay)
					}
					if n := s.takeReviewCount(); test.maxDelay > time.Minute && n > 25 {
						t.Errorf("got %d reviews while the API server was unavailable, want at most 25", n)
					}
				})
			})
		}
	}
}

// If a session's token was not reviewed for 30 s, the next request waits for a review.
//
// Invariant: I29.
func TestRequestsRecheckSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &apiServer{users: users("anna")}
		a, _ := authority(t, s)
		c := login(t, a, "anna")
		get := func(cause status.Cause) string {
			t.Helper()
			return identifiedUser(t, a, withCookies(request(t), c), cause)
		}
		s.takeReviewCount()
		for range 60 {
			get(0)
			<-time.After(time.Second)
		}
		if n := s.takeReviewCount(); n < 1 || n > 2 {
			t.Errorf("got %d reviews for requests over a minute, want 1 or 2", n)
		}
		<-time.After(3 * time.Hour)
		if n := s.takeReviewCount(); n != 0 {
			t.Errorf("got %d reviews without requests, want 0", n)
		}
		s.change(func() { s.unavailable = true })
		if got := get(status.Unavailable) + get(status.Unavailable); got != "" {
			t.Errorf("after hours without reviews: got user %q, want none", got)
		}
		s.change(func() { s.unavailable = false })
		if got := get(0); got != "anna" {
			t.Errorf("when the API server is available again: got user %q, want anna", got)
		}
		// If the API server is unavailable, at most one request in 30 s waits for a review.
		s.change(func() { s.unavailable, s.delay = true, 5*time.Second })
		<-time.After(31 * time.Second)
		start := time.Now()
		for range 10 {
			if got := get(0); got != "anna" {
				t.Errorf("30 s after a review: got user %q, want anna", got)
			}
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("ten requests took %s, want at most 5 s", took)
		}
		s.change(func() { s.unavailable, s.delay, s.users = false, 0, nil })
		<-time.After(31 * time.Second)
		if got := get(status.Unauthenticated); got != "" {
			t.Errorf("deleted account: got user %q, want none", got)
		}
		s.change(func() { s.users = users("anna") })
		if got := get(status.Unauthenticated); got != "" {
			t.Errorf("ended session: got user %q, want none", got)
		}
	})
}

// A user has at most 20 sessions; the total maximum is 1,000. Sessions without a WebSocket are evicted first.
//
// Invariant: I29.
func TestSessionsAreLimitedAndEvicted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &apiServer{users: map[string]*authz.User{}}
		for i := range 101 {
			s.users[fmt.Sprint("u", i)] = &authz.User{Name: fmt.Sprint("u", i)}
		}
		a, _ := authority(t, s)
		exists := func(c *http.Cookie) bool {
			i, err := a.Identify(withCookies(request(t), c))
			return err == nil && !hasEnded(i)
		}
		var cookies []*http.Cookie
		for range 20 {
			cookies = append(cookies, login(t, a, "u0"))
			<-time.After(time.Millisecond)
		}
		first, err := a.Identify(withCookies(request(t), cookies[0]))
		if err != nil {
			t.Fatal(err)
		}
		_, done := first.Context(t.Context()) // Marks this session as in use, as an open WebSocket does.
		defer done()
		<-time.After(time.Millisecond)
		for _, c := range cookies[1:19] { // Use these sessions. Then cookies[19] has been idle longest.
			exists(c)
		}
		other := login(t, a, "u1")
		cookies = append(cookies, login(t, a, "u0"))
		for i, c := range cookies {
			if got := exists(c); got != (i != 19) {
				t.Errorf("session %d of 21 exists: %t, want all but the 20th", i, got)
			}
		}
		<-time.After(time.Millisecond)
		if !exists(other) {
			t.Error("another user's session was evicted")
		}
		<-time.After(time.Millisecond)
		for i := 2; i < 101; i++ {
			for range 10 {
				login(t, a, fmt.Sprint("u", i))
				<-time.After(time.Millisecond)
			}
		}
		if hasEnded(first) {
			t.Error("an active session was evicted before an idle one")
		}
		count := 0
		for _, c := range cookies {
			if exists(c) {
				count++
			}
		}
		if count != 9 || !exists(other) {
			t.Errorf("after the limit was exceeded by 11: %d of 20 idle sessions left, want 9; a session used later "+
				"exists: %t, want true", count, exists(other))
		}
	})
}
