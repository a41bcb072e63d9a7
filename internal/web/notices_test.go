package web_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"glasshouse"
	"glasshouse/internal/web/auth"
)

func TestNoticesAreServedWithoutLogin(t *testing.T) {
	want := glasshouse.ThirdPartyNotices()
	s := startLoginSite(t, newSite(t).api, auth.Options{Mode: auth.Token})
	a := s.get("/third-party-notices")
	if a.status != http.StatusOK || a.body != want {
		t.Errorf("got %d and %d bytes, want the %d of the file, without a login", a.status, len(a.body), len(want))
	}
	if got := a.header.Get("Content-Type"); got != "text/plain; charset=utf-8" {
		t.Errorf("Content-Type is %q", got)
	}
	if got := a.header.Get("X-Content-Type-Options"); got != "nosniff" {
		t.Errorf("X-Content-Type-Options is %q", got)
	}
	compressed := s.get("/third-party-notices", "Accept-Encoding: gzip")
	body, err := gzip.NewReader(strings.NewReader(compressed.body))
	if err != nil {
		t.Fatalf("with Accept-Encoding: gzip: %v", err)
	}
	text, err := io.ReadAll(body)
	if err != nil || string(text) != want || len(compressed.body) > len(want)/4 {
		t.Errorf("%d compressed bytes are %d bytes, %v; want %d", len(compressed.body), len(text), err, len(want))
	}
}

// The status page links to the third-party notices. That link also works without JavaScript. A test in web/e2e covers
// the link in the help.
func TestStatusPageLinksNotices(t *testing.T) {
	s := newSite(t)
	link := `<a href="/third-party-notices">Third-party notices</a>`
	if page := s.get("/status", "Accept: text/html").body; !strings.Contains(page, link) {
		t.Errorf("the status page does not contain %s", link)
	}
}
