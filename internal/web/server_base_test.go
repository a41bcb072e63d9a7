package web_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/livetest"
	"github.com/glasshouse-project/glasshouse/internal/web"
)

func urlsIn(body string) []string {
	var urls []string
	for _, pattern := range []string{
		`\s(?:href|src|action)="([^"]*)"`, `(?:from|import)\s*"(\./[^"]+)"`, `import\("(\./[^"]+)"\)`, `url\(([^)]+)\)`,
	} {
		for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(body, -1) {
			urls = append(urls, strings.Trim(html.UnescapeString(match[1]), `"'`))
		}
	}
	return urls
}

// With a base path, every URL in every page is under the base path and works.
//
// Invariant: I26.
func TestPageURLsAreUnderBasePath(t *testing.T) {
	skipIfShort(t)
	t.Parallel()
	const base = "/a/glass-house"
	s := newSiteWith(t, web.Options{BasePath: base})
	seen, queue := map[string]bool{}, []string{base + "/"}
	// Each of these paths gets an error page with a status 4xx.
	missing := []string{
		base + "/nothing", base + "/r/core/v1/none", base + "/o/" + podsRef + "/a/none",
		base + "/r/" + podsRef + "?limit=1",
	}
	for _, route := range routeTable(t) {
		switch {
		case route.method != http.MethodGet,
			slices.Contains([]string{"/api/v1/live", "/api/v1/contexts", "/api/v1/search"}, route.path):
		// These pages do not exist, because this site has one cluster and no login.
		case slices.Contains([]string{"/contexts", "/login", "/login/callback"}, route.path):
			missing = append(missing, base+route.path)
		default:
			queue = append(queue, base+route.path)
		}
	}
	queue = append(queue, base+"/api/v1/search?q=web", base+"/compare?a="+podsRef+"/a/web-1",
		base+"/compare?a="+podsRef+"/a/web-1&b=web-2", base+"/r/"+podsRef+"?ns=a&q=web&cols=name&from=1",
		base+"/r/"+widgetsRef)
	for _, path := range missing {
		a := s.get(path, "Accept: text/html")
		if a.status/100 != 4 || !strings.Contains(a.body, `data-base="`+base+`"`) {
			t.Errorf("%s: got status %d, want 4xx and a page under the base path: %.300s", path, a.status, a.body)
		}
		queue = append(queue, urlsUnder(t, base, path, a.body)...)
	}
	pages := 0
	for len(queue) > 0 && len(seen) < 1000 {
		path := queue[0]
		queue = queue[1:]
		if seen[path] {
			continue
		}
		seen[path] = true
		a := s.get(path, "Accept: text/html")
		switch {
		case a.status == http.StatusSeeOther:
			if to := a.header.Get("Location"); !strings.HasPrefix(to, base+"/") {
				t.Errorf("%s redirects to %s, want a path under the base path", path, to)
			} else {
				queue = append(queue, to)
			}
		case strings.Contains(path, "/api/v1/logs/"): // The test cluster has no logs.
		case path == base+"/share/leave" && a.status == http.StatusMethodNotAllowed: // The action of a form with POST.
		case a.status != http.StatusOK:
			t.Errorf("%s, which a page links, has status %d: %.200s", path, a.status, a.body)
		case strings.HasPrefix(a.header.Get("Content-Type"), "text/html"):
			pages++
			if !strings.Contains(a.body, `data-base="`+base+`"`) {
				t.Errorf("%s does not contain the base path for the script", path)
			}
			fallthrough
		case strings.Contains(path, "/static/"):
			queue = append(queue, urlsUnder(t, base, path, a.body)...)
		}
	}
	if pages < 10 || len(seen) < 30 || len(queue) > 0 {
		t.Errorf("checked %d pages and %d URLs, want at least 10 and 30", pages, len(seen))
	}
	if a := s.get(base + "?q=1"); a.status != http.StatusSeeOther || a.header.Get("Location") != base+"/" {
		t.Errorf("GET base path with a query: got %d, Location %s; want 303 and a trailing slash",
			a.status, a.header.Get("Location"))
	}
	if a := s.get(base+"/api/v1/live", livetest.UpgradeHeader()...); a.status != http.StatusSwitchingProtocols {
		t.Errorf("WebSocket: got status %d, want 101", a.status)
	}
	// A path that only resembles the base path gets status 404.
	for _, route := range allRoutes(t) {
		_, path, _ := strings.Cut(route, " ")
		for _, path := range []string{
			path, base + "x" + path, "/a" + path, "/A/glass-house" + path, "/a/glass%2Dhouse" + path,
			"/a//glass-house" + path, "/" + base + path,
		} {
			s.wantProblem(path, s.get(path), http.StatusNotFound, "Page not found", "below "+base+"/")
		}
	}
	s.wantProblem("foreign Host", s.get(base+"/healthz", "Host: evil.test"), http.StatusForbidden, "Host not allowed",
		"")
}

// urlsUnder returns all URLs in body. The test fails if one is not under base.
func urlsUnder(t *testing.T, base, path, body string) []string {
	t.Helper()
	from, err := url.Parse(path)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, address := range urlsIn(body) {
		to, err := from.Parse(address)
		if err != nil || strings.HasPrefix(address, "#") || strings.HasPrefix(address, "data:") {
			continue
		}
		if to.Host != "" || !strings.HasPrefix(to.Path, base+"/") {
			t.Errorf("%s contains the URL %q, which is not under %s", path, address, base)
			continue
		}
		to.Fragment = ""
		all = append(all, to.String())
	}
	return all
}
