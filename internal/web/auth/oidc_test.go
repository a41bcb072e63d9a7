package auth_test

import (
	"bytes"
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/web/auth"
)

// issuer is a fake OpenID provider whose responses a test can change.
type issuer struct {
	*httptest.Server

	t             *testing.T
	key           *rsa.PrivateKey
	makeToken     func(claims map[string]any) string // Creates the ID token; if nil, the method sign creates it.
	status        int                                // Status code of the token endpoint; 0 means 200.
	tokenRequests []url.Values
	nonce         string
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p := &issuer{t: t, key: key}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		p.writeJSON(w, map[string]any{
			"issuer": p.URL, "authorization_endpoint": p.URL + "/auth", "token_endpoint": p.URL + "/token",
			"jwks_uri":                              p.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256", "HS256", "none"},
		})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		p.writeJSON(w, map[string]any{"keys": []any{map[string]any{
			"kty": "RSA", "use": "sig", "alg": "RS256", "kid": "1", "n": base64URL(key.N.Bytes()),
			"e": base64URL(big.NewInt(int64(key.E)).Bytes()),
		}}})
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil {
			t.Error(err)
		}
		p.tokenRequests = append(p.tokenRequests, r.PostForm)
		if p.status != 0 {
			http.Error(w, `{"error":"invalid_grant","error_description":"text-that-must-stay-internal"}`, p.status)
			return
		}
		claims := map[string]any{
			"iss": p.URL, "aud": "glasshouse", "sub": "7", "email": "anna@example.com",
			"groups": []string{"dev", "ops"},
			"exp":    time.Now().Add(time.Hour).Unix(), "iat": time.Now().Unix(), "nonce": p.nonce,
		}
		makeToken := p.makeToken
		if makeToken == nil {
			makeToken = p.sign
		}
		p.writeJSON(
			w, map[string]any{"access_token": "access-token-1b", "token_type": "Bearer", "id_token": makeToken(claims)},
		)
	})
	p.Server = httptest.NewUnstartedServer(mux)
	p.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	p.StartTLS()
	t.Cleanup(p.Close)
	return p
}

func (i *issuer) writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		i.t.Error(err)
	}
}

func base64URL(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

func jwtPart(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return base64URL(text)
}

func (i *issuer) sign(claims map[string]any) string {
	text := jwtPart(map[string]any{"alg": "RS256", "kid": "1"}) + "." + jwtPart(claims)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, i.key, crypto.SHA256, sum[:])
	if err != nil {
		i.t.Fatal(err)
	}
	return text + "." + base64URL(signature)
}

// signWith returns a function that sets a claim, or removes it if the value is nil, and signs the token.
func (i *issuer) signWith(name string, value any) func(map[string]any) string {
	return func(claims map[string]any) string {
		claims = maps.Clone(claims)
		claims[name] = value
		if value == nil {
			delete(claims, name)
		}
		return i.sign(claims)
	}
}

// newAuthority returns an Authority that trusts the provider. If edit is not nil, it changes the options first.
func (i *issuer) newAuthority(edit func(*auth.OIDCOptions)) (*auth.Authority, *bytes.Buffer) {
	i.t.Helper()
	log := &bytes.Buffer{}
	o := auth.OIDCOptions{
		Issuer: i.URL, ClientID: "glasshouse", ClientSecret: "client-secret-9", UsernameClaim: "sub",
		CA: x509.NewCertPool(),
	}
	o.CA.AddCert(i.Certificate())
	if edit != nil {
		edit(&o)
	}
	a, err := auth.New(auth.Options{
		Mode: auth.OIDC, Base: "/base", OIDC: o,
		Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		i.t.Fatal(err)
	}
	return a, log
}

// startLogin starts a login. It returns the state cookie, and the query that the browser sends to the provider.
func (i *issuer) startLogin(a *auth.Authority) (cookie *http.Cookie, query url.Values) {
	i.t.Helper()
	r, w := request(i.t), httptest.NewRecorder()
	r.Header.Set("Origin", "https://glasshouse.example")
	address, err := a.BeginLogin(w, r, "/status")
	if err != nil {
		i.t.Fatal(err)
	}
	u, err := url.Parse(address)
	if err != nil || !strings.HasPrefix(address, i.URL+"/auth?") {
		i.t.Fatalf("BeginLogin: got URL %q, error %v; want a URL of the provider", address, err)
	}
	i.nonce = u.Query().Get("nonce")
	return w.Result().Cookies()[0], u.Query()
}

// handleCallback sends the browser's callback request after a login at the provider.
func (i *issuer) handleCallback(
	a *auth.Authority, cookie *http.Cookie, query url.Values,
) (session *http.Cookie, returnPath string, err error) {
	i.t.Helper()
	r, w := request(i.t), httptest.NewRecorder()
	r.URL.RawQuery = query.Encode()
	if cookie != nil {
		r.AddCookie(&http.Cookie{Name: cookie.Name, Value: cookie.Value})
	}
	returnPath, err = a.HandleCallback(w, r)
	for _, c := range w.Result().Cookies() {
		if c.Name == "glasshouse-session" {
			session = c
		}
	}
	return session, returnPath, err
}

func callbackQuery(query url.Values) url.Values {
	return url.Values{"code": {"a-code"}, "state": {query.Get("state")}}
}

// A login sends a state, a nonce and a PKCE challenge. The session ends when the ID token expires.
//
// Invariant: I29.
func TestOIDCLoginCreatesSession(t *testing.T) {
	p := newIssuer(t)
	a, log := p.newAuthority(func(o *auth.OIDCOptions) { o.GroupsClaim = "groups"; o.GroupsPrefix = "p:" })
	cookie, query := p.startLogin(a)
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.Path != "/base/login/" || !cookie.Secure {
		t.Errorf("login cookie is %v, want path /base/login/, HttpOnly, Secure and Lax", cookie)
	}
	for name, want := range map[string]string{
		"response_type": "code", "client_id": "glasshouse",
		"redirect_uri": "https://glasshouse.example/base/login/callback", "scope": "openid",
		"code_challenge_method": "S256",
	} {
		if got := query.Get(name); got != want {
			t.Errorf("parameter %s is %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{"state", "nonce", "code_challenge"} {
		if len(query.Get(name)) < 26 || strings.Contains(cookie.Value, query.Get(name)) {
			t.Errorf("parameter %s is %q, cookie is %q; want random text that is not in the cookie",
				name, query.Get(name), cookie.Value)
		}
	}
	session, returnPath, err := p.handleCallback(a, cookie, callbackQuery(query))
	if err != nil || session == nil || returnPath != "/status" || session.SameSite != http.SameSiteStrictMode ||
		session.MaxAge > 3600 || session.MaxAge < 3500 {
		t.Fatalf("callback: got session %v, path %q, error %v; want a session of one hour", session, returnPath, err)
	}
	sum := sha256.Sum256([]byte(p.tokenRequests[0].Get("code_verifier")))
	if p.tokenRequests[0].Get("code") != "a-code" || base64URL(sum[:]) != query.Get("code_challenge") ||
		p.tokenRequests[0].Get("redirect_uri") != query.Get("redirect_uri") {
		t.Errorf("token request is %v, want the code, its verifier and the redirect URI", p.tokenRequests[0])
	}
	i, err := a.Identify(withCookies(request(t), session))
	want := &authz.User{Name: p.URL + "#7", Groups: []string{"p:dev", "p:ops", "system:authenticated"}}
	if err != nil || !reflect.DeepEqual(i.Viewer.User, want) || time.Until(i.Expires) > time.Hour || !i.Cookie {
		t.Errorf("got user %+v, error %v; want %+v", i.Viewer.User, err, want)
	}
	if got := identifiedUser(
		t, a, withCookies(bearer(t, p.sign(map[string]any{"iss": p.URL})), session), status.Unauthenticated,
	); got != "" {
		t.Errorf("bearer token in mode oidc: got user %q, want none", got)
	}
	if log.Len() > 0 {
		t.Errorf("log is %s, want no lines", log)
	}
}

// An ID token must be unexpired, and issued by the provider for this program and this login.
//
// Invariant: I29.
func TestInvalidIDTokensAreRefused(t *testing.T) {
	p := newIssuer(t)
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for name, makeToken := range map[string]func(map[string]any) string{
		"other audience":               p.signWith("aud", "kubernetes"),
		"several audiences":            p.signWith("aud", []string{"a", "b"}),
		"no audience":                  p.signWith("aud", nil),
		"other issuer":                 p.signWith("iss", "https://evil.test"),
		"issuer with a trailing slash": p.signWith("iss", p.URL+"/"),
		"expired":                      p.signWith("exp", time.Now().Add(-time.Minute).Unix()),
		"no expiry":                    p.signWith("exp", nil),
		"not yet valid":                p.signWith("nbf", time.Now().Add(time.Hour).Unix()),
		"other nonce":                  p.signWith("nonce", "x"),
		"no nonce":                     p.signWith("nonce", nil),
		"no user claim":                p.signWith("sub", nil),
		"empty user claim":             p.signWith("sub", ""),
		"numeric user claim":           p.signWith("sub", 7),
		"no token":                     func(map[string]any) string { return "" },
		"not a JWT":                    func(map[string]any) string { return "a.b" },
		"alg none": func(c map[string]any) string {
			return jwtPart(map[string]any{"alg": "none"}) + "." + jwtPart(c) + "."
		},
		"alg None": func(c map[string]any) string {
			return jwtPart(map[string]any{"alg": "None", "kid": "1"}) + "." + jwtPart(c) + "."
		},
		"signed with the public key": func(c map[string]any) string {
			text := jwtPart(map[string]any{"alg": "HS256", "kid": "1"}) + "." + jwtPart(c)
			mac := hmac.New(sha256.New, x509.MarshalPKCS1PublicKey(&p.key.PublicKey))
			mac.Write([]byte(text))
			return text + "." + base64URL(mac.Sum(nil))
		},
		"signed with another key": func(c map[string]any) string {
			return (&issuer{t: t, key: other}).sign(c)
		},
		"not signed": func(c map[string]any) string {
			parts := strings.Split(p.sign(c), ".")
			return parts[0] + "." + parts[1] + "."
		},
		"changed after signing": func(c map[string]any) string {
			parts := strings.Split(p.sign(c), ".")
			c = maps.Clone(c)
			c["sub"] = "8"
			return parts[0] + "." + jwtPart(c) + "." + parts[2]
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, log := p.newAuthority(nil)
			cookie, query := p.startLogin(a)
			p.makeToken = makeToken
			session, returnPath, err := p.handleCallback(a, cookie, callbackQuery(query))
			p.makeToken = nil
			problem := new(status.Problem)
			if session != nil || !errors.As(err, &problem) || problem.Cause != status.Unauthenticated ||
				returnPath != "/status" {
				t.Errorf("got session %v, path %q, error %v; want no session", session, returnPath, err)
				return
			}
			for _, secret := range []string{
				"client-secret-9", "access-token-1b", "a-code", query.Get("state"), cookie.Value,
			} {
				if strings.Contains(log.String(), secret) || strings.Contains(err.Error(), secret) {
					t.Errorf("the secret %q is in the log %q or in the error %v", secret, log, err)
				}
			}
		})
	}
	a, _ := p.newAuthority(nil)
	otherAuthority, _ := p.newAuthority(nil)
	cookie, query := p.startLogin(a)
	otherCookie, _ := p.startLogin(a)
	_, otherQuery := p.startLogin(otherAuthority)
	for name, test := range map[string]struct {
		cookie *http.Cookie
		query  url.Values
	}{
		"no cookie":      {nil, callbackQuery(query)},
		"invalid cookie": {&http.Cookie{Name: cookie.Name, Value: "x"}, callbackQuery(query)},
		"changed cookie": {
			&http.Cookie{Name: cookie.Name, Value: cookie.Value[:len(cookie.Value)-2] + "AA"}, callbackQuery(query),
		},
		"state of another server": {otherCookie, callbackQuery(otherQuery)},
	} {
		t.Run(name, func(t *testing.T) {
			if session, _, err := p.handleCallback(a, test.cookie, test.query); session != nil || err == nil {
				t.Errorf("got session %v, error %v; want no session", session, err)
			}
		})
	}
	p.nonce = query.Get("nonce")
	if session, _, err := p.handleCallback(a, cookie, callbackQuery(query)); session == nil || err != nil {
		t.Errorf("valid callback: got error %v", err)
	}
	if session, _, err := p.handleCallback(a, cookie, callbackQuery(query)); session != nil || err == nil {
		t.Errorf("repeated callback: got session %v, error %v; want no session", session, err)
	}
	for _, status := range []int{http.StatusBadRequest, http.StatusInternalServerError} {
		t.Run(fmt.Sprint("status ", status), func(t *testing.T) {
			cookie, query := p.startLogin(a)
			p.status = status
			session, _, err := p.handleCallback(a, cookie, callbackQuery(query))
			p.status = 0
			if session != nil || err == nil || strings.Contains(err.Error(), "text-that-must-stay-internal") {
				t.Errorf("got session %v, error %v; want no session", session, err)
			}
		})
	}
	cookie, query = p.startLogin(a)
	if session, _, err := p.handleCallback(
		a, cookie, url.Values{"error": {"access_denied"}, "state": {query.Get("state")}},
	); session != nil || err == nil || !strings.Contains(err.Error(), "access_denied") {
		t.Errorf("login refused by the provider: got session %v, error %v; want the provider's reason", session, err)
	}
}

func TestFailedCallbacksDoNotBlockLogins(t *testing.T) {
	p := newIssuer(t)
	a, _ := p.newAuthority(nil)
	p.status = http.StatusBadRequest
	for n := range 10_010 {
		cookie, query := p.startLogin(a)
		callback := url.Values{"error": {"access_denied"}, "state": {query.Get("state")}}
		switch {
		case n%2 == 1:
			callback.Set("state", "another")
		case n%1000 == 0:
			callback = callbackQuery(query)
		}
		if session, _, err := p.handleCallback(a, cookie, callback); session != nil || err == nil {
			t.Fatalf("invalid callback: got session %v, error %v; want no session", session, err)
		}
	}
	p.status = 0
	cookie, query := p.startLogin(a)
	if session, _, err := p.handleCallback(a, cookie, callbackQuery(query)); session == nil || err != nil {
		t.Errorf("valid login after the invalid ones: got error %v", err)
	}
}

// Claims become a user name and groups by the same rules as in kube-apiserver.
//
// Invariant: I29.
func TestClaimsBecomeUsers(t *testing.T) {
	p := newIssuer(t)
	for name, test := range map[string]struct {
		edit      func(*auth.OIDCOptions)
		makeToken func(map[string]any) string
		want      *authz.User
	}{
		"default": {
			func(*auth.OIDCOptions) {}, nil, &authz.User{Name: p.URL + "#7", Groups: []string{}},
		},
		"no prefix": {
			func(o *auth.OIDCOptions) { o.UsernamePrefix = "-" }, nil, &authz.User{Name: "7", Groups: []string{}},
		},
		"other prefix": {
			func(o *auth.OIDCOptions) { o.UsernamePrefix = "oidc:" }, nil,
			&authz.User{Name: "oidc:7", Groups: []string{}},
		},
		"email": {
			func(o *auth.OIDCOptions) { o.UsernameClaim = "email" }, nil,
			&authz.User{Name: "anna@example.com", Groups: []string{}},
		},
		"email with a prefix": {
			func(o *auth.OIDCOptions) { o.UsernameClaim = "email"; o.UsernamePrefix = "x/" }, nil,
			&authz.User{Name: "x/anna@example.com", Groups: []string{}},
		},
		"verified email": {
			func(o *auth.OIDCOptions) { o.UsernameClaim = "email" }, p.signWith("email_verified", true),
			&authz.User{Name: "anna@example.com", Groups: []string{}},
		},
		"email that is not verified": {
			func(o *auth.OIDCOptions) { o.UsernameClaim = "email" }, p.signWith("email_verified", false), nil,
		},
		"email with email_verified as a string": {
			func(o *auth.OIDCOptions) { o.UsernameClaim = "email" }, p.signWith("email_verified", "true"), nil,
		},
		"groups": {
			func(o *auth.OIDCOptions) { o.GroupsClaim = "groups" }, nil,
			&authz.User{Name: p.URL + "#7", Groups: []string{"dev", "ops"}},
		},
		"one group as a string": {
			func(o *auth.OIDCOptions) { o.GroupsClaim = "groups" }, p.signWith("groups", "dev"),
			&authz.User{Name: p.URL + "#7", Groups: []string{"dev"}},
		},
		"missing groups claim": {
			func(o *auth.OIDCOptions) { o.GroupsClaim = "roles" }, nil,
			&authz.User{Name: p.URL + "#7", Groups: []string{}},
		},
		"numeric groups": {
			func(o *auth.OIDCOptions) { o.GroupsClaim = "groups" }, p.signWith("groups", []int{1}), nil,
		},
		"group system:masters": {
			func(o *auth.OIDCOptions) { o.GroupsClaim = "groups" }, p.signWith("groups", []string{"system:masters"}), nil,
		},
		"group system:masters with a prefix": {
			func(o *auth.OIDCOptions) { o.GroupsClaim = "groups"; o.GroupsPrefix = "p:" },
			p.signWith("groups", []string{"system:masters"}),
			&authz.User{Name: p.URL + "#7", Groups: []string{"p:system:masters"}},
		},
		"user system:admin": {
			func(o *auth.OIDCOptions) { o.UsernamePrefix = "-" }, p.signWith("sub", "system:admin"), nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, _ := p.newAuthority(test.edit)
			cookie, query := p.startLogin(a)
			p.makeToken = test.makeToken
			session, _, err := p.handleCallback(a, cookie, callbackQuery(query))
			p.makeToken = nil
			if test.want == nil {
				if session != nil || err == nil {
					t.Errorf("got session %v, error %v; want no session", session, err)
				}
				return
			}
			if session == nil {
				t.Error(err)
				return
			}
			i, err := a.Identify(withCookies(request(t), session))
			test.want.Groups = append(test.want.Groups, "system:authenticated")
			if err != nil || !reflect.DeepEqual(i.Viewer.User, test.want) {
				t.Errorf("got user %+v, error %v; want %+v", i.Viewer.User, err, test.want)
			}
		})
	}
}

// A provider must have a known certificate authority. Without TLS, its address must be a loopback address.
//
// Invariant: I29.
func TestNewRejectsInvalidProviders(t *testing.T) {
	p := newIssuer(t)
	a, log := p.newAuthority(func(o *auth.OIDCOptions) { o.CA = x509.NewCertPool() })
	r := request(t)
	_, err := a.BeginLogin(httptest.NewRecorder(), r, "/")
	if problem := new(status.Problem); !errors.As(err, &problem) || problem.Cause != status.Unavailable ||
		!strings.Contains(log.String(), "certificate") || strings.Contains(err.Error(), "certificate") {
		t.Errorf("provider with an unknown CA: got error %v, log %q", err, log)
	}
	for _, test := range []struct {
		issuer, client, claim string
		valid                 bool
	}{
		{"https://id.example", "c", "sub", true},
		{"https://id.example/realm", "c", "sub", true},
		{"http://127.0.0.1:5556/dex", "c", "sub", true},
		{"http://localhost", "c", "sub", true},
		{"http://id.example", "c", "sub", false},
		{"http://127.0.0.1.evil.test", "c", "sub", false},
		{"id.example", "c", "sub", false},
		{"", "c", "sub", false},
		{"https://", "c", "sub", false},
		{"https://a:b@id.example", "c", "sub", false},
		{"https://id.example?a=b", "c", "sub", false},
		{"https://id.example#a", "c", "sub", false},
		{"https://id.example", "", "sub", false},
		{"https://id.example", "c", "", false},
	} {
		t.Run(test.issuer+" "+test.client+" "+test.claim, func(t *testing.T) {
			_, err := auth.New(auth.Options{
				Mode: auth.OIDC,
				OIDC: auth.OIDCOptions{Issuer: test.issuer, ClientID: test.client, UsernameClaim: test.claim},
			})
			if (err == nil) != test.valid {
				t.Errorf("New(%+v): got error %v", test, err)
			}
		})
	}
}
