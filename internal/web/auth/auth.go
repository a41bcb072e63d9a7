// Package auth identifies the sender of a request. Depending on the mode, that is the program itself, or the user of a
// bearer token, a login session or a trusted proxy. A login session starts with a token or with an ID token of an
// OpenID provider. Package auth does not decide which data a user is allowed to see.
//
// A request that cannot be identified gets a *status.Problem. Errors and log messages never contain credentials.
// Sessions and reviews are stored under hashes of their credentials. An Authority is safe for concurrent use. Each of
// its parts has one lock, and no goroutine waits for anything else while it has this lock.
package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"glasshouse/internal/watch/authz"
	"glasshouse/internal/watch/signal"
	"glasshouse/internal/watch/status"

	"golang.org/x/sync/errgroup"

	"glasshouse/internal/watch"
)

// The modes in which an Authority identifies the sender of a request.
const (
	None           = "none"            // No identification, for a listener on loopback.
	SharedIdentity = "shared-identity" // No identification, on any listener.
	Token          = "token"           // A bearer token that the API server accepts, or a session that started with one.
	Proxy          = "proxy"           // A trusted proxy sends the user in headers.
	OIDC           = "oidc"            // A session that started with an ID token of an OpenID provider.
)

// Modes returns all modes.
func Modes() []string { return []string{None, Token, OIDC, Proxy, SharedIdentity} }

// Options configures an Authority.
type Options struct {
	Mode string // One of Modes.
	Base string // The path prefix of all pages, such as "/glasshouse"; empty if there is no prefix.
	// Audiences are the accepted audiences of tokens. A token must be for at least one of them. If Audiences is empty, a
	// token must be for the API server itself.
	Audiences []string
	// ReviewToken returns the user of a token, see watch.Cluster.ReviewToken.
	ReviewToken func(ctx context.Context, token string, audiences []string) (*authz.User, error)
	Proxy       ProxyOptions
	OIDC        OIDCOptions
	Log         *slog.Logger
}

// An Authority identifies the sender of a request. The nil Authority accepts all requests without identification; it is
// for a listener on loopback.
type Authority struct {
	mode     string
	base     string
	tokens   *tokens   // Nil if tokens are not accepted.
	sessions *sessions // Nil if there is no login.
	proxy    *proxy    // Nil if no proxy is trusted.
	provider *provider // Nil if there is no OpenID provider.
	log      *slog.Logger
}

// New returns an Authority. Run must be called to recheck its sessions.
func New(options Options) (*Authority, error) {
	a := &Authority{mode: options.Mode, base: options.Base, log: options.Log}
	switch options.Mode {
	case None, SharedIdentity:
	case Token:
		a.tokens = newTokens(options.ReviewToken, options.Audiences)
		a.sessions = newSessions()
	case Proxy:
		proxy, err := newProxy(options.Proxy)
		if err != nil {
			return nil, err
		}
		a.proxy = proxy
	case OIDC:
		provider, err := newProvider(options.OIDC)
		if err != nil {
			return nil, err
		}
		a.provider, a.sessions = provider, newSessions()
	default:
		return nil, fmt.Errorf("unknown mode %q; the modes are %q", options.Mode, Modes())
	}
	return a, nil
}

// Mode returns the mode of the Authority.
func (a *Authority) Mode() string {
	if a == nil {
		return None
	}
	return a.mode
}

// Identify returns the sender of a request. It removes the identifying headers from the request; cookies stay.
func (a *Authority) Identify(r *http.Request) (Identity, error) {
	if a == nil || a.mode == None || a.mode == SharedIdentity {
		strip(r, nil)
		return Identity{Viewer: watch.Viewer{Program: true}}, nil
	}
	defer strip(r, a.proxy)
	if a.proxy != nil {
		return a.proxy.identify(r)
	}
	if headers := r.Header.Values("Authorization"); len(headers) > 0 {
		return a.identifyBearer(r.Context(), headers)
	}
	return a.identifySession(r)
}

// Strip removes the identifying headers from a request whose sender was identified in another way. Cookies stay.
func (a *Authority) Strip(r *http.Request) {
	if a == nil {
		strip(r, nil)
		return
	}
	strip(r, a.proxy)
}

// strip removes the Authorization header from a request, and the headers that only a proxy is allowed to set.
func strip(r *http.Request, p *proxy) {
	for name := range r.Header {
		if name == "Authorization" || p.ownsHeader(name) {
			delete(r.Header, name)
		}
	}
}

// identifyBearer returns the identity of a bearer token. If the token is invalid, the cookie is not used instead,
// because each request has exactly one sender.
func (a *Authority) identifyBearer(ctx context.Context, headers []string) (Identity, error) {
	if a.tokens == nil {
		return Identity{}, watch.NotLoggedIn("This server accepts no bearer tokens; log in on the page.")
	}
	token, err := tokenOf(headers)
	if err != nil {
		return Identity{}, err
	}
	review, err := a.reviewToken(ctx, token)
	if err != nil {
		return Identity{}, err
	}
	return a.identity(newLogin(review.user, token, review.expires, review.startedAt), false), nil
}

// identifySession returns the identity of the login session that the cookie names.
func (a *Authority) identifySession(r *http.Request) (Identity, error) {
	l, err := a.sessions.find(r)
	if err != nil {
		return Identity{}, err
	}
	if a.sessions.isDue(l) {
		if err := a.recheck(r.Context(), l); err != nil {
			return Identity{}, err
		}
	}
	return a.identity(l, true), nil
}

// identity returns the identity of the user of a login. cookie is true if a cookie identified the login.
func (a *Authority) identity(l *login, cookie bool) Identity {
	i := Identity{Viewer: watch.Viewer{User: l.user}, Expires: l.expires, Ended: l.ended, Cookie: cookie}
	if a.sessions != nil {
		i.acquire = func() func() { return a.sessions.acquire(l) }
	}
	return i
}

// reviewToken returns the API server's review of a token. If the review is unavailable, the reason is logged, because
// an unidentified client must not see it.
func (a *Authority) reviewToken(ctx context.Context, token string) (*tokenReview, error) {
	review, err := a.tokens.review(ctx, token)
	if p, ok := errors.AsType[*status.Problem](err); ok {
		if p.Cause == status.Unavailable {
			a.log.WarnContext(ctx, "a token could not be reviewed", "error", err)
		}
		return nil, p
	}
	return review, err
}

// recheck reviews the token of a login again. It ends the login if the API server does not accept the token any more,
// or returns another user for it. If the API server does not respond, the login stays valid until reviewGracePeriod has
// passed.
func (a *Authority) recheck(ctx context.Context, l *login) error {
	if l.token == "" {
		return nil
	}
	review, err := a.reviewToken(ctx, l.token)
	if err == nil && !l.user.Same(review.user) {
		err = watch.NotLoggedIn("Your identity in the cluster has changed since you logged in; log in again.")
	}
	switch p := new(status.Problem); {
	case err == nil:
		a.sessions.recordReview(l, review.startedAt)
	case errors.As(err, &p) && p.Cause == status.Unauthenticated:
		a.sessions.end(l)
	case a.sessions.recordFailedReview(l) < reviewGracePeriod:
		return nil
	}
	return err
}

// Run maintains the logins until ctx ends. It rechecks the logins that are in use, and ends sessions that have expired.
func (a *Authority) Run(ctx context.Context) error {
	if a == nil || a.sessions == nil {
		return nil
	}
	for range signal.Ticks(ctx, time.Second) {
		var rechecks errgroup.Group
		rechecks.SetLimit(maxInFlight)
		for _, l := range a.sessions.due() {
			rechecks.Go(func() error {
				if a.recheck(ctx, l) != nil && ctx.Err() == nil {
					a.sessions.end(l)
				}
				return nil
			})
		}
		_ = rechecks.Wait() // The functions return no errors.
	}
	return nil
}

// Provider returns the host of the OpenID provider at which users log in; empty if there is no provider.
func (a *Authority) Provider() string {
	if a == nil || a.provider == nil {
		return ""
	}
	return a.provider.host()
}

// HasLogin reports whether users can log in at this server.
func (a *Authority) HasLogin() bool { return a != nil && a.sessions != nil }

// Audience returns the first accepted audience of tokens. It is empty if tokens must be for the API server itself.
func (a *Authority) Audience() string {
	if a == nil || a.tokens == nil || len(a.tokens.audiences) == 0 {
		return ""
	}
	return a.tokens.audiences[0]
}

// Banner returns the notice that all pages show; empty if there is no notice.
func (a *Authority) Banner() string {
	if a.Mode() != SharedIdentity {
		return ""
	}
	return "Everyone who opens this page sees what the program's service account may see."
}
