package auth

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

// stateCookie is the name of the cookie with an unfinished login. It is SameSite=Lax, because browsers send no
// SameSite=Strict cookie after the redirect from the provider.
const stateCookie = "glasshouse-login"

// BeginLogin starts a login at the OpenID provider, and returns the provider's URL. After the login, the browser
// opens returnPath.
func (a *Authority) BeginLogin(
	w http.ResponseWriter, r *http.Request, returnPath string,
) (address string, err error) {
	// Origin contains the address at which the browser reaches this server, even behind a proxy: web.Boundary has already
	// rejected requests from pages of other sites.
	origin := r.Header.Get("Origin")
	switch {
	case origin != "":
	case OverTLS(r):
		origin = "https://" + r.Host
	default:
		origin = "http://" + r.Host
	}
	address, encrypted, err := a.provider.startLogin(r.Context(), origin+a.base+callbackPath, returnPath)
	if err != nil {
		return "", a.publicError(r.Context(), err)
	}
	a.setStateCookie(w, r, encrypted, int(providerLoginTimeout.Seconds()), OverTLS(r))
	return address, nil
}

// HandleCallback handles the provider's redirect back to this server. It starts a session, and returns the path to
// open.
func (a *Authority) HandleCallback(w http.ResponseWriter, r *http.Request) (returnPath string, err error) {
	encrypted := ""
	if cookies := r.CookiesNamed(CookieNameFor(stateCookie, r)); len(cookies) == 1 {
		encrypted = cookies[0].Value
	}
	l, state, err := a.provider.finish(r.Context(), encrypted, r.URL.Query())
	overTLS := OverTLS(r) || strings.HasPrefix(state.CallbackURL, "https://")
	a.setStateCookie(w, r, "", -1, overTLS)
	if err != nil {
		return state.ReturnPath, a.publicError(r.Context(), err)
	}
	a.startSession(w, r, l, overTLS)
	return state.ReturnPath, nil
}

// publicError returns the part of a provider's error that unidentified clients are allowed to see. It logs the
// complete error.
func (a *Authority) publicError(ctx context.Context, err error) error {
	p, ok := errors.AsType[*status.Problem](err)
	if !ok {
		p = status.Unavailablef("Login cannot be checked",
			"The OpenID provider is not available; try again in a moment.")
	}
	if p.Error() != err.Error() && ctx.Err() == nil {
		a.log.WarnContext(ctx, "a login at the OpenID provider failed", "error", err)
	}
	return p
}

func (a *Authority) setStateCookie(w http.ResponseWriter, r *http.Request, value string, age int, secure bool) {
	http.SetCookie(w, &http.Cookie{
		Name: CookieNameFor(stateCookie, r), Value: value, Path: a.base + "/login/", MaxAge: age,
		HttpOnly: true, Secure: secure, SameSite: http.SameSiteLaxMode,
	})
}
