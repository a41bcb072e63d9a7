package web_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

// The watch status lists the watched resources, as JSON and as an HTML page.
func TestStatusListsWatchedResources(t *testing.T) {
	s := newSite(t)
	a := s.get("/api/v1/status")
	var current watch.WatchStatus
	if err := json.Unmarshal([]byte(a.body), &current); err != nil || a.status != 200 ||
		a.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("got %d %s %s", a.status, a.header, a.body)
	}
	for i := range current.Entries {
		c := &current.Entries[i]
		if c.Resource == podsRef &&
			(c.State != status.Live || c.Objects != 3 || c.Since.IsZero() || c.Namespaces != nil) {
			t.Errorf("entry is %+v, want 3 live pods", c)
		}
	}
	if !slices.ContainsFunc(current.Entries, func(c watch.WatchStatusEntry) bool { return c.Resource == podsRef }) {
		t.Errorf("pods are missing in %s", a.body)
	}

	page := s.get("/status", "Accept: text/html").body
	_, row, _ := strings.Cut(page, `<tr data-state="live"><th scope="row"><a href="/r/core/v1/pods">Pods</a>`)
	row, _, _ = strings.Cut(row, "</tr>")
	if !regexp.MustCompile(`>Live for \d+[sm]<.*>3</td>`).MatchString(row) {
		t.Errorf("row of the page is %q", row)
	}
	if strings.Contains(page, `<div id="note" class="note">`) || !strings.Contains(page, `href="/status"`) {
		t.Errorf("the page has a note or does not link to itself: %s", page)
	}
}

// Without readers, no resource is watched. A client that reads the watch status does not count as a reader.
func TestStatusWithoutReadersIsEmpty(t *testing.T) {
	s := newSite(t)
	idle := startSite(t, startCluster(t, s.api))
	for range 2 {
		if body := idle.get("/api/v1/status").body; body != `{"limit":0,"held":0,"resources":[]}` {
			t.Errorf("status without readers is %s", body)
		}
	}
	if page := idle.get("/status", "Accept: text/html").body; !strings.Contains(page,
		`<div id="note" class="note"><h2>Nothing is watched</h2>`) {
		t.Errorf("the page does not report that nothing is watched: %s", page)
	}
}
