package auth_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"glasshouse/internal/watch/authz"
	"glasshouse/internal/watch/status"
)

// A text that cannot be a token is refused without a review by the API server.
//
// Invariant: I29.
func TestInvalidTokensAreNotReviewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &apiServer{users: users("good")}
		a, log := authority(t, s)
		for name, headers := range map[string][]string{
			"nothing":           nil,
			"an empty header":   {"Authorization: "},
			"no token":          {"Authorization: Bearer"},
			"an empty token":    {"Authorization: Bearer  "},
			"another scheme":    {"Authorization: Basic good"},
			"a scheme alike":    {"Authorization: Bearers good"},
			"the token alone":   {"Authorization: good"},
			"two":               {"Authorization: Bearer good", "Authorization: Bearer good"},
			"two in one":        {"Authorization: Bearer good, Bearer good"},
			"a blank in it":     {"Authorization: Bearer go od"},
			"a control in it":   {"Authorization: Bearer go\x00od"},
			"a letter in it":    {"Authorization: Bearer goöd"},
			"a long one":        {"Authorization: Bearer " + strings.Repeat("g", 16<<10+1)},
			"another header":    {"X-Authorization: Bearer good"},
			"a spelling of it":  {"authorization_: Bearer good"},
			"a cookie of one":   {"Cookie: glasshouse-session=good"},
			"a cookie of its":   {"Cookie: Authorization=Bearer good; token=good"},
			"a proxy's word":    {"X-Forwarded-User: good", "X-Remote-User: good"},
			"an empty cookie":   {"Cookie: glasshouse-session="},
			"many cookies":      {"Cookie: " + strings.Repeat("glasshouse-session=x; ", 100)},
			"a client's header": {"X-Forwarded-Access-Token: good"},
		} {
			if got := identifiedUser(t, a, request(t, headers...), status.Unauthenticated); got != "" {
				t.Errorf("%s: got %q, want no user", name, got)
			}
		}
		if n := s.takeReviewCount(); n != 0 || log.Len() > 0 {
			t.Errorf("the API server was asked %d times, the log is %q", n, log)
		}
		for _, headers := range []string{
			"Authorization: Bearer good", "Authorization: bearer good", "Authorization: BEARER  good ",
		} {
			if got := identifiedUser(t, a, request(t, headers), status.Unauthenticated); got != "good" {
				t.Errorf("%s: it is %q", headers, got)
			}
		}
	})
}

// Successful token reviews are cached for 10 s of fake time. Refusals are not cached.
//
// Invariant: I29.
func TestTokenReviewsAreCached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &apiServer{users: users("good")}
		a, log := authority(t, s)
		get := func(token string, cause status.Cause) string {
			t.Helper()
			return identifiedUser(t, a, bearer(t, token), cause)
		}
		for range 5 {
			get("good", 0)
		}
		<-time.After(9 * time.Second)
		if got := get("good", 0); got != "good" || s.takeReviewCount() != 1 {
			t.Errorf("within 10 s it is %q, asked for more than once", got)
		}
		s.change(func() { s.users = nil })
		<-time.After(2 * time.Second)
		if got := get("good", status.Unauthenticated); got != "" || s.takeReviewCount() != 1 {
			t.Errorf("11 s later it is %q, want no user, by a new review", got)
		}
		get("bad", status.Unauthenticated)
		get("bad", status.Unauthenticated)
		if n := s.takeReviewCount(); n != 2 {
			t.Errorf("a bad token sent twice was asked about %d times, want twice", n)
		}
		s.change(func() { s.users, s.unavailable = users("good"), true })
		get("good", status.Unavailable)
		s.change(func() { s.unavailable = false })
		if got := get("good", 0); got != "good" {
			t.Errorf("the API server is back, and it is %q", got)
		}
		// Make the API server unavailable. A cached review is still used until it expires.
		s.change(func() { s.unavailable = true })
		if got := get("good", 0); got != "good" {
			t.Errorf("it is %q, want what was answered just now", got)
		}
		<-time.After(10 * time.Second)
		if got := get("good", status.Unavailable); got != "" {
			t.Errorf("the API server is away, and it is %q", got)
		}
		if strings.Contains(log.String(), "good") || !strings.Contains(log.String(), "could not be reviewed") {
			t.Errorf("the log is %q, want the reason of the refusal, without the token", log)
		}
	})
}

// Each combination of a token and audiences has its own review. A token is not confused with another one that has the
// same prefix.
//
// Invariant: I29.
func TestTokenReviewsAreKeyedByTokenAndAudiences(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &apiServer{users: users("t", "t2", "T", "ta", "tab")}
		s.users["t for b"] = &authz.User{Name: "t for b", Groups: []string{"other"}}
		s.users["ta for b for c"] = &authz.User{Name: "ta for b for c"}
		withoutAudience, _ := authority(t, s)
		audienceB, _ := authority(t, s, "b")
		audiencesBC, _ := authority(t, s, "b", "c")
		for range 2 {
			for _, token := range []string{"t", "t2", "T", "ta", "tab"} {
				if got := identifiedUser(t, withoutAudience, bearer(t, token), status.Unauthenticated); got != token {
					t.Errorf("%q is %q's", token, got)
				}
			}
			if got := identifiedUser(t, audienceB, bearer(t, "t"), status.Unauthenticated); got != "t for b" {
				t.Errorf("for b it is %q", got)
			}
			if got := identifiedUser(t, audiencesBC, bearer(t, "t"), status.Unauthenticated) + identifiedUser(
				t, audienceB, bearer(t, "tab"), status.Unauthenticated,
			) + identifiedUser(t, withoutAudience, request(t), status.Unauthenticated); got != "" {
				t.Errorf("tokens for others are %q's", got)
			}
		}
	})
}

// Concurrent callers with the same token share one review. If the first caller is canceled, the review continues for
// the others. The number of concurrent reviews is limited.
//
// Invariant: I29.
func TestConcurrentCallersShareOneReview(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &apiServer{users: users("good"), delay: time.Second}
		for i := range 64 {
			s.users[fmt.Sprint("t", i)] = &authz.User{Name: "many"}
		}
		a, _ := authority(t, s)
		var callers sync.WaitGroup
		for range 50 {
			callers.Go(func() {
				if got := identifiedUser(t, a, bearer(t, "good"), 0); got != "good" {
					t.Errorf("it is %q", got)
				}
			})
		}
		callers.Wait()
		if n := s.takeReviewCount(); n != 1 {
			t.Errorf("50 who asked at a time were %d questions", n)
		}
		start := time.Now()
		for i := range 64 {
			callers.Go(func() { identifiedUser(t, a, bearer(t, fmt.Sprint("t", i)), 0) })
		}
		callers.Wait()
		if took := time.Since(start); took != 4*time.Second {
			t.Errorf("64 questions of a second took %s, want 16 at a time", took)
		}
	})
}

// The number of cached token reviews is limited. The newest reviews stay in the cache.
//
// Invariant: I29.
func TestTokenReviewCacheIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &apiServer{users: map[string]*authz.User{}}
		name := func(i int) string { return fmt.Sprint("t", i) }
		for i := range 1100 {
			s.users[name(i)] = &authz.User{Name: "u"}
		}
		a, _ := authority(t, s)
		for i := range 1100 {
			identifiedUser(t, a, bearer(t, name(i)), 0)
			<-time.After(time.Millisecond)
		}
		s.takeReviewCount()
		for i := 1099; i >= 100; i-- {
			identifiedUser(t, a, bearer(t, name(i)), 0)
		}
		if n := s.takeReviewCount(); n != 0 {
			t.Errorf("%d of the last 1,000 were asked about again", n)
		}
		identifiedUser(t, a, bearer(t, name(0)), 0)
		if n := s.takeReviewCount(); n != 1 {
			t.Error("the first of 1,100 is still remembered")
		}
	})
}

// An expired token is refused, even if its review is still cached.
//
// Invariant: I29.
func TestExpiredTokenIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		token := jwtExpiringAt(time.Now().Add(2 * time.Second))
		s := &apiServer{users: map[string]*authz.User{token: {Name: "anna"}}}
		a, _ := authority(t, s)
		i, err := a.Identify(bearer(t, token))
		if err != nil || time.Until(i.Expires) > 2*time.Second {
			t.Fatalf("it is %+v, %v; want it to expire in 2 s", i, err)
		}
		identityCtx, done := i.Context(t.Context())
		defer done()
		<-identityCtx.Done()
		if got := identifiedUser(t, a, bearer(t, token), status.Unauthenticated); got != "" {
			t.Errorf("after its end it is %q's", got)
		}
	})
}
