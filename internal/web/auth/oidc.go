package auth

import (
	"context"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

const (
	// providerLoginTimeout is the maximum duration of a login at the OpenID provider.
	providerLoginTimeout = 10 * time.Minute
	// providerTimeout is the maximum duration of one request to the OpenID provider.
	providerTimeout = 10 * time.Second
	// callbackPath is the path to which the OpenID provider redirects browsers after a login. It is below the base
	// path.
	callbackPath = "/login/callback"
)

// OIDCOptions configures the trusted OpenID provider. The fields work like the kube-apiserver flags of the same
// names.
type OIDCOptions struct {
	Issuer        string
	ClientID      string
	ClientSecret  string // Empty for a public OAuth client.
	UsernameClaim string
	GroupsClaim   string // Empty if users have no groups.
	// UsernamePrefix is "-" for no prefix. If it is empty, user names start with the issuer and "#", or have no prefix
	// if UsernameClaim is "email".
	UsernamePrefix string
	GroupsPrefix   string
	Scopes         []string
	CA             *x509.CertPool // Certificate authorities for the provider; nil means those of the system.
}

// provider is the trusted OpenID provider, together with the unfinished logins of users at this provider.
type provider struct {
	OIDCOptions

	client *http.Client
	states *loginStates

	mu         sync.Mutex
	discovered *oidc.Provider
}

func newProvider(o OIDCOptions) (*provider, error) {
	u, err := url.Parse(o.Issuer)
	loopback := err == nil && slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, u.Hostname())
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !loopback):
		return nil, fmt.Errorf("the issuer %q is not an https URL", o.Issuer)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("the issuer must be a URL without user, query and fragment")
	case o.ClientID == "":
		return nil, errors.New("--oidc-client-id is missing")
	case o.UsernameClaim == "":
		return nil, errors.New("--oidc-username-claim is empty; set the claim with the user name, such as sub")
	}
	if o.UsernamePrefix == "" && o.UsernameClaim != "email" {
		o.UsernamePrefix = o.Issuer + "#"
	}
	if o.UsernamePrefix == "-" {
		o.UsernamePrefix = ""
	}
	if !slices.Contains(o.Scopes, oidc.ScopeOpenID) {
		o.Scopes = append([]string{oidc.ScopeOpenID}, o.Scopes...)
	}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{RootCAs: o.CA, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: providerTimeout, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true, MaxIdleConns: 4,
	}
	return &provider{
		OIDCOptions: o, client: &http.Client{Transport: transport, Timeout: providerTimeout}, states: newLoginStates(),
	}, nil
}

func (p *provider) discover(ctx context.Context) (*oidc.Provider, error) {
	p.mu.Lock()
	discovered := p.discovered
	p.mu.Unlock()
	if discovered != nil {
		return discovered, nil
	}
	discovered, err := oidc.NewProvider(ctx, p.Issuer)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.discovered = discovered
	return discovered, nil
}

func (p *provider) config(discovered *oidc.Provider, callbackURL string) *oauth2.Config {
	return &oauth2.Config{
		ClientID: p.ClientID, ClientSecret: p.ClientSecret, Endpoint: discovered.Endpoint(), RedirectURL: callbackURL,
		Scopes: p.Scopes,
	}
}

func (p *provider) startLogin(
	ctx context.Context, callbackURL, returnPath string,
) (address, encrypted string, err error) {
	discovered, err := p.discover(oidc.ClientContext(ctx, p.client))
	if err != nil {
		return "", "", err
	}
	w := newLoginState(callbackURL, returnPath)
	address = p.config(discovered, callbackURL).
		AuthCodeURL(w.State, oidc.Nonce(w.Nonce), oauth2.S256ChallengeOption(w.Verifier))
	return address, p.states.encrypt(w), nil
}

// finish verifies the provider's redirect, and gets the ID token. The parameter encrypted is the login state from the
// cookie.
func (p *provider) finish(ctx context.Context, encrypted string, query url.Values) (l *login, w loginState, err error) {
	w, err = p.states.decrypt(encrypted)
	if err != nil {
		return nil, w, err
	}
	state := w.State
	defer func() {
		if err != nil {
			p.states.forget(state)
		}
	}()
	if subtle.ConstantTimeCompare([]byte(w.State), []byte(query.Get("state"))) != 1 {
		return nil, loginState{}, status.NotLoggedIn("This browser did not start this login; log in again.")
	}
	if query.Get("error") != "" {
		return nil, w, status.NotLoggedIn("The provider refused the login: %.60q.", query.Get("error"))
	}
	ctx = oidc.ClientContext(ctx, p.client)
	discovered, err := p.discover(ctx)
	if err != nil {
		return nil, w, err
	}
	response, err := p.config(discovered, w.CallbackURL).
		Exchange(ctx, query.Get("code"), oauth2.VerifierOption(w.Verifier))
	if err != nil {
		return nil, w, exchangeError(err)
	}
	raw, _ := response.Extra("id_token").(string)
	token, err := discovered.Verifier(&oidc.Config{ClientID: p.ClientID}).Verify(ctx, raw)
	if err != nil {
		return nil, w, fmt.Errorf("%w: %w",
			status.NotLoggedIn("The ID token of the provider could not be verified; log in again."), err)
	}
	if subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(w.Nonce)) != 1 {
		return nil, w, status.NotLoggedIn("The ID token of the provider is for another login; log in again.")
	}
	user, err := p.userOf(token)
	if err != nil {
		return nil, w, err
	}
	return newLogin(user, "", token.Expiry, time.Now()), w, nil
}

// exchangeError keeps the provider's error code, but not the provider's text, because that text is not trusted.
func exchangeError(err error) error {
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok &&
		refused.Response.StatusCode < http.StatusInternalServerError {
		return fmt.Errorf("%w: the OpenID provider responds with status %d and error %.60q",
			status.NotLoggedIn("The provider does not accept this login; log in again."), refused.Response.StatusCode,
			refused.ErrorCode)
	} else if ok {
		return fmt.Errorf("the OpenID provider responds with status %d", refused.Response.StatusCode)
	}
	return err
}

func (p *provider) userOf(token *oidc.IDToken) (*authz.User, error) {
	var claims map[string]json.RawMessage
	if err := token.Claims(&claims); err != nil {
		return nil, fmt.Errorf("%w: %w", status.NotLoggedIn("The ID token of the provider cannot be read."), err)
	}
	user := &authz.User{Groups: []string{}}
	if err := json.Unmarshal(claims[p.UsernameClaim], &user.Name); err != nil || user.Name == "" {
		return nil, status.NotLoggedIn("The ID token has no user name in the claim %.60q.", p.UsernameClaim)
	}
	if verified, present := claims["email_verified"]; present && p.UsernameClaim == "email" && string(verified) != "true" {
		return nil, status.NotLoggedIn("The provider has not verified the email address.")
	}
	user.Name = p.UsernamePrefix + user.Name
	if text, hasGroups := claims[p.GroupsClaim]; hasGroups && p.GroupsClaim != "" {
		var group string
		if json.Unmarshal(text, &group) == nil {
			user.Groups = []string{group}
		} else if err := json.Unmarshal(text, &user.Groups); err != nil {
			return nil, status.NotLoggedIn("The claim %.60q must be a string or an array of strings.", p.GroupsClaim)
		}
	}
	for i := range user.Groups {
		user.Groups[i] = p.GroupsPrefix + user.Groups[i]
	}
	if err := checkUser(user); err != nil {
		return nil, err
	}
	user.Groups = append(user.Groups, authenticatedGroup)
	return user, nil
}

// host returns the provider's host and port in lower case. Pages show it as the provider's name.
func (p *provider) host() string {
	u, err := url.Parse(p.Issuer)
	if err != nil {
		return p.Issuer
	}
	return strings.ToLower(u.Host)
}
