package auth_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

// A text that cannot be a token is refused without a review by the API server.
//
// Invariant: I29.
func TestInvalidTokensAreNotReviewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &apiServer{users: users("good")}
		a, log := authority(t, s)
		for name, headers := range map[string][]string{
			"nothing":                          nil,
			"empty header":                     {"Authorization: "},
			"scheme without a token":           {"Authorization: Bearer"},
			"empty token":                      {"Authorization: Bearer  "},
			"other scheme":                     {"Authorization: Basic good"},
			"scheme with an additional letter": {"Authorization: Bearers good"},
			"token without a scheme":           {"Authorization: good"},
			"two":                              {"Authorization: Bearer good", "Authorization: Bearer good"},
			"two tokens in one header":         {"Authorization: Bearer good, Bearer good"},
			"space in the token":               {"Authorization: Bearer go od"},
			"control character in the token":   {"Authorization: Bearer go\x00od"},
			"non-ASCII letter in the token":    {"Authorization: Bearer goöd"},
			"long token":                       {"Authorization: Bearer " + strings.Repeat("g", 16<<10+1)},
			"other header":                     {"X-Authorization: Bearer good"},
			"header with an underscore":        {"authorization_: Bearer good"},
			"token as session cookie":          {"Cookie: glasshouse-session=good"},
			"token in other cookies":           {"Cookie: Authorization=Bearer good; token=good"},
			"headers of a proxy":               {"X-Forwarded-User: good", "X-Remote-User: good"},
			"empty cookie":                     {"Cookie: glasshouse-session="},
			"many cookies":                     {"Cookie: " + strings.Repeat("glasshouse-session=x; ", 100)},
			"access token header of a proxy":   {"X-Forwarded-Access-Token: good"},
		} {
			if got := identifiedUser(t, a, request(t, headers...), status.Unauthenticated); got != "" {
				t.Errorf("%s: got user %q, want none", name, got)
			}
		}
		if n := s.takeReviewCount(); n != 0 || log.Len() > 0 {
			t.Errorf("got %d reviews and log %q, want none", n, log)
		}
		for _, headers := range []string{
			"Authorization: Bearer good", "Authorization: bearer good", "Authorization: BEARER  good ",
		} {
			if got := identifiedUser(t, a, request(t, headers), status.Unauthenticated); got != "good" {
				t.Errorf("%s: got user %q, want good", headers, got)
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
			t.Errorf("within 10 s: got user %q, want good with one review", got)
		}
		s.change(func() { s.users = nil })
		<-time.After(2 * time.Second)
		if got := get("good", status.Unauthenticated); got != "" || s.takeReviewCount() != 1 {
			t.Errorf("after 11 s: got user %q, want none with a new review", got)
		}
		get("bad", status.Unauthenticated)
		get("bad", status.Unauthenticated)
		if n := s.takeReviewCount(); n != 2 {
			t.Errorf("got %d reviews for an invalid token sent twice, want 2", n)
		}
		s.change(func() { s.users, s.unavailable = users("good"), true })
		get("good", status.Unavailable)
		s.change(func() { s.unavailable = false })
		if got := get("good", 0); got != "good" {
			t.Errorf("when the API server is available again: got user %q, want good", got)
		}
		// Make the API server unavailable. A cached review is still used until it expires.
		s.change(func() { s.unavailable = true })
		if got := get("good", 0); got != "good" {
			t.Errorf("within the cache TTL: got user %q, want good", got)
		}
		<-time.After(10 * time.Second)
		if got := get("good", status.Unavailable); got != "" {
			t.Errorf("while the API server is unavailable: got user %q, want none", got)
		}
		if strings.Contains(log.String(), "good") || !strings.Contains(log.String(), "could not be reviewed") {
			t.Errorf("log is %q, want the reason without the token", log)
		}
	})
}

// Each combination of a token and audiences has its own review.
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
					t.Errorf("token %q without an audience: got user %q", token, got)
				}
			}
			if got := identifiedUser(t, audienceB, bearer(t, "t"), status.Unauthenticated); got != "t for b" {
				t.Errorf("token with audience b: got user %q, want \"t for b\"", got)
			}
			if got := identifiedUser(t, audiencesBC, bearer(t, "t"), status.Unauthenticated) + identifiedUser(
				t, audienceB, bearer(t, "tab"), status.Unauthenticated,
			) + identifiedUser(t, withoutAudience, request(t), status.Unauthenticated); got != "" {
				t.Errorf("tokens for other audiences: got users %q, want none", got)
			}
		}
	})
}

// Concurrent callers with the same token share one review. The review continues if the first caller is canceled.
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
					t.Errorf("got user %q, want good", got)
				}
			})
		}
		callers.Wait()
		if n := s.takeReviewCount(); n != 1 {
			t.Errorf("got %d reviews for 50 concurrent requests, want 1", n)
		}
		start := time.Now()
		for i := range 64 {
			callers.Go(func() { identifiedUser(t, a, bearer(t, fmt.Sprint("t", i)), 0) })
		}
		callers.Wait()
		if took := time.Since(start); took != 4*time.Second {
			t.Errorf("64 reviews of 1 s each took %s, want 4 s (16 at a time)", took)
		}
	})
}

// The number of cached token reviews is limited. The newest reviews stay in the cache. Refusals do not replace them.
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
			t.Errorf("%d of the last 1,000 tokens were reviewed again, want 0", n)
		}
		identifiedUser(t, a, bearer(t, name(0)), 0)
		if n := s.takeReviewCount(); n != 1 {
			t.Error("the first of 1,100 tokens is still cached")
		}
		for i := range 1100 {
			identifiedUser(t, a, bearer(t, fmt.Sprint("refused", i)), status.Unauthenticated)
		}
		s.takeReviewCount()
		identifiedUser(t, a, bearer(t, name(1099)), 0)
		if n := s.takeReviewCount(); n != 0 {
			t.Error("an accepted token was reviewed again after 1,100 refusals")
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
			t.Fatalf("got identity %+v, error %v; want it to expire in 2 s", i, err)
		}
		identityCtx, done := i.Context(t.Context())
		defer done()
		<-identityCtx.Done()
		if got := identifiedUser(t, a, bearer(t, token), status.Unauthenticated); got != "" {
			t.Errorf("expired token: got user %q, want none", got)
		}
	})
}
