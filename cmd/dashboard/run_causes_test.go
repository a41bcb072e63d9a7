//go:build integration

package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/overview"
)

// If a link shares only Deployments, its guests get the Deployments' severities on all routes, but no text about pods.
//
// Invariant: I18.
func TestGuestsOfDeploymentsSeeNoPods(t *testing.T) {
	const ref = "apps/v1/deployments"
	d := startReady(t, adminConfig(t))
	type row struct {
		Name    string
		Verdict struct {
			Severity, Sentence string
			Cause              *struct{ Name, Sentence string }
		}
	}
	var rows struct{ Rows []row }
	causes := 0
	eventually(t, "causes are known", func() error {
		d.getJSON("/api/v1/problems", new(overview.Overview))
		d.getJSON("/api/v1/snapshot/"+ref, &rows)
		causes = 0
		for _, r := range rows.Rows {
			if r.Verdict.Cause != nil {
				causes++
			}
		}
		if causes == 0 {
			return fmt.Errorf("no Deployment has a cause: %+v", rows.Rows)
		}
		return nil
	})
	var pods struct{ Rows []row }
	d.getJSON("/api/v1/snapshot/core/v1/pods", &pods)
	hidden := make(map[string]bool)
	for _, p := range pods.Rows {
		hidden[p.Name] = true
	}
	for _, r := range rows.Rows {
		if c := r.Verdict.Cause; c != nil {
			hidden[c.Sentence], hidden[r.Verdict.Sentence] = true, true
		}
	}
	delete(hidden, "")

	link := d.shareCommand("create", "--resource", ref, "--for", "1h")
	admin := d.cookie
	d.cookie = d.openLink(link)
	defer func() { d.cookie = admin }()
	texts := make(map[string]string)
	for _, path := range []string{
		"/r/" + ref, "/r/" + ref + "?q=is:failing", "/api/v1/problems", "/api/v1/snapshot/" + ref,
		"/api/v1/snapshot/" + ref + "?format=ndjson", "/api/v1/snapshot/" + ref + "?format=csv",
		"/api/v1/snapshot/" + ref + "?format=yaml", "/api/v1/snapshot/" + ref + "?view=objects", "/status",
		"/api/v1/status", "/api/v1/resources", "/api/v1/search?q=a",
	} {
		texts[path], _ = d.request(path, "Accept", "text/html")
	}
	var guestRows struct{ Rows []row }
	d.getJSON("/api/v1/snapshot/"+ref, &guestRows)
	severities := make(map[string]string)
	for _, r := range rows.Rows {
		severities[r.Name] = r.Verdict.Severity
	}
	for _, r := range guestRows.Rows {
		if r.Verdict.Severity != severities[r.Name] {
			t.Logf("%s: got severity %s, the administrator got %s before", r.Name, r.Verdict.Severity, severities[r.Name])
		}
	}
	tab := d.dialAsGuest(t.Context(), d.cookie)
	for n, view := range []string{"rows", "table", "changes", `window","count":"100`, "overview"} {
		view = strings.Replace(view, `"100`, `100`, 1)
		resource := fmt.Sprintf(`,"resource":%q`, ref)
		quote := `"`
		if strings.HasPrefix(view, "window") {
			quote = ""
			view = strings.TrimSuffix(view, `"`)
		}
		if view == "overview" {
			resource = ""
		}
		tab.Send(fmt.Sprintf(`{"op":"subscribe","id":%d,"view":"%s%s%s}`, n+1, view, quote, resource))
		message := tab.Until(n+1, "snapshot", "window", "overview", "error")
		if message.Type == "error" {
			t.Errorf("view %s: %s", view, message.Raw)
		}
		texts["view "+view] = string(message.Raw)
	}
	for n := range rows.Rows {
		r := &rows.Rows[n]
		if r.Verdict.Cause == nil {
			continue
		}
		var namespaced struct {
			Rows []struct{ NS, Name string }
		}
		if err := json.Unmarshal([]byte(texts["/api/v1/snapshot/"+ref]), &namespaced); err != nil {
			t.Fatal(err)
		}
		for _, o := range namespaced.Rows {
			if o.Name == r.Name {
				texts["page of "+o.Name], _ = d.request("/o/"+ref+"/"+o.NS+"/"+o.Name, "Accept", "text/html")
				tab.Send(fmt.Sprintf(`{"op":"subscribe","id":%d,"resource":%q,"view":"object","ns":[%q],"name":%q}`,
					100+n, ref, o.NS, o.Name))
				texts["object "+o.Name] = string(tab.Until(100+n, "snapshot").Raw)
				tab.Send(fmt.Sprintf(`{"op":"subscribe","id":%d,"resource":%q,"view":"explanation","ns":[%q],"name":%q}`,
					10_000+n, ref, o.NS, o.Name))
				texts["explanation of "+o.Name] = string(tab.Until(10_000+n, "explanation").Raw)
			}
		}
	}
	for place, text := range texts {
		if text == "" {
			t.Errorf("%s: no text", place)
		}
		for canary := range hidden {
			if strings.Contains(text, canary) {
				t.Errorf("%s contains %q", place, canary)
			}
		}
	}
	var o overview.Overview
	if err := json.Unmarshal([]byte(texts["/api/v1/problems"]), &o); err != nil {
		t.Fatal(err)
	}
	if len(o.Problems) == 0 || len(o.Warnings)+len(o.Changes) > 0 || o.Summary.Pods != nil || o.Summary.Nodes != nil ||
		len(o.Watched) != 1 || strings.Contains(strings.Join(o.Unexamined, " "), "Pod") {
		t.Errorf("problems: got %s", texts["/api/v1/problems"])
	}
	t.Logf("%d Deployments with causes, %d hidden texts, %d responses", causes, len(hidden), len(texts))
}
