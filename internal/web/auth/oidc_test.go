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

	"glasshouse/internal/watch"
	"glasshouse/internal/web/auth"
)

// issuer is an OpenID provider whose responses a test can change.
type issuer struct {
	*httptest.Server

	t      *testing.T
	key    *rsa.PrivateKey
	say    func(claims map[string]any) string // Returns the ID token for valid claims.
	status int                                // The status of the token endpoint; 0 means 200.
	seen   []url.Values                       // The requests to the token endpoint.
	nonce  string
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
		p.answer(w, map[string]any{
			"issuer": p.URL, "authorization_endpoint": p.URL + "/auth", "token_endpoint": p.URL + "/token",
			"jwks_uri":                              p.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256", "HS256", "none"},
		})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		p.answer(w, map[string]any{"keys": []any{map[string]any{
			"kty": "RSA", "use": "sig", "alg": "RS256", "kid": "1", "n": part(key.N.Bytes()),
			"e": part(big.NewInt(int64(key.E)).Bytes()),
		}}})
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil {
			t.Error(err)
		}
		p.seen = append(p.seen, r.PostForm)
		if p.status != 0 {
			http.Error(w, `{"error":"invalid_grant","error_description":"what-nobody-should-say"}`, p.status)
			return
		}
		claims := map[string]any{
			"iss": p.URL, "aud": "glasshouse", "sub": "7", "email": "anna@example.com",
			"groups": []string{"dev", "ops"},
			"exp":    time.Now().Add(time.Hour).Unix(), "iat": time.Now().Unix(), "nonce": p.nonce,
		}
		say := p.say
		if say == nil {
			say = p.sign
		}
		p.answer(w, map[string]any{"access_token": "access-token-1b", "token_type": "Bearer", "id_token": say(claims)})
	})
	p.Server = httptest.NewUnstartedServer(mux)
	p.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	p.StartTLS()
	t.Cleanup(p.Close)
	return p
}

func (p *issuer) answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		p.t.Error(err)
	}
}

func part(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

func encode(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return part(text)
}

// sign returns a valid ID token with the claims.
func (p *issuer) sign(claims map[string]any) string {
	text := encode(map[string]any{"alg": "RS256", "kid": "1"}) + "." + encode(claims)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, p.key, crypto.SHA256, sum[:])
	if err != nil {
		p.t.Fatal(err)
	}
	return text + "." + part(signature)
}

// with returns a function that signs the claims with one of them changed.
func (p *issuer) with(name string, value any) func(map[string]any) string {
	return func(claims map[string]any) string {
		claims = maps.Clone(claims)
		claims[name] = value
		if value == nil {
			delete(claims, name)
		}
		return p.sign(claims)
	}
}

// asks returns an Authority that uses the issuer.
func (p *issuer) asks(edit func(*auth.OIDCOptions)) (*auth.Authority, *bytes.Buffer) {
	p.t.Helper()
	log := &bytes.Buffer{}
	o := auth.OIDCOptions{
		Issuer: p.URL, ClientID: "glasshouse", ClientSecret: "client-secret-9", UsernameClaim: "sub",
		CA: x509.NewCertPool(),
	}
	o.CA.AddCert(p.Certificate())
	if edit != nil {
		edit(&o)
	}
	a, err := auth.New(auth.Options{
		Mode: auth.OIDC, Base: "/base", OIDC: o,
		Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return a, log
}

// leave begins a login. It returns the cookie of the login and the query that the provider gets.
func (p *issuer) leave(a *auth.Authority) (cookie *http.Cookie, query url.Values) {
	p.t.Helper()
	r, w := request(p.t), httptest.NewRecorder()
	r.Header.Set("Origin", "https://glasshouse.example")
	address, err := a.Leave(w, r, "/status")
	if err != nil {
		p.t.Fatal(err)
	}
	u, err := url.Parse(address)
	if err != nil || !strings.HasPrefix(address, p.URL+"/auth?") {
		p.t.Fatalf("the provider is at %q, %v", address, err)
	}
	p.nonce = u.Query().Get("nonce")
	return w.Result().Cookies()[0], u.Query()
}

// back sends the callback of the provider.
func (p *issuer) back(
	a *auth.Authority, cookie *http.Cookie, query url.Values,
) (session *http.Cookie, to string, err error) {
	p.t.Helper()
	r, w := request(p.t), httptest.NewRecorder()
	r.URL.RawQuery = query.Encode()
	if cookie != nil {
		r.AddCookie(&http.Cookie{Name: cookie.Name, Value: cookie.Value})
	}
	to, err = a.Return(w, r)
	for _, c := range w.Result().Cookies() {
		if c.Name == "glasshouse-session" {
			session = c
		}
	}
	return session, to, err
}

func code(query url.Values) url.Values {
	return url.Values{"code": {"a-code"}, "state": {query.Get("state")}}
}

// A login sends a state, a nonce and a challenge to the provider. Its session ends when the ID token expires.
func TestProviderLogsIn(t *testing.T) {
	p := newIssuer(t)
	a, log := p.asks(func(o *auth.OIDCOptions) { o.GroupsClaim = "groups"; o.GroupsPrefix = "p:" })
	cookie, query := p.leave(a)
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.Path != "/base/login/" || !cookie.Secure {
		t.Errorf("the cookie is %v", cookie)
	}
	for name, want := range map[string]string{
		"response_type": "code", "client_id": "glasshouse",
		"redirect_uri": "https://glasshouse.example/base/login/callback", "scope": "openid",
		"code_challenge_method": "S256",
	} {
		if got := query.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{"state", "nonce", "code_challenge"} {
		if len(query.Get(name)) < 26 || strings.Contains(cookie.Value, query.Get(name)) {
			t.Errorf("%s is %q, the cookie %q", name, query.Get(name), cookie.Value)
		}
	}
	session, to, err := p.back(a, cookie, code(query))
	if err != nil || session == nil || to != "/status" || session.SameSite != http.SameSiteStrictMode ||
		session.MaxAge > 3600 || session.MaxAge < 3500 {
		t.Fatalf("the session is %v, to %q, %v", session, to, err)
	}
	sum := sha256.Sum256([]byte(p.seen[0].Get("code_verifier")))
	if p.seen[0].Get("code") != "a-code" || part(sum[:]) != query.Get("code_challenge") ||
		p.seen[0].Get("redirect_uri") != query.Get("redirect_uri") {
		t.Errorf("the provider is sent %v", p.seen[0])
	}
	i, err := a.Identify(withCookies(request(t), session))
	want := &watch.User{Name: p.URL + "#7", Groups: []string{"p:dev", "p:ops", "system:authenticated"}}
	if err != nil || !reflect.DeepEqual(i.Viewer.User, want) || time.Until(i.Expires) > time.Hour || !i.Cookie {
		t.Errorf("it is %+v, %v, want %+v", i.Viewer.User, err, want)
	}
	if got := whose(
		t, a, withCookies(bearer(t, p.sign(map[string]any{"iss": p.URL})), session), watch.Unauthenticated,
	); got != "" {
		t.Errorf("a bearer token is %q's", got)
	}
	if log.Len() > 0 {
		t.Errorf("the log is %s", log)
	}
}

// An ID token is accepted only if it comes from the provider, is for this program and this login, and has not expired.
// Each login is accepted once.
func TestProviderIsVerified(t *testing.T) {
	p := newIssuer(t)
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for name, say := range map[string]func(map[string]any) string{
		"another audience":   p.with("aud", "kubernetes"),
		"other audiences":    p.with("aud", []string{"a", "b"}),
		"no audience":        p.with("aud", nil),
		"another issuer":     p.with("iss", "https://evil.test"),
		"an issuer with a /": p.with("iss", p.URL+"/"),
		"expired":            p.with("exp", time.Now().Add(-time.Minute).Unix()),
		"no expiry":          p.with("exp", nil),
		"not yet":            p.with("nbf", time.Now().Add(time.Hour).Unix()),
		"another nonce":      p.with("nonce", "x"),
		"no nonce":           p.with("nonce", nil),
		"no user":            p.with("sub", nil),
		"an empty user":      p.with("sub", ""),
		"a user in numbers":  p.with("sub", 7),
		"no token":           func(map[string]any) string { return "" },
		"no JWT":             func(map[string]any) string { return "a.b" },
		"alg none": func(c map[string]any) string {
			return encode(map[string]any{"alg": "none"}) + "." + encode(c) + "."
		},
		"alg None": func(c map[string]any) string {
			return encode(map[string]any{"alg": "None", "kid": "1"}) + "." + encode(c) + "."
		},
		"signed with the public key": func(c map[string]any) string {
			text := encode(map[string]any{"alg": "HS256", "kid": "1"}) + "." + encode(c)
			mac := hmac.New(sha256.New, x509.MarshalPKCS1PublicKey(&p.key.PublicKey))
			mac.Write([]byte(text))
			return text + "." + part(mac.Sum(nil))
		},
		"signed by another": func(c map[string]any) string {
			return (&issuer{t: t, key: other}).sign(c)
		},
		"not signed": func(c map[string]any) string {
			parts := strings.Split(p.sign(c), ".")
			return parts[0] + "." + parts[1] + "."
		},
		"signed before it was changed": func(c map[string]any) string {
			parts := strings.Split(p.sign(c), ".")
			c = maps.Clone(c)
			c["sub"] = "8"
			return parts[0] + "." + encode(c) + "." + parts[2]
		},
	} {
		a, log := p.asks(nil)
		cookie, query := p.leave(a)
		p.say = say
		session, to, err := p.back(a, cookie, code(query))
		p.say = nil
		asked := new(watch.Problem)
		if session != nil || !errors.As(err, &asked) || asked.Cause != watch.Unauthenticated || to != "/status" {
			t.Errorf("%s: the session is %v, to %q, %v", name, session, to, err)
			continue
		}
		for _, secret := range []string{
			"client-secret-9", "access-token-1b", "a-code", query.Get("state"), cookie.Value,
		} {
			if strings.Contains(log.String(), secret) || strings.Contains(err.Error(), secret) {
				t.Errorf("%s: %q is in the log %q or the error %v", name, secret, log, err)
			}
		}
	}
	a, _ := p.asks(nil)
	another, _ := p.asks(nil)
	cookie, query := p.leave(a)
	elsewhere, _ := p.leave(a)
	_, ofAnother := p.leave(another)
	for name, test := range map[string]struct {
		cookie *http.Cookie
		query  url.Values
	}{
		"no cookie":           {nil, code(query)},
		"a cookie of nothing": {&http.Cookie{Name: cookie.Name, Value: "x"}, code(query)},
		"a cookie changed": {
			&http.Cookie{Name: cookie.Name, Value: cookie.Value[:len(cookie.Value)-2] + "AA"}, code(query),
		},
		"another's state": {elsewhere, code(ofAnother)},
	} {
		if session, _, err := p.back(a, test.cookie, test.query); session != nil || err == nil {
			t.Errorf("%s: the session is %v, %v", name, session, err)
		}
	}
	p.nonce = query.Get("nonce")
	if session, _, err := p.back(a, cookie, code(query)); session == nil || err != nil {
		t.Errorf("the login itself: %v", err)
	}
	if session, _, err := p.back(a, cookie, code(query)); session != nil || err == nil {
		t.Errorf("the same once more: the session is %v, %v", session, err)
	}
	for _, status := range []int{http.StatusBadRequest, http.StatusInternalServerError} {
		cookie, query := p.leave(a)
		p.status = status
		session, _, err := p.back(a, cookie, code(query))
		p.status = 0
		if session != nil || err == nil || strings.Contains(err.Error(), "what-nobody-should-say") {
			t.Errorf("the provider fails with %d: the session is %v, %v", status, session, err)
		}
	}
	cookie, query = p.leave(a)
	if session, _, err := p.back(
		a, cookie, url.Values{"error": {"access_denied"}, "state": {query.Get("state")}},
	); session != nil || err == nil || !strings.Contains(err.Error(), "access_denied") {
		t.Errorf("the provider lets nobody in: the session is %v, %v", session, err)
	}
}

// Callbacks without a login at the provider do not prevent logins of other users, however many there are. The same is
// true for logins that the provider refuses.
func TestNobodyKeepsOthersFromLoggingIn(t *testing.T) {
	p := newIssuer(t)
	a, _ := p.asks(nil)
	p.status = http.StatusBadRequest
	for n := range 10_010 {
		cookie, query := p.leave(a)
		back := url.Values{"error": {"access_denied"}, "state": {query.Get("state")}}
		switch {
		case n%2 == 1:
			back.Set("state", "another")
		case n%1000 == 0:
			back = code(query)
		}
		if session, _, err := p.back(a, cookie, back); session != nil || err == nil {
			t.Fatalf("the session is %v, %v", session, err)
		}
	}
	p.status = 0
	cookie, query := p.leave(a)
	if session, _, err := p.back(a, cookie, code(query)); session == nil || err != nil {
		t.Errorf("somebody is not let in after all that: %v", err)
	}
}

// Claims become a user in the same way as in kube-apiserver.
func TestClaims(t *testing.T) {
	p := newIssuer(t)
	for name, test := range map[string]struct {
		edit func(*auth.OIDCOptions)
		say  func(map[string]any) string
		want *watch.User
	}{
		"as it comes": {
			func(*auth.OIDCOptions) {}, nil, &watch.User{Name: p.URL + "#7", Groups: []string{}},
		},
		"without a prefix": {
			func(o *auth.OIDCOptions) { o.UsernamePrefix = "-" }, nil, &watch.User{Name: "7", Groups: []string{}},
		},
		"another prefix": {
			func(o *auth.OIDCOptions) { o.UsernamePrefix = "oidc:" }, nil,
			&watch.User{Name: "oidc:7", Groups: []string{}},
		},
		"an email": {
			func(o *auth.OIDCOptions) { o.UsernameClaim = "email" }, nil,
			&watch.User{Name: "anna@example.com", Groups: []string{}},
		},
		"an email, prefixed": {
			func(o *auth.OIDCOptions) { o.UsernameClaim = "email"; o.UsernamePrefix = "x/" }, nil,
			&watch.User{Name: "x/anna@example.com", Groups: []string{}},
		},
		"an email, verified": {
			func(o *auth.OIDCOptions) { o.UsernameClaim = "email" }, p.with("email_verified", true),
			&watch.User{Name: "anna@example.com", Groups: []string{}},
		},
		"an email, not verified": {
			func(o *auth.OIDCOptions) { o.UsernameClaim = "email" }, p.with("email_verified", false), nil,
		},
		"an email, verified in words": {
			func(o *auth.OIDCOptions) { o.UsernameClaim = "email" }, p.with("email_verified", "true"), nil,
		},
		"groups": {
			func(o *auth.OIDCOptions) { o.GroupsClaim = "groups" }, nil,
			&watch.User{Name: p.URL + "#7", Groups: []string{"dev", "ops"}},
		},
		"a group": {
			func(o *auth.OIDCOptions) { o.GroupsClaim = "groups" }, p.with("groups", "dev"),
			&watch.User{Name: p.URL + "#7", Groups: []string{"dev"}},
		},
		"no groups": {
			func(o *auth.OIDCOptions) { o.GroupsClaim = "roles" }, nil,
			&watch.User{Name: p.URL + "#7", Groups: []string{}},
		},
		"groups in numbers": {
			func(o *auth.OIDCOptions) { o.GroupsClaim = "groups" }, p.with("groups", []int{1}), nil,
		},
		"the cluster's masters": {
			func(o *auth.OIDCOptions) { o.GroupsClaim = "groups" }, p.with("groups", []string{"system:masters"}), nil,
		},
		"them, prefixed": {
			func(o *auth.OIDCOptions) { o.GroupsClaim = "groups"; o.GroupsPrefix = "p:" },
			p.with("groups", []string{"system:masters"}),
			&watch.User{Name: p.URL + "#7", Groups: []string{"p:system:masters"}},
		},
		"the cluster's admin": {
			func(o *auth.OIDCOptions) { o.UsernamePrefix = "-" }, p.with("sub", "system:admin"), nil,
		},
	} {
		a, _ := p.asks(test.edit)
		cookie, query := p.leave(a)
		p.say = test.say
		session, _, err := p.back(a, cookie, code(query))
		p.say = nil
		if test.want == nil {
			if session != nil || err == nil {
				t.Errorf("%s: the session is %v, %v", name, session, err)
			}
			continue
		}
		if session == nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		i, err := a.Identify(withCookies(request(t), session))
		test.want.Groups = append(test.want.Groups, "system:authenticated")
		if err != nil || !reflect.DeepEqual(i.Viewer.User, test.want) {
			t.Errorf("%s: it is %+v, %v, want %+v", name, i.Viewer.User, err, test.want)
		}
	}
}

// A provider with an unknown CA is not trusted. A provider without TLS is not trusted either, unless it is on this
// machine.
func TestProviderOptions(t *testing.T) {
	p := newIssuer(t)
	a, log := p.asks(func(o *auth.OIDCOptions) { o.CA = x509.NewCertPool() })
	r := request(t)
	_, err := a.Leave(httptest.NewRecorder(), r, "/")
	if asked := new(watch.Problem); !errors.As(err, &asked) || asked.Cause != watch.Unavailable ||
		!strings.Contains(log.String(), "certificate") || strings.Contains(err.Error(), "certificate") {
		t.Errorf("a provider of another authority: %v, the log is %q", err, log)
	}
	for _, test := range []struct {
		issuer, client, claim string
		good                  bool
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
		_, err := auth.New(auth.Options{
			Mode: auth.OIDC,
			OIDC: auth.OIDCOptions{Issuer: test.issuer, ClientID: test.client, UsernameClaim: test.claim},
		})
		if (err == nil) != test.good {
			t.Errorf("%+v: %v", test, err)
		}
	}
}
