package web_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	authentication "k8s.io/api/authentication/v1"
	authorization "k8s.io/api/authorization/v1"

	"github.com/glasshouse-project/glasshouse/internal/livetest"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/web"
	"github.com/glasshouse-project/glasshouse/internal/web/auth"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
)

const validToken, invalidToken = "good-7d1f0c.token", "bad-93e2aa.token"

// newLoginSite returns a site with the same cluster as newSite. Users must log in.
func newLoginSite(t *testing.T, options auth.Options) *site {
	t.Helper()
	api := newSite(t).api
	api.SetTokenReviews(map[string]authentication.TokenReviewStatus{validToken: acceptedReview()})
	api.Allow(func(review authorization.SubjectAccessReviewSpec) bool { return review.User == "anna" })
	return startLoginSite(t, api, options)
}

func acceptedReview() authentication.TokenReviewStatus {
	return authentication.TokenReviewStatus{
		Authenticated: true,
		User:          authentication.UserInfo{Username: "anna", Groups: []string{"dev", "system:authenticated"}},
	}
}

func jwtExpiringAt(at time.Time) string {
	part := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	return part(`{"alg":"RS256"}`) + "." + part(fmt.Sprintf(`{"exp":%d}`, at.Unix())) + "." + part("signature")
}

func startLoginSite(t *testing.T, api *apitest.Server, options auth.Options) *site {
	t.Helper()
	return startLoginSiteWith(t, api, options, web.Options{})
}

func startLoginSiteWith(t *testing.T, api *apitest.Server, options auth.Options, webOptions web.Options) *site {
	t.Helper()
	s := &site{t: t, log: &lockedBuffer{}, api: api}
	log := slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	cluster := startCluster(t, api)
	options.ReviewToken, options.Log = cluster.ReviewToken, log
	authority, err := auth.New(options)
	if err != nil {
		t.Fatal(err)
	}
	webOptions.ClusterInfo, webOptions.Auth, webOptions.BasePath, webOptions.Version, webOptions.Log = request.ClusterInfo{
		Cluster: cluster, Name: "the-cluster's-name",
	}, authority, request.BasePath(options.Base), "v0", log
	s.server, err = web.New(webOptions)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.addr = listener.Addr().String()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := authority.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	running.Go(func() {
		if err := s.server.Run(ctx, listener); err != nil {
			t.Error(err)
		}
	})
	s.stop = func() error { cancel(); running.Wait(); return nil }
	t.Cleanup(func() { _ = s.stop() })
	return s
}

// post submits a form with the headers that a browser sends on a page of the site.
func (s *site) post(path, form string, headers ...string) httpResponse {
	s.t.Helper()
	conn, err := (&net.Dialer{}).DialContext(s.t.Context(), "tcp", s.addr)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	lines := append(
		[]string{
			"POST " + path + " HTTP/1.1", "Host: " + s.addr, "Connection: close",
			"Content-Type: application/x-www-form-urlencoded", fmt.Sprintf("Content-Length: %d", len(form)),
		},
		headers...)
	if !slices.ContainsFunc(headers, func(h string) bool { return strings.HasPrefix(h, "Origin:") }) {
		lines = append(lines, "Origin: http://"+s.addr)
	}
	if _, err := io.WriteString(conn, strings.Join(lines, "\r\n")+"\r\n\r\n"+form); err != nil {
		s.t.Fatal(err)
	}
	return readResponse(s.t, conn, "POST")
}

// login logs in with a token. It returns the Cookie header for later requests, and the response.
func (s *site) login(token, to string) (cookie string, a httpResponse) {
	s.t.Helper()
	a = s.post("/login", url.Values{"token": {token}, "to": {to}}.Encode(), "Accept: text/html")
	cookie, _, _ = strings.Cut(a.header.Get("Set-Cookie"), ";")
	return "Cookie: " + cookie, a
}

// The login page, its files, redirect and cookie path are all under the base path.
func TestLoginIsUnderBasePath(t *testing.T) {
	const base = "/tools/g"
	s := newLoginSite(t, auth.Options{Mode: auth.Token, Base: base})
	page := base + "/r/" + podsRef + "?ns=a"
	a := s.get(page, "Accept: text/html")
	if a.status != http.StatusUnauthorized || !strings.Contains(a.body, `action="`+base+`/login"`) {
		t.Errorf("login page: got %d without a form below %s: %s", a.status, base, a.body)
	}
	for _, address := range urlsUnder(t, base, page, a.body) {
		if strings.Contains(address, "/static/") && s.get(address).status != http.StatusOK {
			t.Errorf("the page loads %s, which does not exist", address)
		}
	}
	a = s.post(base+"/login", url.Values{"token": {validToken}, "to": {"/r/" + podsRef + "?ns=a"}}.Encode(),
		"Accept: text/html")
	cookie, attributes, _ := strings.Cut(a.header.Get("Set-Cookie"), ";")
	if to := a.header.Get("Location"); to != page || !strings.Contains(attributes, "Path="+base+"/") {
		t.Errorf("login redirects to %q and sets a cookie with %s", to, attributes)
	}
	if a := s.get(page, "Cookie: "+cookie, "Accept: text/html"); a.status != http.StatusOK ||
		!strings.Contains(a.body, `action="`+base+`/logout"`) {
		t.Errorf("GET page with the session: got %d: %.200s", a.status, a.body)
	}
	a = s.post(base+"/login", url.Values{"token": {validToken}, "to": {"/../../other?delete=1"}}.Encode(),
		"Accept: text/html")
	if to := a.header.Get("Location"); to != base+"/" {
		t.Errorf("login redirects to %q, want a path below %s", to, base)
	}
	if to := s.post(base+"/logout", "", "Cookie: "+cookie).header.Get("Location"); to != base+"/login" {
		t.Errorf("logout redirects to %q", to)
	}
}

// routesByAccess returns all routes as "METHOD /path" with example values for parameters. The value is true for
// public routes.
func routesByAccess(t *testing.T) map[string]bool {
	t.Helper()
	all := make(map[string]bool)
	for _, route := range routeTable(t) {
		all[route.method+" "+route.path] = route.isPublic()
	}
	return all
}

// clusterData matches words of the cluster's data. A pattern for all words would be slow: it would have no constant
// prefix that the regexp package can search for.
var clusterData = []*regexp.Regexp{
	regexp.MustCompile(`web-\d`), regexp.MustCompile(`widgets?\b`), regexp.MustCompile(`example\.com`),
	regexp.MustCompile(`the-cluster`), regexp.MustCompile(`"cursor"`), regexp.MustCompile(`core/v1`),
	regexp.MustCompile(`Pods`), regexp.MustCompile(`Running`),
}

// clusterDataIn returns cluster data in body, or "". Callers must first remove the request path, which can match.
func clusterDataIn(body string) string {
	for _, word := range clusterData {
		if found := word.FindString(body); found != "" {
			return found
		}
	}
	return ""
}

// A client without a login gets no cluster data from any route, whatever headers it sends.
//
// Invariant: I29. An unidentified client receives no cluster data. No client gets the identity of another client.
// Without an explicit `--auth`, the program listens only on loopback addresses. A login session and its streams end
// when the token expires, when the maximum time of the session is over, or when the API server rejects the token or
// reports another user or other groups. No log, error or URL contains a credential.
func TestUnauthenticatedClientsGetNoClusterData(t *testing.T) {
	skipIfShort(t)
	t.Parallel()
	noHeaders := []string{}
	tokenSite := newLoginSite(t, auth.Options{Mode: auth.Token})
	proxySite := newLoginSite(t, auth.Options{Mode: auth.Proxy, Proxy: auth.ProxyOptions{
		Peers: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, UserHeader: auth.UserHeader,
		GroupsHeader: auth.GroupsHeader,
	}})
	oidcSite := newLoginSite(t, auth.Options{
		Mode: auth.OIDC, OIDC: auth.OIDCOptions{Issuer: "http://127.0.0.1:1", ClientID: "x", UsernameClaim: "sub"},
	})
	endedCookie, _ := tokenSite.login(validToken, "/")
	tokenSite.post("/logout", "", endedCookie)
	expired := jwtExpiringAt(time.Now().Add(-time.Minute))
	tokenSite.api.SetTokenReviews(map[string]authentication.TokenReviewStatus{
		validToken: acceptedReview(), expired: acceptedReview(), "other": {Error: "no"},
	})
	sites := map[*site]map[string][]string{
		tokenSite: {
			"nothing": noHeaders, "invalid token": {"Authorization: Bearer " + invalidToken},
			"expired token":  {"Authorization: Bearer " + expired},
			"other scheme":   {"Authorization: Basic " + validToken},
			"two tokens":     {"Authorization: Bearer " + validToken, "Authorization: Bearer " + validToken},
			"unknown cookie": {tokenSite.cookie("glasshouse-session", "x")}, "ended session": {endedCookie},
			"token as session cookie":         {tokenSite.cookie("glasshouse-session", validToken)},
			"headers of a proxy":              {"X-Forwarded-User: anna", "X-Forwarded-Groups: dev"},
			"ended session and invalid token": {endedCookie, "Authorization: Bearer " + invalidToken},
		},
		oidcSite: {
			"nothing": noHeaders, "a token": {"Authorization: Bearer " + validToken},
			"unknown cookie": {
				oidcSite.cookie("glasshouse-session", "x; ") + strings.TrimPrefix(
					oidcSite.cookie("glasshouse-login", "x"), "Cookie: "),
			},
			"headers of a proxy": {"X-Forwarded-User: anna"},
		},
		// The server must ignore these headers: the requests are from a loopback address, as through a port-forward,
		// and not from the address range of the proxy.
		proxySite: {
			"nothing": noHeaders, "a token": {"Authorization: Bearer " + validToken},
			"headers of a proxy":       {"X-Forwarded-User: anna"},
			"headers with underscores": {"X_Forwarded_User: anna"},
			"other secret":             {"X-Forwarded-User: anna", "X-Glasshouse-Proxy-Secret: x"},
		},
	}
	modes := map[*site]string{tokenSite: auth.Token, oidcSite: auth.OIDC, proxySite: auth.Proxy}
	for s, credentials := range sites {
		for name, headers := range credentials {
			t.Run(modes[s]+", "+name, func(t *testing.T) {
				s := s.forRow(t)
				for address, public := range routesByAccess(t) {
					method, path, _ := strings.Cut(address, " ")
					if method != "GET" && public {
						continue // Skip: such a route needs the token of a login or a link.
					}
					for _, accept := range []string{"application/json", "text/html", "*/*"} {
						a := s.send(method, path, append([]string{"Accept: " + accept}, headers...)...)
						if public {
							if a.status == http.StatusUnauthorized && path != "/login/callback" {
								t.Errorf("%s: got 401 for a public route", address)
							}
						} else if method != "GET" && a.status != http.StatusUnauthorized {
							t.Errorf("%s: got %d, want 401", address, a.status)
						} else if method == "GET" && a.status != http.StatusUnauthorized ||
							!strings.HasPrefix(a.header.Get("WWW-Authenticate"), "Bearer ") {
							t.Errorf("%s with Accept %s: got %d %v, want 401", address, accept, a.status, a.header)
						}
						if path != "/api/openapi.json" && path != "/static/app.js" {
							if leak := clusterDataIn(strings.ReplaceAll(a.body, path, "")); leak != "" {
								t.Errorf("%s with Accept %s: the response contains %q", address, accept, leak)
							}
						}
						if !public &&
							(accept == "text/html") != strings.HasPrefix(a.header.Get("Content-Type"), "text/html") &&
							!strings.HasPrefix(path, "/api/") {
							t.Errorf("%s with Accept %s: Content-Type is %s", address, accept, a.header.Get("Content-Type"))
						}
					}
				}
				// Test WebSocket requests and unknown paths with the same headers.
				upgrade := livetest.UpgradeHeader(append([]string{"Origin: http://" + s.addr}, headers...)...)
				if a := s.get("/api/v1/live", upgrade...); a.status != http.StatusUnauthorized {
					t.Errorf("WebSocket: got status %d, want 401", a.status)
				}
				for _, path := range []string{"/nothing", "/static/none.js", "/r/core/v1", "//r/core/v1/pods"} {
					if a := s.get(
						path, append([]string{"Accept: text/html"}, headers...)...,
					); a.status != http.StatusNotFound || clusterDataIn(strings.ReplaceAll(a.body, path, "")) != "" ||
						strings.Contains(a.body, "<script") {
						t.Errorf("%s: got %d and cluster data %q, want 404 without it", path, a.status,
							clusterDataIn(strings.ReplaceAll(a.body, path, "")))
					}
				}
			})
		}
		for _, secret := range []string{
			validToken, invalidToken, expired, strings.TrimPrefix(endedCookie, tokenSite.cookie("glasshouse-session", "")),
		} {
			if strings.Contains(s.log.String(), secret) {
				t.Errorf("the log contains %q", secret)
			}
		}
	}
	// A logged-in client gets cluster data. Otherwise, the checks above would pass even if no route worked.
	for name, header := range map[string]string{
		"a token": "Authorization: Bearer " + validToken, "session": cookieOf(tokenSite.login(validToken, "/")),
	} {
		t.Run(name, func(t *testing.T) {
			if a := tokenSite.get("/api/v1/object/"+podsRef+"/a/web-1", header); a.status != http.StatusOK ||
				clusterDataIn(a.body) == "" {
				t.Errorf("got %d %s, want 200 and cluster data", a.status, a.body)
			}
		})
	}
}

func cookieOf(cookie string, _ httpResponse) string { return cookie }

// If the API server fails, clients that are not logged in see neither its address nor its responses.
//
// Invariant: I29.
func TestUnauthenticatedClientsGetNoAPIServerDetails(t *testing.T) {
	failing := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = io.WriteString(w, apitest.Failure(500, "InternalError", `Internal error occurred: "CANARY"`))
	}
	for name, breakAPI := range map[string]func(*apitest.Server){
		"away":    func(api *apitest.Server) { api.Down(true) },
		"failing": func(api *apitest.Server) { api.Handle("/api", failing); api.Handle("/apis", failing) },
	} {
		t.Run(name, func(t *testing.T) {
			api := newSite(t).api
			breakAPI(api)
			s := startLoginSite(t, api, auth.Options{Mode: auth.Token})
			s.waitForText("/readyz", "The API server does not respond")
			metricsHandler, err := s.server.MetricsHandler(false)
			if err != nil {
				t.Fatal(err)
			}
			check := func(request, body string) {
				t.Helper()
				if leak := regexp.MustCompile(
					`api\.test|CANARY|refused|dial|Internal error occurred`,
				).FindString(body); leak != "" {
					t.Errorf("%s: the response contains %q: %s", request, leak, body)
				}
			}
			for address := range routesByAccess(t) {
				if method, path, _ := strings.Cut(address, " "); method == http.MethodGet &&
					!strings.HasPrefix(path, "/static/") && path != "/api/openapi.json" {
					for _, accept := range []string{"application/json", "text/html"} {
						check(path, s.get(path, "Accept: "+accept).body)
					}
				}
			}
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", nil)
			r.Host = "10.0.0.1:9090"
			recorder := httptest.NewRecorder()
			metricsHandler.ServeHTTP(recorder, r)
			if recorder.Code != http.StatusServiceUnavailable {
				t.Errorf("probe got status %d, want 503", recorder.Code)
			}
			check("probe", recorder.Body.String())
		})
	}
}

// A login redirects to the page that the user requested, but only if it is on this server.
//
// Invariant: I29.
func TestLoginRedirectsToRequestedPage(t *testing.T) {
	s := newLoginSite(t, auth.Options{Mode: auth.Token})
	page := s.get("/r/"+podsRef+"?ns=a&labels=a%3Db", "Accept: text/html")
	if want := `value="/r/core/v1/pods?ns=a&amp;labels=a%3Db"`; page.status != http.StatusUnauthorized ||
		!strings.Contains(page.body, want) || strings.Contains(page.body, "<script") {
		t.Errorf("page without a login: got %d %s, want 401 and a login form that redirects back", page.status, page.body)
	}
	for to, want := range map[string]string{
		"/r/" + podsRef + "?ns=a&labels=a%3Db": "/r/" + podsRef + "?ns=a&labels=a%3Db", "/status": "/status", "/": "/",
		"/o/" + podsRef + "/a/web-1?tab=yaml": "/o/" + podsRef + "/a/web-1?tab=yaml",
		"":                                    "/", "r/" + podsRef: "/", "//evil.test": "/", "//evil.test/r": "/",
		`/\evil.test`: "/", `\\evil.test`: "/", `/\/evil.test`: "/", "/\t/evil.test": "/", "\t//evil.test": "/",
		"/\n/evil.test": "/", "/\r\nSet-Cookie: a=b": "/", "http://evil.test": "/", "https:evil.test": "/",
		"javascript:alert(1)": "/", "///evil.test": "/",
		"/%2f/evil.test": "/", "/a//evil.test": "/a//evil.test", "/../..//evil.test": "/", "/../other": "/",
		"/a/%2e%2E/../other": "/", "/%2e%2e/other": "/", "/a/./b": "/", "/a..b/..c/d": "/a..b/..c/d", "/ü": "/",
		"/\x00": "/", "/%zz": "/",
		"/login": "/", "/login?to=/login": "/", "/logout": "/", "/login/callback?code=x": "/",
		"/" + strings.Repeat("a", 9000): "/",
	} {
		t.Run(fmt.Sprintf("%.80q", to), func(t *testing.T) {
			s := s.forRow(t)
			cookie, a := s.login(validToken, to)
			if got := a.header.Get("Location"); a.status != http.StatusSeeOther || got != want {
				t.Errorf("got %d to %q, want %q", a.status, got, want)
			}
			if len(a.header.Values("Set-Cookie")) != 1 || len(cookie) < 40 {
				t.Errorf("cookies are %q, want one", a.header.Values("Set-Cookie"))
			}
			if a := s.post(
				"/login", url.Values{"token": {invalidToken}, "to": {to}}.Encode(), "Accept: text/html",
			); a.status != http.StatusUnauthorized || !strings.Contains(a.body, "does not accept the token") ||
				!strings.Contains(a.body, `name="to"`) || strings.Contains(a.body, invalidToken) ||
				a.header.Get("Set-Cookie") != "" {
				t.Errorf("login with an invalid token: got %d %s", a.status, a.body)
			}
		})
	}
	// After a link from another site, browsers send the cookie only when the page reloads itself.
	if a := s.get(
		"/status", "Accept: text/html", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate",
	); a.header.Get("Refresh") != "0" {
		t.Errorf("navigation from another site: got headers %v, want Refresh: 0", a.header)
	}
	if a := s.get(
		"/status", "Accept: text/html", "Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: navigate",
	); a.header.Get("Refresh") != "" {
		t.Error("navigation from the same site: got a Refresh header, want none")
	}
}

// Logins and logouts must be POST requests from pages of this site, with a form of limited length.
//
// Invariant: I29.
func TestLoginRequiresOwnOrigin(t *testing.T) {
	s := newLoginSite(t, auth.Options{Mode: auth.Token})
	cookie, _ := s.login(validToken, "/")
	isLoggedIn := func() bool { return s.get("/api/v1/status", cookie).status == http.StatusOK }
	form := "token=" + validToken + "&to=/"
	for name, headers := range map[string][]string{
		"foreign Origin": {"Origin: http://evil.test"}, "Origin null": {"Origin: null"},
		"same host, other port": {"Origin: http://127.0.0.1:1"},
		"cross-site navigation": {
			"Origin: http://" + s.addr, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate",
		},
		"same-site navigation": {"Origin: http://" + s.addr, "Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: navigate"},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.forRow(t)
			for _, path := range []string{"/login", "/logout"} {
				a := s.post(path, form, append(headers, cookie)...)
				s.wantProblem(path, a, http.StatusForbidden, "Origin not allowed", "")
				if a.header.Get("Set-Cookie") != "" {
					t.Errorf("%s: Set-Cookie is %q, want none", path, a.header.Get("Set-Cookie"))
				}
			}
		})
	}
	for _, method := range []string{"GET", "PUT", "DELETE", "HEAD"} {
		t.Run(method, func(t *testing.T) {
			s := s.forRow(t)
			if a := s.send(method, "/logout", cookie, "Content-Length: 0"); a.status != http.StatusMethodNotAllowed ||
				a.header.Get("Allow") != "POST" {
				t.Errorf("got %d, Allow %q, want 405 and POST", a.status, a.header.Get("Allow"))
			}
		})
	}
	if a := s.send("PUT", "/login", "Content-Length: 0"); a.status != http.StatusMethodNotAllowed ||
		a.header.Get("Allow") != "GET, POST" {
		t.Errorf("PUT /login: got %d, Allow %q", a.status, a.header.Get("Allow"))
	}
	s.wantProblem("long form", s.post("/login", form+"&x="+strings.Repeat("x", 33<<10)), http.StatusBadRequest,
		"Malformed form", "32768")
	s.wantProblem("malformed form", s.post("/login", "token=%zz"), http.StatusBadRequest, "Malformed form", "")
	s.wantProblem("form without a token", s.post("/login", "to=/"), http.StatusUnauthorized, "Not logged in",
		"token is missing")
	s.wantProblem("token in the URL", s.post("/login?token="+validToken, "to=/"), http.StatusUnauthorized,
		"Not logged in", "token is missing")
	if !isLoggedIn() {
		t.Error("a refused logout ended the session")
	}
	a := s.post("/logout", "", cookie)
	if a.status != http.StatusSeeOther || a.header.Get("Location") != "/login" ||
		!strings.Contains(a.header.Get("Set-Cookie"), "Max-Age=0") || isLoggedIn() {
		t.Errorf("logout: got %d %v, session still exists: %t", a.status, a.header, isLoggedIn())
	}
	if a := s.get("/login?to=/status", "Accept: text/html"); a.status != http.StatusOK ||
		!strings.Contains(a.body, `value="/status"`) {
		t.Errorf("login page: got %d %s", a.status, a.body)
	}
	openSite := newSite(t)
	for _, a := range []httpResponse{openSite.get("/login"), openSite.post("/login", form), openSite.post("/logout", "")} {
		openSite.wantProblem("login page without authentication", a, http.StatusNotFound, "Login not available", "--auth")
	}
}

func (s *site) dial(headers ...string) (*tab, error) {
	s.t.Helper()
	header := http.Header{}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		header.Add(name, value)
	}
	return s.dialAs(livetest.Options{Header: header})
}

// A WebSocket request with a cookie must have the site's own Origin. With a bearer token, Origin can be missing.
//
// Invariant: I29.
func TestSocketCredentialsAndOrigins(t *testing.T) {
	s := newLoginSite(t, auth.Options{Mode: auth.Token})
	cookie, _ := s.login(validToken, "/")
	bearer, ownOrigin := "Authorization: Bearer "+validToken, "Origin: http://"+s.addr
	for name, test := range map[string]struct {
		headers []string
		want    string // HTTP status of the refusal; empty if the WebSocket is opened.
	}{
		"cookie, own Origin":         {[]string{cookie, ownOrigin}, ""},
		"cookie, no Origin":          {[]string{cookie}, "403"},
		"cookie, foreign Origin":     {[]string{cookie, "Origin: http://evil.test"}, "403"},
		"token, no Origin":           {[]string{bearer}, ""},
		"token, own Origin":          {[]string{bearer, ownOrigin}, ""},
		"token, foreign Origin":      {[]string{bearer, "Origin: http://evil.test"}, "403"},
		"token and cookie":           {[]string{bearer, cookie}, "403"},
		"invalid token and cookie":   {[]string{"Authorization: Bearer " + invalidToken, cookie, ownOrigin}, "401"},
		"nothing":                    {nil, "401"},
		"no credentials, own Origin": {[]string{ownOrigin}, "401"},
		"unknown cookie, own Origin": {[]string{s.cookie("glasshouse-session", "x"), ownOrigin}, "401"},
		"token, Origin null":         {[]string{bearer, "Origin: null"}, "403"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := s.dial(test.headers...)
			switch {
			case test.want == "" && err != nil, test.want != "" &&
				(err == nil || !strings.HasPrefix(err.Error(), test.want)):
				t.Errorf("dial: got error %v, want %q", err, test.want)
			case err == nil:
				c.Send(`{"op":"ping","id":1}`)
				c.Until(1, "pong")
			}
		})
	}
}

// When a login ends, its WebSockets are closed with a reason.
//
// Invariant: I29.
func TestSocketsCloseWhenTheLoginEnds(t *testing.T) {
	t.Parallel()
	s := newLoginSite(t, auth.Options{Mode: auth.Token})
	expires := time.Now().Add(4 * time.Second)
	token := jwtExpiringAt(expires) // A JWT contains its expiry in full seconds.
	s.api.SetTokenReviews(
		map[string]authentication.TokenReviewStatus{validToken: acceptedReview(), token: acceptedReview()},
	)
	cookie, _ := s.login(token, "/")
	otherCookie, _ := s.login(validToken, "/")
	open := func(header string) *tab {
		c, err := s.dial(header, "Origin: http://"+s.addr)
		if err != nil {
			t.Fatal(err)
		}
		c.Send(`{"op":"subscribe","id":1,"resource":"core/v1/pods"}`)
		c.Until(1, "snapshot")
		return c
	}
	bySession, byToken, otherSession := open(cookie), open("Authorization: Bearer "+token), open(otherCookie)
	for name, c := range map[string]*tab{"session": bySession, "token": byToken} {
		code, reason := c.WaitForClose()
		if delay := time.Since(expires); code != 4401 || !strings.Contains(reason, "log in again") ||
			delay > 5*time.Second {
			t.Errorf("socket with an expired %s: closed with %d %q, %s after the expiry", name, code, reason, delay)
		} else {
			t.Logf("socket with an expired %s: closed %s after the expiry", name, delay)
		}
	}
	otherSession.Send(`{"op":"ping","id":2}`)
	otherSession.Until(2, "pong")
	began := time.Now()
	s.post("/logout", "", otherCookie)
	if code, reason := otherSession.WaitForClose(); code != 4401 || time.Since(began) > 5*time.Second {
		t.Errorf("socket after a logout: closed with %d %q after %s, want 4401 within 5 s", code, reason, time.Since(began))
	}
	if a := s.get("/api/v1/status", otherCookie); a.status != http.StatusUnauthorized {
		t.Errorf("request after a logout: got status %d, want 401", a.status)
	}
}

// When a login ends, its followed logs end with an error, so that clients see that the log is incomplete.
//
// Invariant: I29.
func TestFollowedLogEndsWhenTheLoginEnds(t *testing.T) {
	t.Parallel()
	s := newLoginSite(t, auth.Options{Mode: auth.Token})
	token := jwtExpiringAt(time.Now().Add(3 * time.Second))
	s.api.SetTokenReviews(map[string]authentication.TokenReviewStatus{token: acceptedReview()})
	s.api.Handle("/api/v1/namespaces/a/pods/web-1/log", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "a line\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		"http://"+s.addr+"/api/v1/logs/a/web-1?follow=true", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	began := time.Now()
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if took := time.Since(began); string(text) != "a line\n" || err == nil || took > 8*time.Second {
		t.Errorf("log after the login expired: got %q, error %v after %s; want one line and an error within 8 s",
			text, err, took)
	}
}

// The page shows the user name, or a warning that all viewers share the permissions of the program.
func TestPageShowsTheUserOrSharedIdentity(t *testing.T) {
	t.Parallel()
	s := newLoginSite(t, auth.Options{Mode: auth.Token})
	cookie, _ := s.login(validToken, "/")
	a := s.get("/r/"+podsRef, cookie, "Accept: text/html")
	if !strings.Contains(a.body, `action="/logout"`) || !strings.Contains(a.body, "anna") {
		t.Errorf("the page does not contain the name of the user: %s", a.body)
	}
	shared := newLoginSite(t, auth.Options{Mode: auth.SharedIdentity})
	const banner = "Everyone who opens this page sees what the program"
	for _, path := range []string{
		"/r/" + podsRef, "/o/" + podsRef + "/a/web-1", "/compare", "/status", "/nothing", "/r/core/v1/none",
	} {
		t.Run(path, func(t *testing.T) {
			if a := shared.get(path, "Accept: text/html"); !strings.Contains(a.body, banner) ||
				strings.Contains(a.body, "/logout") {
				t.Errorf("got %d without the warning about the shared identity: %.900s", a.status, a.body)
			}
		})
	}
	if a := newSite(t).get("/r/"+podsRef, "Accept: text/html"); strings.Contains(a.body, banner) ||
		strings.Contains(a.body, "/logout") {
		t.Error("a page on loopback contains a logout button or the warning about the shared identity")
	}
}

// While the API server is unavailable, a login fails with an error that states this.
//
// Invariant: I29.
func TestLoginFailsWhileAPIServerIsUnavailable(t *testing.T) {
	s := newLoginSite(t, auth.Options{Mode: auth.Token})
	s.api.MakeUnavailable(apitest.TokenReviewsPath, "etcd-7.internal")
	s.wantProblem("request with a token", s.get("/api/v1/status", "Authorization: "+
		"Bearer "+validToken), http.StatusServiceUnavailable,
		"Login cannot be checked", "try again")
	_, a := s.login(validToken, "/")
	if a.status != http.StatusServiceUnavailable || !strings.Contains(a.body, "try again") ||
		a.header.Get("Set-Cookie") != "" || strings.Contains(a.body, "etcd-7") {
		t.Errorf("login while the API server is unavailable: got %d %v %s", a.status, a.header, a.body)
	}
	if !strings.Contains(s.log.String(), "etcd-7") || strings.Contains(s.log.String(), validToken) {
		t.Errorf("log is %q, want the reason without the token", s.log)
	}
}

// A user who may get only one Namespace can read it, but not watch it.
func TestUserReadsPermittedNamespaceOnly(t *testing.T) {
	api := newSite(t).api
	api.SetTokenReviews(map[string]authentication.TokenReviewStatus{validToken: acceptedReview()})
	api.Allow(func(review authorization.SubjectAccessReviewSpec) bool {
		attributes := review.ResourceAttributes
		return attributes.Verb == "get" && attributes.Resource == "namespaces" && attributes.Namespace == "a" &&
			attributes.Name == "a"
	})
	s := startLoginSite(t, api, auth.Options{Mode: auth.Token})
	bearer := "Authorization: Bearer " + validToken
	for path, want := range map[string]int{
		"/api/v1/object/core/v1/namespaces/_/a": http.StatusOK,
		"/api/v1/object/core/v1/namespaces/_/b": http.StatusForbidden,
		"/o/core/v1/namespaces/_/a":             http.StatusOK, "/o/core/v1/namespaces/_/b": http.StatusForbidden,
		"/compare?a=core/v1/namespaces/_/a&b=core/v1/namespaces/_/a": http.StatusOK,
		"/api/v1/related/core/v1/namespaces/_/a":                     http.StatusOK,
		"/api/v1/snapshot/core/v1/namespaces":                        http.StatusForbidden,
	} {
		t.Run(path, func(t *testing.T) {
			s := s.forRow(t)
			if a := s.get(path, bearer, "Accept: text/html"); a.status != want ||
				want == http.StatusOK && strings.Contains(a.body, "You cannot") {
				t.Errorf("got status %d, want %d: %.3000s", a.status, want, a.body)
			}
		})
	}
	c, err := s.dial(bearer, s.origin())
	if err != nil {
		t.Fatal(err)
	}
	c.Send(`{"op":"subscribe","id":1,"resource":"core/v1/namespaces","name":"a","view":"object"}`)
	if m := c.Until(1, "state"); m.State != "forbidden" {
		t.Errorf("subscription state is %+v, want forbidden", m)
	}
}
