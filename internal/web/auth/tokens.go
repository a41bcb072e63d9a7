package auth

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

const (
	// cacheTTL is how long the result of a token review is cached.
	cacheTTL = 10 * time.Second
	// maxCached is the maximum number of cached token reviews.
	maxCached = 1000
	// maxInFlight is the maximum number of concurrent token reviews.
	maxInFlight = 16
	// maxToken is the maximum length of a token in bytes. Longer tokens are refused without a review.
	maxToken = 16 << 10
)

type tokenReview struct {
	user      *authz.User
	expires   time.Time
	startedAt time.Time // When the review was sent to the API server.
}

// pendingReview is a token review in flight. All callers with the same token wait for it.
type pendingReview struct {
	done   chan struct{}
	result *tokenReview
	err    error
}

// tokens sends token reviews to the API server. It caches successful reviews, but no refusals.
type tokens struct {
	reviewToken func(ctx context.Context, token string, audiences []string) (*authz.User, error)
	audiences   []string
	slots       chan struct{} // Limits concurrent reviews to maxInFlight.

	mu      sync.Mutex
	cache   map[hash]*tokenReview
	pending map[hash]*pendingReview
}

func newTokens(reviewToken func(context.Context, string, []string) (*authz.User, error), audiences []string) *tokens {
	return &tokens{
		reviewToken: reviewToken, audiences: audiences,
		slots: make(chan struct{}, maxInFlight), cache: make(map[hash]*tokenReview),
		pending: make(map[hash]*pendingReview),
	}
}

func (t *tokens) review(ctx context.Context, token string) (*tokenReview, error) {
	key := t.keyOf(token)
	t.mu.Lock()
	cached := t.cache[key]
	r := t.pending[key]
	leader := r == nil
	switch {
	case cached != nil && time.Since(cached.startedAt) < cacheTTL && time.Now().Before(cached.expires):
		t.mu.Unlock()
		return cached, nil
	case leader:
		r = &pendingReview{done: make(chan struct{}), err: errors.New("the review of a token was aborted")}
		t.pending[key] = r
	}
	t.mu.Unlock()
	if leader {
		// The review continues after ctx ends, because other callers with this token can wait for it.
		t.runReview(context.WithoutCancel(ctx), key, token, r)
	}
	select {
	case <-r.done:
		return r.result, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (t *tokens) runReview(ctx context.Context, key hash, token string, r *pendingReview) {
	defer func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.pending, key)
		delete(t.cache, key)
		if r.err == nil {
			t.storeLocked(key, r.result)
		}
		close(r.done)
	}()
	t.slots <- struct{}{}
	defer func() { <-t.slots }()
	startedAt := time.Now()
	user, err := t.reviewToken(ctx, token, t.audiences)
	if err != nil {
		r.err = err
		return
	}
	review := &tokenReview{user: user, expires: expiryOf(token, startedAt), startedAt: startedAt}
	if !time.Now().Before(review.expires) {
		r.err = status.NotLoggedIn("The token has expired.")
		return
	}
	r.result, r.err = review, nil
}

// storeLocked caches a review. If the cache is full, it removes expired reviews, or else the oldest.
func (t *tokens) storeLocked(key hash, review *tokenReview) {
	if len(t.cache) >= maxCached {
		var oldest hash
		at := review.startedAt
		for k, other := range t.cache {
			if time.Since(other.startedAt) >= cacheTTL {
				delete(t.cache, k)
			} else if !other.startedAt.After(at) {
				oldest, at = k, other.startedAt
			}
		}
		if len(t.cache) >= maxCached {
			delete(t.cache, oldest)
		}
	}
	t.cache[key] = review
}

func (t *tokens) keyOf(token string) hash {
	sum := sha256.New()
	for _, part := range append([]string{token}, t.audiences...) {
		sum.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		sum.Write([]byte(part))
	}
	return hash(sum.Sum(nil))
}

func tokenOf(headers []string) (string, error) {
	if len(headers) != 1 {
		return "", status.NotLoggedIn("There are %d Authorization headers; send one.", len(headers))
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", status.NotLoggedIn("The Authorization header must be Bearer and a token.")
	}
	return checkToken(token)
}

// checkToken trims a token. It refuses a text that cannot be a token, so that the API server need not review it.
func checkToken(token string) (string, error) {
	token = strings.TrimSpace(token)
	switch {
	case token == "":
		return "", status.NotLoggedIn("The token is missing; create one with kubectl create token.")
	case len(token) > maxToken:
		return "", status.NotLoggedIn("The token has %d bytes, more than the maximum of %d.", len(token),
			maxToken)
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", status.NotLoggedIn("The token contains characters that no token has; copy it again.")
	}
	return token, nil
}

// expiryOf returns the expiry of a token. The API server has already verified the signature.
func expiryOf(token string, at time.Time) time.Time {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return at.Add(defaultLifetime)
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return at.Add(defaultLifetime)
	}
	var claims struct{ Exp *json.Number }
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&claims); err != nil || claims.Exp == nil {
		return at.Add(defaultLifetime)
	}
	seconds, err := claims.Exp.Float64()
	if err != nil || math.IsNaN(seconds) || seconds < 0 || seconds > 1<<40 {
		return at.Add(defaultLifetime)
	}
	return time.Unix(int64(seconds), 0)
}
