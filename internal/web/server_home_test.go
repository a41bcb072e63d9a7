package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/web"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
	"github.com/glasshouse-project/glasshouse/web/templates"
)

func TestHomePageIsServedOrRedirected(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for path, want := range map[string]struct {
		status int
		text   string // part of the body, or the complete header Location
	}{
		"/":                       {200, `data-page="home"`},
		"/?ns=a&ns=b&q=is:failed": {200, `value="a,b"`},
		"/?ns=":                   {200, `data-name="Home"`},
		"/?kiosk=1":               {200, "data-kiosk"},
		"/?ns=a":                  {303, "/ns/a"},
		"/?ns=a&q=web&kiosk=1":    {303, "/ns/a?q=web&kiosk=1"},
		"/?sort=name":             {400, "Unknown parameter"},
		"/ns/a":                   {200, `data-name="a"`},
		"/ns/a?q=web":             {200, `action="/ns/a"`},
		"/ns/a?ns=b":              {400, "Unknown parameter"},
		"/ns/nowhere":             {404, `href="/r/core/v1/namespaces"`},
		"/ns/%3Cscript%3E":        {400, "namespace"},
		"/ns/":                    {404, "Page not found"},
	} {
		t.Run(path, func(t *testing.T) {
			s := s.forRow(t)
			a := s.get(path, "Accept: text/html")
			if location := a.header.Get("Location"); a.status != want.status ||
				!strings.Contains(a.body, want.text) && location != want.text {
				t.Errorf("got %d to %q, want %d with %s: %.300s", a.status, location, want.status, want.text, a.body)
			}
			if strings.Contains(a.body, "<script>") {
				t.Error("the page has an inline script")
			}
		})
	}
	if a := s.get("/nowhere", "Accept: text/html"); strings.Contains(a.body, "openapi") ||
		!strings.Contains(a.body, `href="/">Go to Home`) {
		t.Errorf("GET /nowhere: the page has no link to the home page, or names the API: %s", a.body)
	}
	page := s.get("/", "Accept: text/html").body
	for _, text := range []string{
		`Home - test</title>`, `<a id="home" class="picker-home" href="/"`, `aria-current="page"`,
		"/static/home-", "/static/home.css?v=",
	} {
		if !strings.Contains(page, text) {
			t.Errorf("the home page does not contain %s", text)
		}
	}
	if list := s.get("/r/"+podsRef, "Accept: text/html").body; strings.Contains(list, "/static/home-") ||
		!strings.Contains(list, "/static/pages-") || !strings.Contains(list, `id="home"`) {
		t.Error("a list loads the code of the home page, or has no link to it")
	}
}

func TestHomeOfTheNamespaceOfTheContext(t *testing.T) {
	t.Parallel()
	s := newSiteWith(t, web.Options{ClusterInfo: request.ClusterInfo{Namespace: "a"}})
	if a := s.get("/?q=web"); a.status != http.StatusSeeOther || a.header.Get("Location") != "/ns/a?q=web" {
		t.Errorf("GET /: got %d to %q, want 303 to the namespace", a.status, a.header.Get("Location"))
	}
	if page := s.get("/ns/a", "Accept: text/html").body; !strings.Contains(page, `href="/?ns="`) {
		t.Error("the page of the namespace has no link to all namespaces")
	}
	if a := s.get("/?ns=", "Accept: text/html"); a.status != http.StatusOK {
		t.Errorf("GET / of all namespaces: got %d, want 200", a.status)
	}
}

// The icon of a page has the color of the cluster, which depends on its name. Guests do not see the name.
func TestIconHasTheColorOfTheCluster(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	guest := s.openShare(s.createShare(`{"parts":[{"resource":"core/v1/pods"}],"to":"/r/core/v1/pods"}`))
	for name, test := range map[string]struct {
		icon    string
		headers []string
	}{
		"viewer": {"/static/" + templates.ClusterIcon("test"), []string{"Accept: text/html"}},
		"guest":  {"/static/favicon.svg", []string{"Accept: text/html", guest.cookie}},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.forRow(t)
			page := s.get("/r/"+podsRef, test.headers...).body
			if !strings.Contains(page, `<link rel="icon" type="image/svg+xml" href="`+test.icon) {
				t.Errorf("the page does not have the icon %s: %.900s", test.icon, page)
			}
		})
	}
}

// Guests see the home page only if their share link includes several lists. The page then contains neither
// other resources nor the name of the cluster.
//
// Invariant: I30.
func TestGuestsSeeHomeOnlyForSeveralLists(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	single := s.openShare(s.createShare(`{"parts":[{"resource":"core/v1/pods","namespaces":["a"]}],` +
		`"to":"/r/core/v1/pods?ns=a"}`))
	if a := s.get("/?kiosk=1", single.cookie); a.header.Get("Location") != "/r/core/v1/pods?ns=a&kiosk=1" {
		t.Errorf("GET / of a guest with one list: got %d to %q", a.status, a.header.Get("Location"))
	}
	if page := s.get("/r/"+podsRef, single.cookie, "Accept: text/html").body; strings.Contains(page, `id="home"`) {
		t.Error("the list of a guest with one list has a link to the home page")
	}
	several := s.openShare(s.createShare(`{"parts":[{"resource":"core/v1/pods","namespaces":["a"]},` +
		`{"resource":"core/v1/secrets","namespaces":["a"]}],"to":"/r/core/v1/pods?ns=a"}`))
	a := s.get("/", several.cookie, "Accept: text/html")
	if a.status != http.StatusOK || !strings.Contains(a.body, `data-page="home"`) ||
		!strings.Contains(a.body, "Home - Glasshouse</title>") || strings.Contains(a.body, widgetsRef) ||
		strings.Contains(a.body, `data-cluster-name="test"`) {
		t.Errorf("GET / of a guest with several lists: got %d %s", a.status, a.body)
	}
	// A link can also open the home page itself, which then shows only what the link shares.
	for _, to := range []string{"/", "/ns/a"} {
		t.Run(to, func(t *testing.T) {
			s := s.forRow(t)
			home := s.openShare(s.createShare(
				`{"parts":[{"resource":"core/v1/pods","namespaces":["a"]}],"to":"` + to + `"}`))
			a := s.get(to, home.cookie, "Accept: text/html")
			if a.status != http.StatusOK || !strings.Contains(a.body, `data-page="home"`) ||
				strings.Contains(a.body, widgetsRef) {
				t.Errorf("got %d %s, want the home page with only the shared resources", a.status, a.body)
			}
			if page := s.get("/r/"+podsRef, home.cookie, "Accept: text/html").body; !strings.Contains(page, `id="home"`) {
				t.Error("the list has no link to the home page")
			}
		})
	}
}
