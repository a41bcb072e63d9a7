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

	"glasshouse/internal/watch"
)

const (
	// keptFor is how long the review of a token is cached.
	keptFor = 10 * time.Second
	// maxKept is the maximum number of cached reviews.
	maxKept = 1000
	// maxAsking is the maximum number of reviews in flight.
	maxAsking = 16
	// maxToken is the maximum length of a token that is reviewed, in bytes.
	maxToken = 16 << 10
)

// accepted is the result of the review of a token that the API server accepts.
type accepted struct {
	user    *watch.User
	expires time.Time
	at      time.Time // When the review began.
}

// review is a review in flight. All callers with the same token wait for it.
type review struct {
	done chan struct{}
	is   *accepted
	err  error
}

// tokens reviews tokens by the API server. It caches reviews by the hash of the token and the audiences. It does not
// cache refusals.
type tokens struct {
	whoIs     func(ctx context.Context, token string, audiences []string) (*watch.User, error)
	audiences []string
	turns     chan struct{} // A semaphore of maxAsking slots.

	mu     sync.Mutex
	kept   map[hash]*accepted
	asking map[hash]*review
}

func newTokens(whoIs func(context.Context, string, []string) (*watch.User, error), audiences []string) *tokens {
	return &tokens{
		whoIs: whoIs, audiences: audiences, turns: make(chan struct{}, maxAsking), kept: make(map[hash]*accepted),
		asking: make(map[hash]*review),
	}
}

// of returns the review of a token.
func (t *tokens) of(ctx context.Context, token string) (*accepted, error) {
	key := t.keyOf(token)
	t.mu.Lock()
	is := t.kept[key]
	r := t.asking[key]
	mine := r == nil
	switch {
	case is != nil && time.Since(is.at) < keptFor && time.Now().Before(is.expires):
		t.mu.Unlock()
		return is, nil
	case mine:
		r = &review{done: make(chan struct{}), err: errors.New("the review of a token was aborted")}
		t.asking[key] = r
	}
	t.mu.Unlock()
	if mine {
		// Not canceled with ctx, because other callers wait for it. WhoIs takes some seconds at most.
		t.ask(context.WithoutCancel(ctx), key, token, r)
	}
	select {
	case <-r.done:
		return r.is, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (t *tokens) ask(ctx context.Context, key hash, token string, r *review) {
	defer func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.asking, key)
		delete(t.kept, key)
		if r.err == nil {
			t.keepLocked(key, r.is)
		}
		close(r.done)
	}()
	t.turns <- struct{}{}
	defer func() { <-t.turns }()
	at := time.Now()
	user, err := t.whoIs(ctx, token, t.audiences)
	if err != nil {
		r.err = err
		return
	}
	is := &accepted{user: user, expires: expiryOf(token, at), at: at}
	if !time.Now().Before(is.expires) {
		r.err = watch.NotLoggedIn("The token has expired.")
		return
	}
	r.is, r.err = is, nil
}

// keepLocked caches a review. If the cache is full, it removes the expired reviews, and then the oldest one.
func (t *tokens) keepLocked(key hash, is *accepted) {
	if len(t.kept) >= maxKept {
		var oldest hash
		at := is.at
		for k, other := range t.kept {
			if time.Since(other.at) >= keptFor {
				delete(t.kept, k)
			} else if !other.at.After(at) {
				oldest, at = k, other.at
			}
		}
		if len(t.kept) >= maxKept {
			delete(t.kept, oldest)
		}
	}
	t.kept[key] = is
}

// keyOf returns the cache key of a review: a hash of everything that the review depends on.
func (t *tokens) keyOf(token string) hash {
	sum := sha256.New()
	for _, part := range append([]string{token}, t.audiences...) {
		sum.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		sum.Write([]byte(part))
	}
	return hash(sum.Sum(nil))
}

// tokenOf returns the token of an Authorization header.
func tokenOf(given []string) (string, error) {
	if len(given) != 1 {
		return "", watch.NotLoggedIn("There are %d Authorization headers; send one.", len(given))
	}
	scheme, token, _ := strings.Cut(given[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", watch.NotLoggedIn("The Authorization header must be Bearer and a token.")
	}
	return checkToken(token)
}

// checkToken refuses a string that cannot be a token, without a review.
func checkToken(token string) (string, error) {
	token = strings.TrimSpace(token)
	switch {
	case token == "":
		return "", watch.NotLoggedIn("The token is missing; create one with kubectl create token.")
	case len(token) > maxToken:
		return "", watch.NotLoggedIn("The token has %d bytes, more than the maximum of %d.", len(token),
			maxToken)
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", watch.NotLoggedIn("The token contains characters that no token has; copy it again.")
	}
	return token, nil
}

// expiryOf returns when a token expires that the API server has accepted at the time at. For a JWT with the claim exp,
// that is the time in the claim. For other tokens it is the duration longest after at. The API server has checked the
// signature; this function does not.
func expiryOf(token string, at time.Time) time.Time {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return at.Add(longest)
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return at.Add(longest)
	}
	var claims struct{ Exp *json.Number }
	decode := json.NewDecoder(bytes.NewReader(text))
	decode.UseNumber()
	if err := decode.Decode(&claims); err != nil || claims.Exp == nil {
		return at.Add(longest)
	}
	seconds, err := claims.Exp.Float64()
	if err != nil || math.IsNaN(seconds) || seconds < 0 || seconds > 1<<40 {
		return at.Add(longest)
	}
	return time.Unix(int64(seconds), 0)
}
