// Package auth finds out who sends a request: nobody is asked, or a bearer token
// says so, a session that began with one or with an OpenID provider's word, or a
// proxy that is trusted. What somebody may see is not decided here.
//
// Whoever is not known gets a *watch.Problem. No error, and nothing that is
// logged, has a credential in it; sessions and reviews are held under hashes of
// theirs. An Authority may be used by many goroutines. Each of its parts has one
// lock, under which nothing waits.
package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"glasshouse/internal/watch"
)

// The ways to find out who sends a request.
const (
	None           = "none"            // Nobody is asked: for a listener on loopback.
	SharedIdentity = "shared-identity" // Nobody is asked, wherever it listens.
	Token          = "token"           // A bearer token that the API server knows, or a session that began with one.
	Proxy          = "proxy"           // A proxy says it.
	OIDC           = "oidc"            // A session that began with an OpenID provider's word.
)

// Modes are all of them.
func Modes() []string { return []string{None, Token, OIDC, Proxy, SharedIdentity} }

// Options are what an Authority is made of.
type Options struct {
	Mode string
	Base string // The path that all pages are below, as "/glasshouse"; empty for none.
	// Audiences are those of which a token must be for one; without any it must be
	// for the API server itself.
	Audiences []string
	// WhoIs says whose a token is, as watch.Cluster.WhoIs does.
	WhoIs func(ctx context.Context, token string, audiences []string) (*watch.User, error)
	Proxy ProxyOptions
	OIDC  OIDCOptions
	Log   *slog.Logger
}

// An Authority finds out who sends a request. The nil Authority asks nobody: it
// is for a listener on loopback.
type Authority struct {
	mode     string
	base     string
	tokens   *tokens   // Nil where tokens are not taken.
	sessions *sessions // Nil where nobody logs in.
	proxy    *proxy    // Nil where no proxy is asked.
	provider *provider // Nil where no OpenID provider is asked.
	log      *slog.Logger
}

// New makes an Authority. Run keeps its sessions honest.
func New(options Options) (*Authority, error) {
	a := &Authority{mode: options.Mode, base: options.Base, log: options.Log}
	switch options.Mode {
	case None, SharedIdentity:
	case Token:
		a.tokens = newTokens(options.WhoIs, options.Audiences)
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
		return nil, fmt.Errorf("%q is no way to find out who asks; there are %q", options.Mode, Modes())
	}
	return a, nil
}

// Mode is how the Authority finds out who sends a request.
func (a *Authority) Mode() string {
	if a == nil {
		return None
	}
	return a.mode
}

// Identify returns who has sent a request, and takes what said so out of it, but
// for cookies.
func (a *Authority) Identify(r *http.Request) (Identity, error) {
	if a == nil || a.mode == None || a.mode == SharedIdentity {
		strip(r, nil)
		return Identity{Viewer: watch.Viewer{Program: true}}, nil
	}
	defer strip(r, a.proxy)
	if a.proxy != nil {
		return a.proxy.identify(r)
	}
	if given := r.Header.Values("Authorization"); len(given) > 0 {
		return a.bearer(r.Context(), given)
	}
	return a.session(r)
}

// Strip takes out of a request what would say who has sent it, but for cookies, of
// whom something else says so.
func (a *Authority) Strip(r *http.Request) {
	if a == nil {
		strip(r, nil)
		return
	}
	strip(r, a.proxy)
}

// strip takes credentials out of a request.
func strip(r *http.Request, p *proxy) {
	for name := range r.Header {
		if name == "Authorization" || p.mine(name) {
			delete(r.Header, name)
		}
	}
}

// bearer is who has a token. None is passed over for a cookie: a request has one
// sender.
func (a *Authority) bearer(ctx context.Context, given []string) (Identity, error) {
	if a.tokens == nil {
		return Identity{}, watch.NotLoggedIn("This server takes no bearer tokens; log in on the page.")
	}
	token, err := tokenOf(given)
	if err != nil {
		return Identity{}, err
	}
	is, err := a.reviewed(ctx, token)
	if err != nil {
		return Identity{}, err
	}
	return a.identity(newLogin(is.user, token, is.expires, is.at), false), nil
}

// session is who has a session.
func (a *Authority) session(r *http.Request) (Identity, error) {
	l, err := a.sessions.of(r)
	if err != nil {
		return Identity{}, err
	}
	if a.sessions.isDue(l) {
		if err := a.renew(r.Context(), l); err != nil {
			return Identity{}, err
		}
	}
	return a.identity(l, true), nil
}

// identity is that of a login.
func (a *Authority) identity(l *login, cookie bool) Identity {
	i := Identity{Viewer: watch.Viewer{User: l.user}, Expires: l.expires, Ended: l.ended, Cookie: cookie}
	if a.sessions != nil {
		i.hold = func() func() { return a.sessions.hold(l) }
	}
	return i
}

// reviewed asks whose a token is. Why that cannot be found out is logged: it is
// not for who is not known.
func (a *Authority) reviewed(ctx context.Context, token string) (*accepted, error) {
	is, err := a.tokens.of(ctx, token)
	if p, ok := errors.AsType[*watch.Problem](err); ok {
		if p.Cause == watch.Unavailable {
			a.log.WarnContext(ctx, "a login could not be checked", "error", err)
		}
		return nil, p
	}
	return is, err
}

// renew asks again for the user of a login, and ends it where the API server no
// longer knows them, or knows them as others. Where it does not answer the login
// stays, until patience is at an end.
func (a *Authority) renew(ctx context.Context, l *login) error {
	if l.token == "" {
		return nil
	}
	is, err := a.reviewed(ctx, l.token)
	if err == nil && !l.user.Same(is.user) {
		err = watch.NotLoggedIn("Who you are to the cluster has changed since you logged in; log in again.")
	}
	switch p := new(watch.Problem); {
	case err == nil:
		a.sessions.renewed(l, is.at)
	case errors.As(err, &p) && p.Cause == watch.Unauthenticated:
		a.sessions.end(l)
	case a.sessions.unanswered(l) < patience:
		return nil
	}
	return err
}

// Run looks after those who are logged in until ctx ends: whose login is in use
// is asked about again, and who has been away for too long goes.
func (a *Authority) Run(ctx context.Context) error {
	if a == nil || a.sessions == nil {
		return nil
	}
	for range watch.Ticks(ctx, time.Second) {
		var asking errgroup.Group
		asking.SetLimit(maxAsking)
		for _, l := range a.sessions.due() {
			asking.Go(func() error {
				if a.renew(ctx, l) != nil && ctx.Err() == nil {
					a.sessions.end(l)
				}
				return nil
			})
		}
		_ = asking.Wait() // Nothing there fails.
	}
	return nil
}

// Provider is the OpenID provider at which people log in, empty for none.
func (a *Authority) Provider() string {
	if a == nil || a.provider == nil {
		return ""
	}
	return a.provider.host()
}

// LogsIn reports whether people log in here.
func (a *Authority) LogsIn() bool { return a != nil && a.sessions != nil }

// Audience is one that a token may be for, empty for the API server's own.
func (a *Authority) Audience() string {
	if a == nil || a.tokens == nil || len(a.tokens.audiences) == 0 {
		return ""
	}
	return a.tokens.audiences[0]
}

// Banner is what everybody is to know who looks.
func (a *Authority) Banner() string {
	if a.Mode() != SharedIdentity {
		return ""
	}
	return "Everybody who opens this sees what the program's service account may see."
}
