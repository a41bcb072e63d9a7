package web_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/glasshouse-project/glasshouse"
	"github.com/glasshouse-project/glasshouse/internal/web/auth"
)

func TestNoticesAreServedWithoutLogin(t *testing.T) {
	want := glasshouse.ThirdPartyNotices()
	s := startLoginSite(t, newSite(t).api, auth.Options{Mode: auth.Token})
	a := s.get("/third-party-notices")
	if a.status != http.StatusOK || a.body != want {
		t.Errorf("GET /third-party-notices without a login: got status %d and %d bytes, want 200 and %d bytes",
			a.status, len(a.body), len(want))
	}
	if got := a.header.Get("Content-Type"); got != "text/plain; charset=utf-8" {
		t.Errorf("Content-Type is %q, want text/plain", got)
	}
	if got := a.header.Get("X-Content-Type-Options"); got != "nosniff" {
		t.Errorf("X-Content-Type-Options is %q, want nosniff", got)
	}
	compressed := s.get("/third-party-notices", "Accept-Encoding: gzip")
	body, err := gzip.NewReader(strings.NewReader(compressed.body))
	if err != nil {
		t.Fatalf("decompress the response: %v", err)
	}
	text, err := io.ReadAll(body)
	if err != nil || string(text) != want || len(compressed.body) > len(want)/4 {
		t.Errorf("response of %d compressed bytes: got %d bytes, error %v; want %d bytes",
			len(compressed.body), len(text), err, len(want))
	}
}

// The status page links to the third-party notices without JavaScript. A test in web/e2e covers the help dialog's link.
func TestStatusPageLinksNotices(t *testing.T) {
	s := newSite(t)
	link := `<a href="/third-party-notices">Third-party notices</a>`
	if page := s.get("/status", "Accept: text/html").body; !strings.Contains(page, link) {
		t.Errorf("the status page does not contain %s", link)
	}
}
