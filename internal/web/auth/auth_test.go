package auth_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"

	"go.uber.org/goleak"

	"github.com/glasshouse-project/glasshouse/internal/web/auth"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type apiServer struct {
	mu             sync.Mutex
	users          map[string]*authz.User // The key is a token and its audiences, separated by " for ".
	reviewedTokens []string               // The token of each review so far.
	unavailable    bool
	delay          time.Duration
}

func (s *apiServer) reviewToken(_ context.Context, token string, audiences []string) (*authz.User, error) {
	s.mu.Lock()
	s.reviewedTokens = append(s.reviewedTokens, token)
	user := s.users[strings.Join(append([]string{token}, audiences...), " for ")]
	unavailable, delay := s.unavailable, s.delay
	s.mu.Unlock()
	if delay > 0 {
		<-time.After(delay)
	}
	switch {
	case unavailable:
		return nil, fmt.Errorf("review: %w", &status.Problem{
			Cause: status.Unavailable, Title: "Login cannot be checked", Detail: "away",
		})
	case user == nil:
		return nil, status.NotLoggedIn("not accepted")
	}
	return user, nil
}

func (s *apiServer) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// takeReviewCount returns how many token reviews there were since the previous call of takeReviewCount.
func (s *apiServer) takeReviewCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.reviewedTokens)
	s.reviewedTokens = nil
	return n
}

func users(names ...string) map[string]*authz.User {
	all := make(map[string]*authz.User)
	for _, name := range names {
		all[name] = &authz.User{Name: name, Groups: []string{"of-" + name}}
	}
	return all
}

func authority(t *testing.T, s *apiServer, audiences ...string) (*auth.Authority, *bytes.Buffer) {
	t.Helper()
	log := &bytes.Buffer{}
	a, err := auth.New(auth.Options{
		Mode: auth.Token, Base: "/base", Audiences: audiences, ReviewToken: s.reviewToken,
		Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return a, log
}

func request(t *testing.T, headers ...string) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/", nil)
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header[name] = append(r.Header[name], value) // Header.Add would change the case of the name.
	}
	return r
}

func bearer(t *testing.T, token string) *http.Request {
	t.Helper()
	return request(t, "Authorization: Bearer "+token)
}

// identifiedUser returns the name of the identified user. A refusal must have the given cause.
func identifiedUser(t *testing.T, a *auth.Authority, r *http.Request, cause status.Cause) string {
	t.Helper()
	i, err := a.Identify(r)
	if err == nil {
		return i.Viewer.User.Name
	}
	p := new(status.Problem)
	if !errors.As(err, &p) || p.Cause != cause {
		t.Errorf("got error %v, want the cause %d", err, cause)
	}
	if i.Viewer.Program || i.Viewer.User != nil || i.Viewer.Scope != nil || i.Ended != nil {
		t.Errorf("identity with an error: got %+v, want no user", i)
	}
	return ""
}

func login(t *testing.T, a *auth.Authority, token string, cookies ...*http.Cookie) *http.Cookie {
	t.Helper()
	w := httptest.NewRecorder()
	if err := a.Login(w, withCookies(request(t), cookies...), token); err != nil {
		t.Fatal(err)
	}
	got := w.Result().Cookies()
	if len(got) != 1 {
		t.Fatalf("login: got cookies %v, want one", got)
	}
	return got[0]
}

func withCookies(r *http.Request, cookies ...*http.Cookie) *http.Request {
	for _, c := range cookies {
		r.AddCookie(&http.Cookie{Name: c.Name, Value: c.Value})
	}
	return r
}

func jwtExpiringAt(at time.Time) string {
	encode := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	return encode(`{"alg":"RS256"}`) + "." + encode(fmt.Sprintf(`{"sub":"x","exp":%d}`, at.Unix())) +
		"." + encode("signature")
}

func hasEnded(i auth.Identity) bool {
	select {
	case <-i.Ended:
		return true
	default:
		return false
	}
}

// In the modes without a login, and with a nil Authority, every request has the program's own identity.
func TestModesWithoutLoginUseTheProgramIdentity(t *testing.T) {
	var all []*auth.Authority
	for _, mode := range []string{auth.None, auth.SharedIdentity} {
		a, err := auth.New(auth.Options{Mode: mode})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, a)
		if (a.Banner() != "") != (mode == auth.SharedIdentity) || a.Mode() != mode {
			t.Errorf("%s: the mode is %s, the banner %q", mode, a.Mode(), a.Banner())
		}
	}
	for _, a := range append(all, nil) {
		r := request(t, "Authorization: Bearer x", "X-Forwarded-User: root", "X_forwarded_user: root",
			"X-Glasshouse-Proxy-Secret: x", "Accept: a")
		i, err := a.Identify(r)
		if err != nil || !i.Viewer.Program || i.Viewer.User != nil || i.Ended != nil || !i.Expires.IsZero() ||
			a.HasLogin() {
			t.Errorf("%s: got the identity %+v and error %v, want the program", a.Mode(), i, err)
		}
		if len(r.Header) != 1 || r.Header.Get("Accept") != "a" {
			t.Errorf("%s: the request keeps the headers %v, want only Accept", a.Mode(), r.Header)
		}
		if err := a.Run(t.Context()); err != nil {
			t.Error(err)
		}
	}
	for _, mode := range []string{"", "basic", "None"} {
		t.Run(cmp.Or(mode, "empty"), func(t *testing.T) {
			if _, err := auth.New(auth.Options{Mode: mode}); err == nil {
				t.Error("New: got no error, want one for the unknown mode")
			}
		})
	}
}
