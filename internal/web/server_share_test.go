package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	authentication "k8s.io/api/authentication/v1"
	authorization "k8s.io/api/authorization/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/web"
	"github.com/glasshouse-project/glasshouse/internal/web/auth"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
	"github.com/glasshouse-project/glasshouse/internal/web/share"
)

// shareRequestA is the body of a request to share the pods of namespace "a".
const shareRequestA = `{"parts":[{"resource":"core/v1/pods","namespaces":["a"]}],"to":"/r/core/v1/pods?ns=a",` +
	`"note":"incident ` +
	`12"}`

type created = share.Created

// openedShare is a share link with its token, and the cookie of a guest who has opened the link.
type openedShare struct {
	created

	token  string
	cookie string // The Cookie header line of the guest.
}

func (s *site) createShare(body string, headers ...string) openedShare {
	s.t.Helper()
	a := s.post(s.base+"/api/v1/shares", body, headers...)
	var shared openedShare
	if err := json.Unmarshal([]byte(a.body), &shared.created); a.status != http.StatusCreated || err != nil {
		s.t.Fatalf("POST /api/v1/shares: got %d %s", a.status, a.body)
	}
	_, shared.token, _ = strings.Cut(shared.URL, "#")
	return shared
}

func (s *site) openShare(shared openedShare) openedShare {
	s.t.Helper()
	a := s.post(s.base+"/share", `{"token":"`+shared.token+`"}`)
	cookie, _, _ := strings.Cut(a.header.Get("Set-Cookie"), ";")
	if shared.cookie = "Cookie: " + cookie; a.status != http.StatusOK || len(cookie) < 40 {
		s.t.Fatalf("POST /share: got %d %s", a.status, a.body)
	}
	return shared
}

func (s *site) listShares(headers ...string) (all share.Documents) {
	s.t.Helper()
	a := s.get(s.base+"/api/v1/shares", headers...)
	if err := json.Unmarshal([]byte(a.body), &all); a.status != http.StatusOK || err != nil || all.Shares == nil {
		s.t.Fatalf("GET /api/v1/shares: got %d %s", a.status, a.body)
	}
	return all
}

// cookie returns a Cookie header line. It adds the port of the server to the name of the cookie.
func (s *site) cookie(name, value string) string {
	return "Cookie: " + name + strings.Replace(s.addr, "127.0.0.1:", "-", 1) + "=" + value
}

func (s *site) origin() string { return "Origin: http://" + s.addr }

// Any client with a share link can open it. A revocation ends the open sockets and pages of its guests.
//
// Invariant: I30.
func TestShareOpensUntilItIsRevoked(t *testing.T) {
	s := newSite(t)
	s.waitForLive("core/v1/namespaces")
	shared := s.createShare(shareRequestA)
	if want := "http://" + s.addr + "/share#"; !strings.HasPrefix(shared.URL, want) || len(shared.token) != 43 ||
		shared.Persistent || shared.To != "/r/core/v1/pods?ns=a" || shared.Note != "incident 12" ||
		shared.Expires.Sub(shared.Created) != 24*time.Hour || len(shared.Parts) != 1 || shared.Creator != "" {
		t.Errorf("created share is %+v", shared.created)
	}
	if a := s.get("/share", "Accept: text/html"); a.status != http.StatusOK ||
		clusterDataIn(strings.ReplaceAll(a.body, "/share", "")) != "" || a.header.Get("Set-Cookie") != "" {
		t.Errorf("page of the link: got %d %s", a.status, a.body)
	}
	a := s.post("/share", `{"token":"`+shared.token+`"}`)
	cookie := a.header.Get("Set-Cookie")
	if a.body != `{"to":"/r/core/v1/pods?ns=a"}` ||
		!regexp.MustCompile(
			`^glasshouse-share-\d+=[\w-]{43}; Path=/; Max-Age=86(400|39\d); HttpOnly; SameSite=Lax$`,
		).MatchString(cookie) {
		t.Errorf("POST /share: got %d %s and cookie %q", a.status, a.body, cookie)
	}
	if a := s.post("/share", `{"token":"`+shared.token+`"}`,
		"Origin: https://"+s.addr); !strings.Contains(a.header.Get("Set-Cookie"), "Secure") &&
		a.status == http.StatusOK {
		t.Errorf("cookie over TLS is %q, want Secure", a.header.Get("Set-Cookie"))
	}
	shared = s.openShare(shared)
	if strings.Contains(shared.cookie, shared.token) {
		t.Error("the cookie contains the token")
	}
	a = s.get("/r/"+podsRef, shared.cookie, "Accept: text/html")
	for name, want := range map[string]string{
		"X-Robots-Tag": "noindex", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
	} {
		if got := a.header.Get(name); got != want {
			t.Errorf("header %s of a guest's page is %q, want %q", name, got, want)
		}
	}
	if a.status != http.StatusOK || !strings.Contains(a.body, "web-1") || strings.Contains(a.body, "web-10") ||
		!strings.Contains(a.body, `action="/share/leave"`) {
		t.Errorf("guest's page: got %d %s", a.status, a.body)
	}
	if a := s.get("/", shared.cookie); a.header.Get("Location") != shared.To {
		t.Errorf("GET / as a guest redirects to %q", a.header.Get("Location"))
	}

	c, err := s.dial(shared.cookie, s.origin())
	if err != nil {
		t.Fatal(err)
	}
	c.Send(`{"op":"subscribe","id":1,"resource":"core/v1/pods"}`)
	if m := c.Until(1, "snapshot"); len(m.Rows) != 2 {
		t.Errorf("guest's snapshot: got rows %+v, want 2", m.Rows)
	}
	all := s.listShares()
	if len(all.Shares) != 1 || all.Persistent || all.Shares[0].ID != shared.ID || all.Shares[0].Viewers != 1 ||
		all.Shares[0].LastUsed == nil {
		t.Errorf("list of shares is %+v", all)
	}
	if text := s.get("/api/v1/shares").body; strings.Contains(text, shared.token) ||
		strings.Contains(text, strings.TrimPrefix(shared.cookie, s.cookie("glasshouse-share", ""))) ||
		strings.Contains(text, `"hash"`) {
		t.Errorf("the list of shares contains a token, cookie or hash: %s", text)
	}
	began := time.Now()
	if a := s.send("DELETE", "/api/v1/shares/"+shared.ID, s.origin()); a.status != http.StatusNoContent || a.body != "" {
		t.Errorf("DELETE share: got %d %s, want 204", a.status, a.body)
	}
	if code, reason := c.WaitForClose(); code != 4403 || reason != "this link was revoked or has expired" ||
		time.Since(began) > 5*time.Second {
		t.Errorf("guest's socket closed with %d %q after %s", code, reason, time.Since(began))
	}
	s.wantProblem("guest of an ended share", s.get("/api/v1/snapshot/"+podsRef, shared.cookie), http.StatusUnauthorized,
		"Link expired", "This link was revoked or has expired")
	a = s.get("/r/"+podsRef, shared.cookie, "Accept: text/html")
	if a.status != http.StatusUnauthorized || !strings.Contains(a.body, "Link expired") ||
		!strings.Contains(a.body, `action="/share/leave"`) ||
		clusterDataIn(strings.ReplaceAll(a.body, "core/v1/pods", "")) != "" {
		t.Errorf("guest's page after the end of the share: got %d %s", a.status, a.body)
	}
	s.wantProblem("POST /share with the token of an ended share",
		s.post("/share", `{"token":"`+shared.token+`"}`), http.StatusNotFound, "Link not found", "")
	s.wantProblem("DELETE of an ended share",
		s.send("DELETE", "/api/v1/shares/"+shared.ID, s.origin()), http.StatusNotFound,
		"Link not found", "")
	if all := s.listShares(); len(all.Shares) != 0 {
		t.Errorf("shares after DELETE: got %+v, want none", all)
	}
}

// After leaving a share, a guest is not redirected. If the server requires no login, the response warns that anyone who
// reaches the server can read everything.
//
// Invariant: I30.
func TestLeavingAShareDoesNotRedirect(t *testing.T) {
	openSite := newSite(t)
	for name, test := range map[string]struct {
		s        *site
		headers  []string
		openSite bool
	}{
		"none":            {openSite, nil, true},
		"shared-identity": {startLoginSite(t, openSite.api, auth.Options{Mode: auth.SharedIdentity}), nil, true},
		"token":           {newTeamSite(t, ""), []string{bearerHeader("anna")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := test.s
			shared := s.openShare(s.createShare(shareRequestA, test.headers...))
			a := s.post("/share/leave", "", shared.cookie)
			if a.status != http.StatusOK || a.header.Get("Location")+a.header.Get("Refresh") != "" ||
				!strings.Contains(a.header.Get("Set-Cookie"),
					strings.TrimPrefix(s.cookie("glasshouse-share", "; Path=/; Max-Age=0"), "Cookie: ")) {
				t.Errorf("POST /share/leave: got %d %v", a.status, a.header)
			}
			if !strings.Contains(a.body, "You left the shared view") || !strings.Contains(a.body, `<a href="/">`) ||
				strings.Contains(a.body, "Login is off") != test.openSite || clusterDataIn(a.body) != "" {
				t.Errorf("page after leaving: got %s", a.body)
			}
			ownPage := s.get("/r/"+podsRef, append([]string{"Accept: text/html"}, test.headers...)...)
			if ownPage.status != http.StatusOK || strings.Contains(ownPage.body, " data-open") != test.openSite {
				t.Errorf("page: got %d %s", ownPage.status, ownPage.body)
			}
			if guestPage := s.get("/r/"+podsRef, "Accept: text/html", shared.cookie); guestPage.status != http.StatusOK ||
				strings.Contains(guestPage.body, " data-open") {
				t.Errorf("guest's page: got %d %s", guestPage.status, guestPage.body)
			}
		})
	}
}

// The URL of a share link has the origin and the base path that the browser uses.
func TestShareLinkIsUnderBasePath(t *testing.T) {
	s := newSiteWith(t, web.Options{
		BasePath: "/tools/g",
		Boundary: newBoundary(t, []string{"other.example.org"}, []string{"https://glasshouse.example.org"}),
	})
	for want, headers := range map[string][]string{
		"https://glasshouse.example.org/tools/g/share#": {"Origin: https://glasshouse.example.org"},
		"http://" + s.addr + "/tools/g/share#":          {"Origin: http://" + s.addr},
	} {
		t.Run(strings.ReplaceAll(want, s.addr, "ADDRESS"), func(t *testing.T) {
			s := s.forRow(t)
			shared := s.createShare(shareRequestA, headers...)
			if !strings.HasPrefix(shared.URL, want) {
				t.Errorf("got URL %s, want one that starts with %s", shared.URL, want)
			}
		})
	}
	shared := s.createShare(shareRequestA)
	a := s.post("/tools/g/share", `{"token":"`+shared.token+`"}`)
	cookie, attributes, _ := strings.Cut(a.header.Get("Set-Cookie"), ";")
	if a.body != `{"to":"/r/core/v1/pods?ns=a"}` || !strings.Contains(attributes, "Path=/tools/g/;") {
		t.Errorf("POST /share: got %s and a cookie with %s", a.body, attributes)
	}
	page := s.get("/tools/g/r/"+podsRef, "Cookie: "+cookie, "Accept: text/html")
	if !strings.Contains(page.body, `action="/tools/g/share/leave"`) {
		t.Errorf("guest's page: got %d %s", page.status, page.body)
	}
	if a := s.get("/tools/g/", "Cookie: "+cookie); a.header.Get("Location") != "/tools/g/r/core/v1/pods?ns=a" {
		t.Errorf("GET base path as a guest redirects to %q", a.header.Get("Location"))
	}
	if a := s.post("/tools/g/share/leave", "", "Cookie: "+cookie); !strings.Contains(a.body, `<a href="/tools/g/">`) ||
		!strings.Contains(a.header.Get("Set-Cookie"), "Path=/tools/g/;") {
		t.Errorf("POST share/leave: got %v %s", a.header, a.body)
	}
	// Programs send no Origin header. The link then has the configured origin whose host is in the Host header.
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/tools/g/api/v1/shares",
		strings.NewReader(shareRequestA))
	request.Host = "glasshouse.example.org"
	handler, err := s.server.Handler()
	if err != nil {
		t.Fatal(err)
	}
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	if !strings.Contains(recorder.Body.String(), `"url":"https://glasshouse.example.org/tools/g/share#`) {
		t.Errorf("POST /api/v1/shares without a browser: got %s", recorder.Body)
	}
}

// newTeamSite has the users anna (sees everything), bert (pods of namespace b) and carl (group ops).
func newTeamSite(t *testing.T, dir string) *site {
	t.Helper()
	api := newSite(t).api
	return newTeamSiteWith(t, api, dir)
}

func newTeamSiteWith(t *testing.T, api *apitest.Server, dir string) *site {
	t.Helper()
	users := map[string]authentication.TokenReviewStatus{}
	for name, groups := range map[string][]string{"anna": {"dev"}, "bert": {"dev"}, "carl": {"ops"}} {
		users[name+".token"] = authentication.TokenReviewStatus{
			Authenticated: true, User: authentication.UserInfo{Username: name, UID: name, Groups: groups},
		}
	}
	api.SetTokenReviews(users)
	api.Allow(func(review authorization.SubjectAccessReviewSpec) bool {
		return review.User == "anna" ||
			review.User == "bert" && review.ResourceAttributes.Namespace == "b" &&
				review.ResourceAttributes.Resource == "pods"
	})
	store, err := share.Open(share.Options{Dir: dir, DropAnonymous: true, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return startLoginSiteWith(t, api, auth.Options{Mode: auth.Token}, web.Options{
		Shares: store, ShareAdmins: []string{"ops"},
	})
}

func bearerHeader(name string) string { return "Authorization: Bearer " + name + ".token" }

// Users see and revoke their own share links. Members of an admin group see and revoke all.
//
// Invariant: I30.
func TestSharesAreManagedByTheirCreators(t *testing.T) {
	dir := t.TempDir()
	s := newTeamSite(t, dir)
	annaShare, bertShare := s.createShare(shareRequestA, bearerHeader("anna")),
		s.createShare(
			strings.ReplaceAll(strings.ReplaceAll(shareRequestA, `"a"`, `"b"`), "ns=a", "ns=b"), bearerHeader("bert"),
		)
	if annaShare.Creator != "anna" || bertShare.Creator != "bert" {
		t.Errorf("creators are %q and %q, want anna and bert", annaShare.Creator, bertShare.Creator)
	}
	ids := func(user string) (all []string) {
		for _, d := range s.listShares(bearerHeader(user)).Shares {
			all = append(all, d.ID)
		}
		slices.Sort(all)
		return all
	}
	both := slices.Sorted(slices.Values([]string{annaShare.ID, bertShare.ID}))
	for user, want := range map[string][]string{"anna": {annaShare.ID}, "bert": {bertShare.ID}, "carl": both} {
		t.Run(user, func(t *testing.T) {
			if got := ids(user); !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	missing := s.send("DELETE", "/api/v1/shares/nothere", bearerHeader("bert"))
	other := s.send("DELETE", "/api/v1/shares/"+annaShare.ID, bearerHeader("bert"))
	if other.status != http.StatusNotFound || other.body != missing.body {
		t.Errorf("DELETE of another user's share: got %d %s, of an unknown share: %s", other.status, other.body,
			missing.body)
	}
	guest := s.openShare(annaShare)
	for _, a := range []httpResponse{
		s.get("/api/v1/shares", guest.cookie), s.post("/api/v1/shares", shareRequestA, guest.cookie),
		s.send("DELETE", "/api/v1/shares/"+annaShare.ID, guest.cookie, s.origin()),
		s.get("/api/v1/shares", guest.cookie, bearerHeader("anna")),
	} {
		s.wantProblem("guest", a, http.StatusForbidden, "Not shared", "")
	}
	if a := s.send("DELETE", "/api/v1/shares/"+annaShare.ID, bearerHeader("carl")); a.status != http.StatusNoContent {
		t.Errorf("DELETE by the admin carl: got %d %s, want 204", a.status, a.body)
	}
	if a := s.send("DELETE", "/api/v1/shares/"+bertShare.ID, bearerHeader("bert")); a.status != http.StatusNoContent ||
		len(ids("carl")) != 0 {
		t.Errorf("DELETE by the creator bert: got %d %s, want 204", a.status, a.body)
	}
	text, err := os.ReadFile(filepath.Join(dir, "audit.jsonl"))
	if err != nil ||
		!strings.Contains(string(text),
			`"event":"revoke","id":"`+annaShare.ID+`","creator":"anna","by":"carl","from":"127.0.0.1"`) {
		t.Errorf("audit log is %s, error %v", text, err)
	}
	for _, secret := range []string{annaShare.token, strings.TrimPrefix(guest.cookie, s.cookie("glasshouse-share", ""))} {
		if strings.Contains(string(text)+s.log.String(), secret) {
			t.Error("a log contains a token or a cookie")
		}
	}
}

// A share link is refused if it is invalid, or if its creator may not see the data.
//
// Invariant: I30.
func TestInvalidSharesAreRefused(t *testing.T) {
	t.Parallel()
	s := newTeamSite(t, "")
	body := func(members string, parts ...string) string {
		if len(parts) == 0 {
			parts = []string{`{"resource":"core/v1/pods","namespaces":["b"]}`}
		}
		if !strings.Contains(members, `"to"`) {
			members += `,"to":"/r/core/v1/pods?ns=b"`
		}
		return `{"parts":[` + strings.Join(parts, ",") + `]` + members + `}`
	}
	for text, want := range map[string]struct {
		status        int
		title, detail string
	}{
		"": {400, "Malformed body", ""}, "{}": {400, "Invalid link", "from 1 to 100"},
		"[]": {400, "Malformed body", ""}, "null": {400, "Invalid link", ""},
		`{"token":"x"}`: {400, "Malformed body", "token"}, body("") + "{}": {400, "Malformed body", "unexpected data"},
		body(`,"more":1`): {400, "Malformed body", "more"},
		body("", `{"resource":"core/v1/pods","secret":true}`): {
			400, "Malformed body",
			"secret",
		},
		body("", strings.Split(strings.Repeat(`{"resource":"x"} `, 101), " ")[:101]...): {400, "Invalid link", "101"},
		body(`,"seconds":59`):      {400, "Invalid time", "60"},
		body(`,"seconds":2592001`): {400, "Invalid time", "2592000"},
		body(`,"seconds":0`):       {400, "Invalid time", ""}, body(`,"seconds":1.5`): {400, "Malformed body", ""},
		body(`,"note":"a\nb"`):                              {400, "Invalid note", ""},
		body(`,"note":"` + strings.Repeat("x", 1001) + `"`): {400, "Invalid note", "1000"},
		body("", `{"resource":"core/v1/none"}`): {
			404, "Unknown resource",
			"core/v1/none",
		},
		body("", `{"resource":"core/v1/pods","labels":"a=b=c"}`):                {400, "Invalid label selector", "a=b=c"},
		body("", `{"resource":"core/v1/pods","namespaces":["a"]}`):              {403, "Forbidden", `"a"`},
		body("", `{"resource":"core/v1/pods","namespaces":["a","b"]}`):          {403, "Forbidden", `"a"`},
		body("", `{"resource":"core/v1/namespaces"}`):                           {403, "Forbidden", "Namespaces"},
		body(`,"to":"/r/core/v1/pods?ns=a"`):                                    {400, "Not shared", "ns=a"},
		body(`,"to":"/r/core/v1/namespaces"`):                                   {400, "Not shared", ""},
		body(`,"to":"/r/core/v1/none"`):                                         {400, "Not shared", ""},
		body(`,"to":"/o/core/v1/pods/a/web-1"`):                                 {400, "Not shared", ""},
		body(`,"to":"/compare?a=core/v1/pods/b/web-10&b=core/v1/pods/a/web-1"`): {400, "Not shared", ""},
		body(`,"to":""`):          {400, "Invalid page", "the home page"},
		body(`,"to":"/ns/a"`):     {400, "Not shared", "/ns/a"},
		body(`,"to":"/?ns=b"`):    {400, "Invalid page", ""},
		body(`,"to":"/?sort=x"`):  {400, "Invalid page", ""},
		body(`,"to":"/?q=%zz"`):   {400, "Invalid page", ""},
		body(`,"to":"/#x"`):       {400, "Invalid page", ""},
		body(`,"to":"/ns/b/x"`):   {400, "Invalid page", ""},
		body(`,"to":"/ns/b%2Fx"`): {400, "Invalid page", ""},
		body(`,"to":"/"`, `{"resource":"core/v1/pods","namespaces":["b"],"name":"web-10"}`): {400, "Not shared", ""},
		body(`,"to":"/status"`):                           {400, "Invalid page", ""},
		body(`,"to":"//evil.test/r/core/v1/pods"`):        {400, "Invalid page", ""},
		body(`,"to":"https://evil.test/"`):                {400, "Invalid page", ""},
		body(`,"to":"/\\evil.test"`):                      {400, "Invalid page", ""},
		body(`,"to":"/r/core/v1/pods#x"`):                 {400, "Invalid page", ""},
		body(`,"to":"/logout"`):                           {400, "Invalid page", ""},
		body(`,"to":"/r/core/v1/pods/../../../../share"`): {400, "Invalid page", ""},
		body(`,"to":"/r/core/v1/pods?ns=%zz"`):            {400, "Invalid page", ""},
		body(`,"to":"/api/v1/snapshot/core/v1/pods"`):     {400, "Invalid page", ""},
		`{"note":"` + strings.Repeat("x", 70<<10) + `"}`:  {413, "Body too large", ""},
	} {
		s.wantProblem(
			fmt.Sprintf("%.200s", text),
			s.post("/api/v1/shares", text, bearerHeader("bert")),
			want.status,
			want.title,
			want.detail,
		)
	}
	if n := len(s.listShares(bearerHeader("carl")).Shares); n != 0 {
		t.Errorf("%d invalid shares were created, want 0", n)
	}
	for _, to := range []string{
		"/r/core/v1/pods", "/r/core/v1/pods?ns=b&labels=app%3Dweb&q=x&sort=-age", "/o/core/v1/pods/b/web-10",
		"/compare?a=core/v1/pods/b/web-10&b=web-11", "/", "/?q=is:failed", "/ns/b",
	} {
		t.Run(to, func(t *testing.T) {
			s := s.forRow(t)
			if shared := s.createShare(body(`,"seconds":3600,"to":"`+to+`"`), bearerHeader("bert")); shared.To != to ||
				shared.Expires.Sub(shared.Created) != time.Hour {
				t.Errorf("created share is %+v", shared)
			}
		})
	}
}

// Browsers send cookies to all ports of a host. A cookie of another port must have no effect.
//
// Invariant: I29.
func TestCookiesOfOtherPortsAreIgnored(t *testing.T) {
	jar, err := cookiejar.New(nil) // The cookie jar behaves like that of a browser.
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{
		Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	defer browser.CloseIdleConnections()
	send := func(s *site, method, path, kind, body string) int {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.addr+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", kind)
		response, err := browser.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		_, _ = io.Copy(io.Discard, response.Body)
		return response.StatusCode
	}
	status := func(name string, s *site, path string, want int) {
		t.Helper()
		if got := send(s, "GET", path, "", ""); got != want {
			t.Errorf("%s: got status %d, want %d", name, got, want)
		}
	}
	siteA, siteB := newSite(t), newSite(t)
	send(siteA, "POST", "/share", "application/json", `{"token":"`+siteA.createShare(shareRequestA).token+`"}`)
	status("guest", siteA, "/api/v1/shares", http.StatusForbidden)
	status("same browser at the other port", siteB, "/api/v1/shares", http.StatusOK)
	send(siteB, "POST", "/share/leave", "", "")
	status("guest after leaving at the other port", siteA, "/api/v1/shares", http.StatusForbidden)

	first, second := newLoginSite(t, auth.Options{Mode: auth.Token}), newLoginSite(t, auth.Options{Mode: auth.Token})
	for _, s := range []*site{first, second} {
		send(s, "POST", "/login", "application/x-www-form-urlencoded", url.Values{"token": {validToken}}.Encode())
	}
	status("user logged in at both ports", first, "/api/v1/status", http.StatusOK)
	send(second, "POST", "/logout", "", "")
	status("user after logging out", second, "/api/v1/status", http.StatusUnauthorized)
	status("user after logging out at the other port", first, "/api/v1/status", http.StatusOK)
}

// A request with an invalid body or token gets the same response as for an ended link.
//
// Invariant: I30.
func TestInvalidTokensAreAnsweredLikeEndedShares(t *testing.T) {
	s := newSite(t)
	shared := s.createShare(shareRequestA)
	ended := s.createShare(shareRequestA)
	s.send("DELETE", "/api/v1/shares/"+ended.ID, s.origin())
	want := s.post("/share", `{"token":"`+ended.token+`"}`)
	s.wantProblem("token of an ended share", want, http.StatusNotFound, "Link not found", "")
	cookie := strings.TrimPrefix(s.openShare(shared).cookie, s.cookie("glasshouse-share", ""))
	labels := strings.NewReplacer(shared.token, "TOKEN", shared.token[1:], "PART", cookie, "COOKIE", shared.ID, "ID",
		strings.ToLower(shared.token), "LOWERCASE")
	for _, body := range []string{
		"", "{}", "[]", "null", "token=" + shared.token, shared.token, `{"token":""}`, `{"token":null}`, `{"token":5}`,
		`{"token":"` + shared.token + `","x":1}`, `{"token":"` + shared.token + `"}{}`,
		`{"token":"` + shared.token[1:] + `"}`, `{"token":"` + shared.token + `="}`, `{"token":" ` + shared.token + `"}`,
		`{"token":"` + strings.ToLower(shared.token) + `"}`,
		`{"token":"` + cookie + `"}`, `{"token":"` + shared.ID + `"}`, `{"token":"` + strings.Repeat("x", 60<<10) + `"}`,
		"\x00", `{"token":"` + strings.Repeat("[", 10_000) + `"}`, strings.Repeat("[", 10_000),
	} {
		t.Run(fmt.Sprintf("%.80q", labels.Replace(body)), func(t *testing.T) {
			s := s.forRow(t)
			if a := s.post("/share", body); a.status != want.status || a.body != want.body ||
				a.header.Get("Set-Cookie") != "" {
				t.Errorf("got %d %s %v, want %d %s without a cookie", a.status, a.body, a.header, want.status, want.body)
			}
		})
	}
	for _, value := range []string{"x", shared.token, shared.ID, cookie + "x", strings.ToUpper(cookie), ""} {
		s.wantProblem("cookie "+value, s.get("/api/v1/status", s.cookie("glasshouse-share", value)),
			http.StatusUnauthorized, "Link expired", "")
	}
	if a := s.get("/api/v1/status",
		s.cookie("glasshouse-share", "x; ")+
			strings.TrimPrefix(s.cookie("glasshouse-share", cookie), "Cookie: ")); a.status != http.StatusOK {
		t.Errorf("request with two cookies: got status %d, want 200", a.status)
	}
	if strings.Contains(s.log.String(), shared.token) || strings.Contains(s.log.String(), cookie) {
		t.Error("the log contains a token or a cookie")
	}
}

// Pages of other sites cannot create or revoke share links. They also cannot set or remove a guest cookie.
//
// Invariant: I30.
func TestSharesRequireOwnOrigin(t *testing.T) {
	s := newSite(t)
	shared := s.openShare(s.createShare(shareRequestA))
	for name, headers := range map[string][]string{
		"foreign Origin": {"Origin: http://evil.test"}, "Origin null": {"Origin: null"},
		"cross-site navigation": {
			s.origin(), "Sec-Fetch-Site: cross-site",
			"Sec-Fetch-Mode: navigate",
		}, "same-site request": {
			s.origin(), "Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: cors",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.forRow(t)
			for path, body := range map[string]string{
				"/api/v1/shares": shareRequestA, "/share": `{"token":"` + shared.token + `"}`, "/share/leave": "",
			} {
				a := s.post(path, body, headers...)
				s.wantProblem(path, a, http.StatusForbidden, "Origin not allowed", "")
				if a.header.Get("Set-Cookie") != "" {
					t.Errorf("%s: a cookie was set", path)
				}
			}
			s.wantProblem("DELETE", s.send("DELETE", "/api/v1/shares/"+shared.ID, headers...),
				http.StatusForbidden, "Origin not allowed", "")
		})
	}
	if n := len(s.listShares().Shares); n != 1 {
		t.Errorf("got %d shares, want 1", n)
	}
	for _, path := range []string{"/share", "/share/leave", "/api/v1/shares", "/api/v1/shares/" + shared.ID} {
		a := s.get(path, shared.cookie)
		if a.header.Get("Set-Cookie") != "" || len(s.listShares().Shares) != 1 {
			t.Errorf("GET %s set a cookie or changed the shares", path)
		}
	}
	if a := s.dialStatus(shared.cookie); a != "403" {
		t.Errorf("guest's socket without an Origin: got %s, want 403", a)
	}
	if a := s.dialStatus(shared.cookie, "Origin: http://evil.test"); a != "403" {
		t.Errorf("guest's socket with a foreign Origin: got %s, want 403", a)
	}
}

// dialStatus tries to open a WebSocket. It returns the HTTP status of the refusal, or "101" if the WebSocket opens.
func (s *site) dialStatus(headers ...string) string {
	c, err := s.dial(headers...)
	if err == nil {
		c.Close()
		return "101"
	}
	status, _, _ := strings.Cut(err.Error(), ":")
	return status
}

// A guest cookie overrides all other credentials of a request until the guest leaves the share link.
//
// Invariant: I30.
func TestGuestCookieOverridesOtherCredentials(t *testing.T) {
	s := newTeamSite(t, "")
	login, _ := s.login("anna.token", "/")
	shared := s.openShare(s.createShare(shareRequestA, bearerHeader("anna")))
	both := login + "; " + strings.TrimPrefix(shared.cookie, "Cookie: ")
	total := func(headers ...string) string {
		// A request without credentials must receive a problem document, which has the member "title".
		s.waitForText("/api/v1/snapshot/"+podsRef, `"title"`)
		return regexp.MustCompile(`"total":\d+`).FindString(s.get("/api/v1/snapshot/"+podsRef, headers...).body)
	}
	for name, test := range map[string]struct {
		headers []string
		want    string
	}{
		"cookie of the share": {[]string{shared.cookie}, `"total":2`}, "both cookies": {[]string{both}, `"total":2`},
		"cookie of the share and a token":          {[]string{shared.cookie, bearerHeader("anna")}, `"total":2`},
		"cookie of the share and an invalid token": {[]string{shared.cookie, "Authorization: Bearer x"}, `"total":2`},
		"cookie of the share and a proxy header":   {[]string{shared.cookie, "X-Forwarded-User: anna"}, `"total":2`},
		"only the login":                           {[]string{login}, `"total":3`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := total(test.headers...); got != test.want {
				t.Errorf("%s: got total %s, want %s", name, got, test.want)
			}
		})
	}
	page := s.get("/r/"+podsRef, both, "Accept: text/html").body
	if strings.Contains(page, "anna") || strings.Contains(page, `action="/logout"`) ||
		!strings.Contains(page, `action="/share/leave"`) {
		t.Error("a guest's page contains the creator or a logout button")
	}
	s.send("DELETE", "/api/v1/shares/"+shared.ID, bearerHeader("anna"))
	s.wantProblem("guest who is logged in, after the share ended", s.get("/api/v1/status", both), http.StatusUnauthorized,
		"Link expired", "")
	if a := s.get("/api/v1/status", login); a.status != http.StatusOK {
		t.Errorf("user after leaving the share: got status %d, want 200", a.status)
	}
}

// A guest sees only what the link shares. On every route, a hidden object has the same response as a missing one.
//
// Invariant: I30.
func TestGuestSeesOnlyWhatIsShared(t *testing.T) {
	skipIfShort(t)
	t.Parallel()
	s := newTeamSite(t, "")
	for _, name := range []string{"canary-w"} {
		s.api.Set(widgetsRef, apitest.Item{Name: name})
	}
	s.api.Set(podsRef, apitest.Item{
		Namespace: "b", Name: "canary-b", Cells: `["canary-b","leaked","5m"]`, Metadata: `"labels":{"app":"web"}`,
		Rest: `"spec":{"note":"leaked"}`,
	})
	s.api.Set(podsRef, apitest.Item{
		Namespace: "a", Name: "canary-db", Cells: `["canary-db","leaked","5m"]`, Metadata: `"labels":{"app":"db"}`,
		Rest: `"spec":{"note":"leaked"}`,
	})
	s.api.Set("core/v1/namespaces", apitest.Item{Name: "canary-ns"})
	s.api.Set("core/v1/secrets", apitest.Item{Namespace: "a", Name: "canary-s"})
	// Requests of another user make the server watch all resources.
	for _, ref := range []string{podsRef, widgetsRef, "core/v1/secrets", "core/v1/namespaces"} {
		for began := time.Now(); !strings.Contains(s.get("/api/v1/snapshot/"+ref, bearerHeader("anna")).body, "canary"); {
			if time.Since(began) > time.Minute {
				t.Fatalf("resource %s has no objects after a minute", ref)
			}
		}
	}
	shared := s.openShare(
		s.createShare(`{"parts":[{"resource":"core/v1/pods","namespaces":["a"],"labels":"app=web"}],"to":"/r/`+
			`core/v1/pods?ns=a&labels=app%3Dweb"}`, bearerHeader("anna")),
	)
	canary := regexp.MustCompile(`canary|leaked|widget|Widget|secrets|Secret\b|web-10|anna|example\.com|"core/v1/` +
		`namespaces"`)
	requested := map[string]bool{}
	check := func(method, path, accept string) httpResponse {
		a := s.send(method, path, shared.cookie, "Accept: "+accept, s.origin())
		requested[path] = true
		body := a.body
		if !strings.HasPrefix(path, "/api/") { // A page contains the path of its request. Remove that path from the body.
			for _, echo := range regexp.MustCompile(`canary[\w-]*|[\w.]+/v1/\w+`).FindAllString(path, -1) {
				body = strings.NewReplacer(echo, "", url.QueryEscape(echo), "").Replace(body)
			}
		}
		if leak := canary.FindString(body); leak != "" && path != "/api/openapi.json" &&
			!strings.HasPrefix(path, "/static/") {
			t.Errorf("%s %s with Accept %s shows a guest %q: %d %s", method, path, accept, leak, a.status, body)
		}
		if a.header.Get("X-Robots-Tag") != "noindex" {
			t.Errorf("%s %s has no X-Robots-Tag: noindex", method, path)
		}
		return a
	}
	for address := range routesByAccess(t) {
		method, path, _ := strings.Cut(address, " ")
		if method != http.MethodGet || path == "/login/callback" {
			continue
		}
		for _, accept := range []string{"application/json", "text/html"} {
			check(method, path, accept)
		}
	}
	for _, accept := range []string{"application/json", "text/html"} {
		for _, path := range []string{
			"/api/v1/search?q=canary", "/api/v1/search?q=web", "/api/v1/resources",
			"/compare?a=core/v1/pods/a/web-1&b=core/v1/pods/b/canary-b", "/compare?a=core/v1/pods/a/web-1",
			"/compare?a=core/v1/pods/a/canary-db", "/r/core/v1/pods?q=canary", "/r/core/v1/pods?labels=app%3Ddb",
			"/r/core/v1/pods?ns=a&ns=b", "/api/v1/related/core/v1/pods/a/web-1",
		} {
			check(http.MethodGet, path, accept)
		}
		// Compare the responses for a hidden and a missing object: except for the names of the objects, they must be equal.
		for _, pair := range [][2]string{
			{"/api/v1/snapshot/example.com/v1/widgets", "/api/v1/snapshot/example.com/v1/nothing"},
			{"/api/v1/snapshot/core/v1/secrets?ns=a", "/api/v1/snapshot/core/v1/nothing?ns=a"},
			{"/api/v1/snapshot/core/v1/pods?ns=b", "/api/v1/snapshot/core/v1/pods?ns=nowhere"},
			{"/api/v1/object/core/v1/pods/b/canary-b", "/api/v1/object/core/v1/pods/b/nothing"},
			{"/api/v1/object/core/v1/pods/a/canary-db", "/api/v1/object/core/v1/pods/a/nothing"},
			{"/api/v1/object/core/v1/namespaces/_/canary-ns", "/api/v1/object/core/v1/namespaces/_/nothing"},
			{"/o/core/v1/pods/a/canary-db", "/o/core/v1/pods/a/nothing"},
			{"/o/example.com/v1/widgets/_/canary-w", "/o/example.com/v1/nothing/_/canary-w"},
			{"/r/example.com/v1/widgets", "/r/example.com/v1/nothing"},
			{"/api/v1/related/core/v1/pods/a/canary-db", "/api/v1/related/core/v1/pods/a/nothing"},
			{"/api/v1/logs/a/canary-db", "/api/v1/logs/a/nothing"},
			{"/api/v1/logs/a/web-1", "/api/v1/logs/b/web-10"},
		} {
			t.Run(pair[0]+" with Accept "+accept, func(t *testing.T) {
				existing, missing := check(http.MethodGet, pair[0], accept), check(http.MethodGet, pair[1], accept)
				if existing.status != http.StatusForbidden || missing.status != http.StatusForbidden {
					t.Errorf("got %d for an existing and %d for a missing object; want 403 for both",
						existing.status, missing.status)
				}
				if strings.HasPrefix(pair[0], "/api/") && existing.body != missing.body {
					t.Errorf("responses for an existing and a missing object differ: %s and %s", existing.body, missing.body)
				}
			})
		}
	}
	var got struct{ Total int }
	if a := check(http.MethodGet, "/api/v1/snapshot/"+podsRef, "application/json"); json.Unmarshal([]byte(a.body),
		&got) != nil || got.Total != 2 {
		t.Errorf("guest's snapshot is %s", a.body)
	}
	if a := check(http.MethodGet, "/api/v1/object/core/v1/pods/a/web-1",
		"application/json"); a.status != http.StatusOK {
		t.Errorf("guest's request of a shared object: got %d %s, want 200", a.status, a.body)
	}
	c, err := s.dial(shared.cookie, s.origin())
	if err != nil {
		t.Fatal(err)
	}
	c.Send(`[{"op":"subscribe","id":1,"resource":"core/v1/pods"},{"op":"subscribe","id":2,"view":"resources"},` +
		`{"op":"subscribe","id":3,"resource":"example.com/v1/widgets"},
		{"op":"subscribe","id":4,"resource":"core/v1/pods","ns":["b"]},` +
		`{"op":"subscribe","id":5,"resource":"core/v1/pods","ns":["a"],"name":"canary-db","view":"object"},
		{"op":"subscribe","id":6,"resource":"core/v1/pods","ns":["a"],"name":"web-1","view":"log"},{"op":"ping","id":7},
		{"op":"subscribe","id":8,"resource":"core/v1/pods","ns":["a"],"name":"nothing","view":"object"},` +
		`{"op":"subscribe","id":9,"resource":"example.com/v1/nothing"}]`)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	messages := map[string]bool{}
	for {
		m, err := c.Client.Read(ctx)
		if err != nil {
			break
		}
		if leak := canary.Find(m.Raw); leak != nil {
			t.Errorf("the socket shows a guest %q: %s", leak, m.Raw)
		}
		if m.ID != 0 {
			messages[fmt.Sprint(m.ID, " ", m.Type, " ", m.State, m.Problem.Title, " ", len(m.Rows), " ",
				string(m.Object))] = true
		}
	}
	for _, want := range []string{
		"1 snapshot  2 ", "2 resources  0 ", "3 error Forbidden 0 ", "9 error Forbidden 0 ", "4 state forbidden 0 ",
		"5 snapshot  0 ", "8 snapshot  0 ", "6 error Forbidden 0 ", "7 pong  0 ",
	} {
		if !messages[want] {
			t.Errorf("messages do not contain %q: %v", want, messages)
		}
	}
	if len(requested) < 40 {
		t.Errorf("got only %d requests, want at least 40", len(requested))
	}
}

// After a share link is revoked, the sockets of its 100 guests end within 5 s.
//
// Invariant: I30.
func TestRevokeEndsTheSocketsOfAllGuests(t *testing.T) {
	s := newSite(t)
	shared := s.openShare(s.createShare(shareRequestA))
	other := s.openShare(s.createShare(shareRequestA))
	otherGuest, err := s.dial(other.cookie, s.origin())
	if err != nil {
		t.Fatal(err)
	}
	const guests = 40
	var reading sync.WaitGroup
	lastReads, codes := make([]time.Time, guests), make([]websocket.StatusCode, guests)
	var firstChanges sync.WaitGroup // Waits until every guest has received a change.
	stop := make(chan struct{})
	var changing sync.WaitGroup
	changing.Go(func() { // Continuously change an object that the guests see.
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			case <-time.After(50 * time.Millisecond):
				s.api.Set(podsRef, apitest.Item{
					Namespace: "a", Name: "web-1", Cells: fmt.Sprintf(`["web-1","%d","5m"]`, n),
				})
			}
		}
	})
	for n := range guests {
		c, err := s.dial(shared.cookie, s.origin())
		if err != nil {
			t.Fatal(err)
		}
		c.Send(`{"op":"subscribe","id":1,"resource":"core/v1/pods"}`)
		c.Until(1, "snapshot")
		firstChanges.Add(1)
		reading.Go(func() {
			done := sync.OnceFunc(firstChanges.Done)
			defer done()
			for {
				if _, err := c.Client.Read(t.Context()); err != nil {
					codes[n] = websocket.CloseStatus(err)
					return
				}
				done()
				lastReads[n] = time.Now()
			}
		})
	}
	if viewers := s.listShares().Shares; len(viewers) != 2 || viewers[0].Viewers+viewers[1].Viewers != guests+1 {
		t.Errorf("viewers of the shares are %+v", viewers)
	}
	firstChanges.Wait()
	began := time.Now()
	if a := s.send("DELETE", "/api/v1/shares/"+shared.ID, s.origin()); a.status != http.StatusNoContent {
		t.Fatalf("DELETE share: got %d %s, want 204", a.status, a.body)
	}
	reading.Wait()
	took := time.Since(began)
	close(stop)
	changing.Wait()
	var last time.Duration
	for n := range guests {
		last = max(last, lastReads[n].Sub(began))
		if codes[n] != 4403 {
			t.Errorf("socket of guest %d closed with %d, want 4403", n, codes[n])
		}
	}
	if took > 5*time.Second {
		t.Errorf("the last of %d sockets closed %s after DELETE, want at most 5 s", guests, took)
	}
	t.Logf("%d guests: last byte %s, last close %s after DELETE", guests, last, took)
	otherGuest.Send(`{"op":"ping","id":2}`)
	otherGuest.Until(2, "pong")
}

// Invariant: I30.
func TestSocketsCloseWhenTheShareExpires(t *testing.T) {
	t.Parallel()
	store, err := share.Open(share.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := newSiteWith(t, web.Options{Shares: store})
	s.createShare(shareRequestA)
	short := store.List(nil, true)[0].Share
	short.Expires = time.Now().Add(3 * time.Second)
	_, token, err := store.Create(t.Context(), short, share.Actor{})
	if err != nil {
		t.Fatal(err)
	}
	shared := s.openShare(openedShare{token: token})
	c, err := s.dial(shared.cookie, s.origin())
	if err != nil {
		t.Fatal(err)
	}
	code, _ := c.WaitForClose()
	if delay := time.Since(short.Expires); code != 4403 || delay < 0 || delay > 5*time.Second {
		t.Errorf("socket closed with %d, %s after the expiry", code, delay)
	}
	s.wantProblem("guest after the expiry",
		s.get("/api/v1/status", shared.cookie), http.StatusUnauthorized, "Link expired", "")
}

// A link can share all logs of a namespace, but only together with its pods.
//
// Invariant: I30.
func TestLinkSharesLogsOfItsNamespace(t *testing.T) {
	s := newSite(t)
	for _, pod := range []string{"a/pods/web-1", "a/pods/web-2", "b/pods/other"} {
		s.api.Handle("/api/v1/namespaces/"+pod+"/log", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "a line of "+pod+"\n")
		})
	}
	const logs = `{"resource":"core/v1/pods/log","namespaces":["a"]}`
	for _, pods := range []string{`{"resource":"core/v1/pods"}`, `{"resource":"core/v1/pods","namespaces":["a"]}`} {
		t.Run(pods, func(t *testing.T) {
			s := s.forRow(t)
			shared := s.openShare(s.createShare(`{"parts":[` + pods + `,` + logs + `],"to":"/r/core/v1/pods?ns=a"}`))
			for path, want := range map[string]int{
				"a/web-1": http.StatusOK, "a/web-2": http.StatusOK, "b/other": http.StatusForbidden,
			} {
				t.Run(path, func(t *testing.T) {
					s := s.forRow(t)
					if a := s.get("/api/v1/logs/"+path, shared.cookie); a.status != want ||
						strings.Contains(a.body, "a line of") != (want == http.StatusOK) {
						t.Errorf("got status %d %s, want %d", a.status, a.body, want)
					}
				})
			}
		})
	}
	for _, to := range []string{
		"/r/core/v1/pods/log?ns=a", "/r/core/v1/pods?ns=a", "/o/core/v1/pods/a/web-1?tab=logs",
	} {
		t.Run(to, func(t *testing.T) {
			s := s.forRow(t)
			if a := s.post("/api/v1/shares", `{"parts":[`+logs+`],"to":"`+to+`"}`); a.status != http.StatusBadRequest {
				t.Errorf("got %d %s, want 400", a.status, a.body)
			}
		})
	}
}

// When a share link ends, its guests' followed logs end with an error, so that clients see that the log is incomplete.
//
// Invariant: I30.
func TestFollowedLogEndsWhenTheShareEnds(t *testing.T) {
	s := newSite(t)
	s.api.Handle("/api/v1/namespaces/a/pods/web-1/log", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "a line\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	shared := s.openShare(
		s.createShare(`{"parts":[{"resource":"core/v1/pods","namespaces":["a"]},{"resource":"core/v1/pods/` +
			`log","namespaces":["a"]}],"to":"/o/core/v1/pods/a/web-1?tab=logs"}`),
	)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		"http://"+s.addr+"/api/v1/logs/a/web-1?follow=true", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Cookie", strings.TrimPrefix(shared.cookie, "Cookie: "))
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	line := make([]byte, len("a line\n"))
	if _, err := io.ReadFull(response.Body, line); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	s.send("DELETE", "/api/v1/shares/"+shared.ID, s.origin())
	rest, err := io.ReadAll(response.Body)
	if took := time.Since(began); len(rest) > 0 || err == nil || took > 5*time.Second {
		t.Errorf("log after the share ended: got %q, error %v after %s; want an error within 5 s", rest, err, took)
	}
}

// When a share link or a login ends, slow clients receive no more data of unfinished responses.
//
// Invariant: I29, I30.
func TestResponsesEndWithTheShareOrLogin(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]func(t *testing.T) (s *site, cookie string, end func()){
		"share": func(t *testing.T) (*site, string, func()) {
			t.Helper()
			s := newSite(t)
			shared := s.openShare(s.createShare(shareRequestA))
			return s, shared.cookie, func() { s.send("DELETE", "/api/v1/shares/"+shared.ID, s.origin()) }
		},
		"login": func(t *testing.T) (*site, string, func()) {
			t.Helper()
			s := newLoginSite(t, auth.Options{Mode: auth.Token})
			cookie, _ := s.login(validToken, "/")
			return s, cookie, func() { s.post("/logout", "", cookie) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, cookie, end := test(t)
			// The response must be larger than the buffers of the connection, so that it is partly unsent.
			const objects, size = 120, 100 << 10
			for n := range objects {
				s.api.Set(podsRef, apitest.Item{
					Namespace: "a", Name: fmt.Sprint("large-", n),
					Rest: `"spec":{"note":"` + strings.Repeat("x", size) + `"}`,
				})
			}
			s.waitForText("/api/v1/snapshot/"+podsRef+"?ns=a&limit=1", fmt.Sprintf(`"total":%d`, objects+2), cookie)
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.addr)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			if _, err := fmt.Fprintf(conn,
				"GET /api/v1/snapshot/%s?ns=a&view=objects HTTP/1.1\r\nHost: %s\r\n%s\r\n\r\n", podsRef, s.addr,
				cookie); err != nil {
				t.Fatal(err)
			}
			response, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil || response.StatusCode != http.StatusOK {
				t.Fatalf("snapshot: got %+v, error %v", response, err)
			}
			began := time.Now()
			end()
			rest, err := io.Copy(io.Discard, response.Body)
			if took := time.Since(began); err == nil || rest > objects*size || took > 5*time.Second {
				t.Errorf("got %d bytes, error %v after %s; want an aborted response", rest, err, took)
			} else {
				t.Logf("got %d bytes of %d, in %s", rest, objects*size, took)
			}
		})
	}
}

// Open logs are limited per user, per link and for all guests, to leave room for other callers.
//
// Invariant: I30.
func TestLogsAreLimitedByUserAndLink(t *testing.T) {
	s := newTeamSite(t, "")
	for _, path := range []string{"a/pods/web-1", "b/pods/web-10"} {
		s.api.Handle("/api/v1/namespaces/"+path+"/log", func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "a line\n")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		})
	}
	read := func(ns, pod string, headers ...string) (n int) {
		t.Helper()
		c, err := s.dial(headers...)
		if err != nil {
			t.Fatal(err)
		}
		for id := 1; id <= 100; id++ {
			c.Send(fmt.Sprintf(`{"op":"subscribe","id":%d,"resource":"core/v1/pods","ns":[%q],"name":%q,"view":"log",`+
				`"follow":true}`, id, ns, pod))
			if m := c.nextLogMessage(id); m.Type == "error" {
				if m.Problem.Title != "Too many logs" || m.Problem.Status != http.StatusServiceUnavailable {
					t.Errorf("log above the limit: got problem %+v", m.Problem)
				}
				return id - 1
			}
		}
		return 100
	}
	link := func() []string {
		shared := s.openShare(
			s.createShare(`{"parts":[{"resource":"core/v1/pods","namespaces":["a"]},{"resource":"core/v1/pods/`+
				`log","namespaces":["a"]}],"to":"/o/core/v1/pods/a/web-1?tab=logs"}`, bearerHeader("anna")),
		)
		return []string{shared.cookie, s.origin()}
	}
	link1 := link()
	for _, test := range []struct {
		name, ns, pod string
		headers       []string
		want          int
	}{
		{"link", "a", "web-1", link1, 25},
		{"same link in another tab", "a", "web-1", link1, 0},
		{"another link", "a", "web-1", link(), 25},
		{"third link", "a", "web-1", link(), 0},
		{"user", "a", "web-1", []string{bearerHeader("anna")}, 25},
		{"same user in another tab", "a", "web-1", []string{bearerHeader("anna")}, 0},
		{"another user", "b", "web-10", []string{bearerHeader("bert")}, 25},
	} {
		t.Run(test.name, func(t *testing.T) {
			if n := read(test.ns, test.pod, test.headers...); n != test.want {
				t.Errorf("%s: got %d logs, want %d", test.name, n, test.want)
			}
		})
	}
	response := s.get("/api/v1/logs/a/web-1", link1...)
	s.wantProblem("log of a link over HTTP",
		response, http.StatusServiceUnavailable, "Too many logs", "25 through one link")
}

// With a data directory, share links and their guests remain valid after a restart of the program.
//
// Invariant: I30.
func TestSharesSurviveARestart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	api := newSite(t).api
	s := newTeamSiteWith(t, api, dir)
	shared := s.openShare(s.createShare(shareRequestA, bearerHeader("anna")))
	if !shared.Persistent {
		t.Error("created share is not persistent")
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	restarted := newTeamSiteWith(t, api, dir)
	// The name of a cookie contains the port, which a restart changes, so put the new port into the cookie's name.
	shared.cookie = strings.Replace(shared.cookie, s.cookie("glasshouse-share", ""),
		restarted.cookie("glasshouse-share", ""), 1)
	if a := restarted.get("/r/"+podsRef, shared.cookie, "Accept: text/html"); a.status != http.StatusOK {
		t.Errorf("guest after a restart: got %d %.300s, want 200", a.status, a.body)
	}
	if other := restarted.openShare(shared); other.cookie != shared.cookie {
		t.Error("the link sets another cookie after a restart")
	}
	if listed := restarted.listShares(bearerHeader("anna")); len(listed.Shares) != 1 || listed.Shares[0].ID != shared.ID ||
		listed.Shares[0].LastUsed == nil || !listed.Persistent {
		t.Errorf("shares after a restart: got %+v", listed)
	}
	text, err := os.ReadFile(filepath.Join(dir, "audit.jsonl"))
	if err != nil ||
		!regexp.MustCompile(`"event":"open","id":"`+shared.ID+`","creator":"anna","from":"127.0.0.1"}`).Match(text) {
		t.Errorf("audit log is %s, error %v", text, err)
	}
}

// Guests lose a permission if the creator loses it, or if the server cannot check it.
//
// Invariant: I30.
func TestGuestsLoseRevokedCreatorPermissions(t *testing.T) {
	t.Parallel()
	s := newTeamSite(t, "")
	shared := s.openShare(s.createShare(shareRequestA, bearerHeader("anna")))
	for began := time.Now(); !strings.Contains(s.get("/api/v1/snapshot/"+podsRef, shared.cookie).body, "web-1"); {
		if time.Since(began) > time.Minute {
			t.Fatal("the guest's snapshot is not live after a minute")
		}
	}
	c, err := s.dial(shared.cookie, s.origin())
	if err != nil {
		t.Fatal(err)
	}
	c.Send(`{"op":"subscribe","id":1,"resource":"core/v1/pods"}`)
	c.Until(1, "snapshot")
	s.api.Allow(func(authorization.SubjectAccessReviewSpec) bool { return false })
	began := time.Now()
	m := c.Until(1, "state")
	for m.State != "forbidden" {
		m = c.Until(1, "state")
	}
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("guest's state is %s after %s, want forbidden within 15 s", m.State, took)
	}
	for s.get("/api/v1/snapshot/"+podsRef, shared.cookie).status != http.StatusForbidden {
		if time.Since(began) > 15*time.Second {
			t.Fatal("a guest still has access 15 s after the creator's permission was revoked")
		}
	}
}

// Guests see neither the error messages of the API server nor its address.
//
// Invariant: I30.
func TestGuestsGetNoAPIServerDetails(t *testing.T) {
	t.Parallel()
	s := newTeamSite(t, "")
	s.api.Set("core/v1/secrets", apitest.Item{Namespace: "a", Name: "it"})
	shared := s.openShare(s.createShare(shareRequestA, bearerHeader("anna")))
	objectShare := s.openShare(
		s.createShare(`{"parts":[{"resource":"core/v1/secrets","namespaces":["a"],"name":"it"}],"to":"/o/core/`+
			`v1/secrets/a/it"}`, bearerHeader("anna")),
	)
	check := func(request, text string) {
		t.Helper()
		if leak := regexp.MustCompile(`CANARY|api\.test|system:`).FindString(text); leak != "" {
			t.Errorf("%s shows a guest %q: %s", request, leak, text)
		}
	}
	for _, status := range []int{http.StatusServiceUnavailable, http.StatusInternalServerError} {
		s.api.FailPath("/api/v1/namespaces/a/secrets/it", status, "CANARY")
		for _, path := range []string{
			"/api/v1/object/core/v1/secrets/a/it", "/api/v1/related/core/v1/secrets/a/it", "/o/core/v1/secrets/a/it",
			"/compare?a=core/v1/secrets/a/it",
		} {
			t.Run(fmt.Sprint(status, " ", path), func(t *testing.T) {
				s := s.forRow(t)
				for _, accept := range []string{"application/json", "text/html"} {
					a := s.get(path, objectShare.cookie, "Accept: "+accept)
					if a.status != http.StatusServiceUnavailable {
						t.Errorf("Accept %s: got status %d, want 503: %s", accept, a.status, a.body)
					}
					check(path, a.body)
				}
			})
		}
	}
	c, err := s.dial(shared.cookie, s.origin())
	if err != nil {
		t.Fatal(err)
	}
	c.Send(`{"op":"subscribe","id":1,"resource":"core/v1/pods"}`)
	c.Until(1, "snapshot")
	s.api.MakeUnavailable(apitest.UserReviewsPath, "CANARY")
	m := c.Until(1, "state")
	for m.State != "stale" {
		m = c.Until(1, "state")
	}
	if check("WebSocket", m.Reason); m.Reason == "" {
		t.Error("the state message to a guest has no reason")
	}
	for began := time.Now(); s.get("/api/v1/snapshot/"+podsRef, shared.cookie).status != http.StatusServiceUnavailable; {
		if time.Since(began) > 15*time.Second {
			t.Fatal("the permissions are still known after 15 s")
		}
	}
	c.Send(`{"op":"subscribe","id":2,"resource":"core/v1/pods"}`)
	check("WebSocket", c.Until(2, "error").Problem.Detail)
	for _, path := range []string{
		"/api/v1/snapshot/" + podsRef, "/r/" + podsRef, "/o/" + podsRef + "/a/web-1", "/api/v1/search?q=web",
		"/api/v1/logs/a/web-1", "/api/v1/status", "/status",
	} {
		for _, accept := range []string{"application/json", "text/html"} {
			check(path, s.get(path, shared.cookie, "Accept: "+accept).body)
		}
	}
	s.wantProblem("anna", s.get("/api/v1/snapshot/"+podsRef, bearerHeader("anna")), http.StatusServiceUnavailable,
		"Permissions unknown", "CANARY")
}

// If the program loses the permission for a list, guests do not learn the name of its service account.
//
// Invariant: I30.
func TestGuestsGetNoReasonOfRefusedList(t *testing.T) {
	s := newTeamSite(t, "")
	shared := s.openShare(s.createShare(shareRequestA, bearerHeader("anna")))
	c, err := s.dial(shared.cookie, s.origin())
	if err != nil {
		t.Fatal(err)
	}
	c.Send(`{"op":"subscribe","id":1,"resource":"core/v1/pods"}`)
	c.Until(1, "snapshot")
	c.Send(`{"op":"subscribe","id":2,"resource":"core/v1/pods","ns":["b"]}`)
	if m := c.Until(2, "state"); m.Reason != "The share link does not include the requested data." {
		t.Errorf("reason for a namespace outside the link: got %q", m.Reason)
	}
	for _, namespace := range []string{"", "a"} {
		s.api.Refuse(podsRef, namespace, http.StatusForbidden, `User "system:serviceaccount:x:CANARY" cannot list pods`)
	}
	m := c.Until(1, "state")
	for m.State != "forbidden" {
		m = c.Until(1, "state")
	}
	if m.Reason == "" || strings.Contains(m.Reason, "CANARY") {
		t.Errorf("reason of the state forbidden: got %q, want one without the account of the program", m.Reason)
	}
}

// FuzzShareRequiresValidToken checks that a request creates a guest only if its body contains a valid token.
//
// Invariant: I30.
func FuzzShareRequiresValidToken(f *testing.F) {
	handler, _, log := startFuzzServer(f)
	for _, body := range []string{
		"", "{}", `{"token":"x"}`, `{"token":null}`, `{"token":{"a":[1]}}`, `{"token":"\u0000"}`,
		`{"Token":"x","token":"y"}`, "[[[[", `{"token":"` + strings.Repeat("A", 43) + `"}`,
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/share", strings.NewReader(body))
		r.Host, r.RemoteAddr = "localhost", "" // Without an address, no rate limit delays the request.
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, r)
		if want := http.StatusNotFound; recorder.Code != want &&
			(recorder.Code != http.StatusRequestEntityTooLarge || len(body) < 64<<10) ||
			recorder.Header().Get("Set-Cookie") != "" {
			t.Errorf("token %q: got %d %s\n%.2000s", body, recorder.Code, recorder.Body, log)
		}
	})
}

// Guests see only the cluster of their link, even if another cluster has objects with the same names.
func TestGuestsOfAnotherClusterSeeNothing(t *testing.T) {
	s := newSite(t)
	shared := s.openShare(s.createShare(shareRequestA))
	c, err := s.dial(shared.cookie, s.origin())
	if err != nil {
		t.Fatal(err)
	}
	c.Send(`{"op":"subscribe","id":1,"resource":"core/v1/pods"}`)
	c.Until(1, "snapshot")
	other := newSite(t).api
	s.server.SwitchCluster(request.ClusterInfo{Cluster: startCluster(t, other), Name: "other", Server: "https://other"})
	if code, _ := c.WaitForClose(); code != 4409 {
		t.Errorf("guest's socket closed with %d, want 4409", code)
	}
	for _, path := range []string{
		"/api/v1/snapshot/" + podsRef, "/api/v1/resources", "/api/v1/object/" + podsRef + "/a/web-1", "/",
	} {
		s.wantProblem(path, s.get(path, shared.cookie), http.StatusUnauthorized, "Another cluster is active", "")
	}
	if c, err := s.dial(shared.cookie, s.origin()); err == nil {
		c.Send(`{"op":"subscribe","id":1,"resource":"core/v1/pods"}`)
		t.Errorf("guest's socket at another cluster: got %+v, want an error", c.Next())
	}
	s.server.SwitchCluster(s.info)
	if a := s.get("/api/v1/snapshot/"+podsRef, shared.cookie); a.status != http.StatusOK ||
		!strings.Contains(a.body, "web-1") {
		t.Errorf("guest at the cluster of the link: got %d %s", a.status, a.body)
	}
}

// In the graph for guests, resources outside the link are forbidden, even if the cluster does not serve them.
func TestGuestRelatedNamesKindsNotInLink(t *testing.T) {
	s := newTeamSite(t, "")
	s.api.Set(podsRef, apitest.Item{
		Namespace: "a", Name: "user",
		Rest: `"spec":{"serviceAccountName":"app","volumes":[{"secret":{"secretName":"key"}},` +
			`{"configMap":{"name":"conf"}}]}`,
	})
	shared := s.openShare(s.createShare(shareRequestA, bearerHeader("anna")))
	s.waitForText("/api/v1/snapshot/"+podsRef, "user", shared.cookie)
	a := s.get("/api/v1/related/"+podsRef+"/a/user", shared.cookie)
	var g relatedGraph
	if err := json.Unmarshal([]byte(a.body), &g); err != nil || a.status != http.StatusOK {
		t.Fatalf("got %d %s, error %v", a.status, a.body, err)
	}
	if strings.Contains(a.body, "cluster") {
		t.Errorf("a guest's graph contains \"cluster\": %s", a.body)
	}
	want := map[string]string{"ServiceAccount": "app", "Secret": "key", "ConfigMap": "conf"}
	for _, n := range g.Nodes[1:] {
		if n.Name != want[n.Kind] || n.State != "forbidden" ||
			n.Reason != "This link does not include kind "+n.Kind+"." {
			t.Errorf("unexpected node %+v", n)
		}
		delete(want, n.Kind)
	}
	for _, searched := range g.Searched {
		if searched.State == "forbidden" && searched.Reason != "Not included in this link." ||
			searched.State == "absent" {
			t.Errorf("unexpected resource %+v", searched)
		}
	}
	if len(want) > 0 || len(g.Searched) == 0 {
		t.Errorf("no nodes for %v in %s", want, a.body)
	}
}
