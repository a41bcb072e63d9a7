// Package auth identifies the client that sends a request. It does not decide which data a user is allowed to see.
//
// If the package cannot identify a client, it returns a *status.Problem. Errors and log messages never contain
// credentials. An Authority is safe for concurrent use. Each part of it has one mutex, which is never locked during a
// wait.
package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/signal"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"

	"golang.org/x/sync/errgroup"

	"github.com/glasshouse-project/glasshouse/internal/watch"
)

// Values of Options.Mode. They define how an Authority identifies users.
const (
	None           = "none"            // Users are not identified; allowed only on a loopback address.
	SharedIdentity = "shared-identity" // No identification of users; on any address.
	Token          = "token"           // A bearer token that the API server accepts, or a session that starts with one.
	Proxy          = "proxy"           // Headers in which a trusted proxy sends the user.
	OIDC           = "oidc"            // A session that starts with an ID token of an OpenID provider.
)

// Modes returns all valid values of Options.Mode.
func Modes() []string { return []string{None, Token, OIDC, Proxy, SharedIdentity} }

// Options configures an Authority.
type Options struct {
	Mode string // One of the values that Modes returns.
	Base string // Path prefix of all pages, such as "/glasshouse"; can be empty.
	// Audiences are the accepted audiences of tokens; empty means the audience of the API server.
	Audiences []string
	// ReviewToken returns the user of a token; see watch.Cluster.ReviewToken.
	ReviewToken func(ctx context.Context, token string, audiences []string) (*authz.User, error)
	Proxy       ProxyOptions
	OIDC        OIDCOptions
	Log         *slog.Logger
}

// An Authority identifies the user who sends a request. With a nil Authority, requests have the program's identity.
type Authority struct {
	mode     string
	base     string
	tokens   *tokens   // Nil if bearer tokens are not accepted.
	sessions *sessions // Nil if there is no login.
	proxy    *proxy    // Nil if no proxy is trusted.
	provider *provider // Nil if there is no OpenID provider.
	log      *slog.Logger
}

// New returns an Authority. The caller must call Run, which checks login sessions regularly, and ends expired ones.
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

// Identify returns the identity of a client. It removes headers with credentials or a user name, but keeps cookies.
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

// Strip removes the headers with credentials or a user name from a request. Cookies stay.
func (a *Authority) Strip(r *http.Request) {
	if a == nil {
		strip(r, nil)
		return
	}
	strip(r, a.proxy)
}

// strip removes the Authorization header and the proxy's identity headers from a request.
func strip(r *http.Request, p *proxy) {
	for name := range r.Header {
		if name == "Authorization" || p.ownsHeader(name) {
			delete(r.Header, name)
		}
	}
}

// identifyBearer returns the user of a bearer token. An invalid token is an error even with a valid session cookie.
func (a *Authority) identifyBearer(ctx context.Context, headers []string) (Identity, error) {
	if a.tokens == nil {
		return Identity{}, status.NotLoggedIn("This server accepts no bearer tokens; log in on the page.")
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

func (a *Authority) identity(l *login, cookie bool) Identity {
	i := Identity{Viewer: watch.Viewer{User: l.user}, Expires: l.expires, Ended: l.ended, Cookie: cookie}
	if a.sessions != nil {
		i.acquire = func() func() { return a.sessions.acquire(l) }
	}
	return i
}

func (a *Authority) reviewToken(ctx context.Context, token string) (*tokenReview, error) {
	review, err := a.tokens.review(ctx, token)
	if p, ok := errors.AsType[*status.Problem](err); ok {
		// Only log why the token could not be reviewed, because unidentified clients must not see the cause.
		if p.Cause == status.Unavailable {
			a.log.WarnContext(ctx, "a token could not be reviewed", "error", err)
		}
		return nil, p
	}
	return review, err
}

// recheck reviews the token of a login again. It ends the login if the API server refuses the token.
func (a *Authority) recheck(ctx context.Context, l *login) error {
	if l.token == "" {
		return nil
	}
	review, err := a.reviewToken(ctx, l.token)
	if err == nil && !l.user.Same(review.user) {
		err = status.NotLoggedIn("Your identity in the cluster has changed since you logged in; log in again.")
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

// Run ends expired sessions, and regularly reviews the tokens of logins in use, until ctx ends.
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
		_ = rechecks.Wait()
	}
	return nil
}

// Provider returns the host of the OpenID provider for logins. It is empty if there is no provider.
func (a *Authority) Provider() string {
	if a == nil || a.provider == nil {
		return ""
	}
	return a.provider.host()
}

// HasLogin reports whether users can log in to this server, with a token or at an OpenID provider.
func (a *Authority) HasLogin() bool { return a != nil && a.sessions != nil }

// Audience returns the first accepted audience of tokens. It is empty if tokens must be for the API server itself.
func (a *Authority) Audience() string {
	if a == nil || a.tokens == nil || len(a.tokens.audiences) == 0 {
		return ""
	}
	return a.tokens.audiences[0]
}

// Banner returns a notice to show on all pages. It is empty in all modes except SharedIdentity.
func (a *Authority) Banner() string {
	if a.Mode() != SharedIdentity {
		return ""
	}
	return "Everyone who opens this page sees what the program's service account may see."
}
