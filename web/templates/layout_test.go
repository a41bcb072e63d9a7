package templates_test

import (
	"strings"
	"testing"

	"github.com/glasshouse-project/glasshouse/web/templates"
)

// With script, the popover of the status has the link to the watch status, so the header does not repeat it.
func TestHeaderLinksToTheWatchStatusOnlyWithoutScript(t *testing.T) {
	html := render(t, templates.ObjectPage(templates.Object{Layout: templates.Layout{Version: "v1.2"}}))
	header, _, _ := strings.Cut(html, "</header>")
	if !strings.Contains(header, `<a class="quiet unscripted" href="/status"`) {
		t.Errorf("the header has no link for viewers without script: %s", header)
	}
	if !strings.Contains(header, `title="Home. Glasshouse v1.2"`) {
		t.Errorf("the header does not show the version: %s", header)
	}
	guest := render(t, templates.ObjectPage(templates.Object{Layout: templates.Layout{Guest: &templates.Guest{}}}))
	if strings.Contains(guest, `href="/status"`) {
		t.Error("guests get a link to the watch status")
	}
}
