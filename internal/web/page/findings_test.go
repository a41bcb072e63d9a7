package page

import (
	"cmp"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/overview"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
	"github.com/glasshouse-project/glasshouse/web/templates"
)

var update = flag.Bool("update", false, "write testdata/findings.html of web/templates")

const findingsFile = "../../../web/templates/testdata/findings.html"

func readOverview(t *testing.T) (time.Time, *overview.Overview) {
	t.Helper()
	var file struct {
		Now      time.Time
		Overview overview.Overview
	}
	text, err := os.ReadFile("../testdata/overview.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	return file.Now, &file.Overview
}

func linkAll(o *verdict.Object, tab string) string {
	path := request.ObjectPath(o.Resource, o.Namespace, o.Name)
	if tab != "" {
		path += "?tab=" + tab
	}
	return path
}

// The filter finds a problem by the severity of any of its objects, as the script does.
func TestFilterMatchesTheSeverityOfMembers(t *testing.T) {
	f := overview.Finding{
		Verdict: verdict.Verdict{Severity: verdict.Degraded},
		Objects: []overview.Member{{Verdict: verdict.Verdict{Severity: verdict.Failed}}},
	}
	for q, want := range map[string]bool{"is:failed": true, "is:degraded": true, "is:progressing": false} {
		t.Run(q, func(t *testing.T) {
			if got := matchesFilter(&f, q); got != want {
				t.Errorf("got %t, want %t", got, want)
			}
		})
	}
}

// web/test/home/home-text.test.ts has the same cases.
func TestFieldTextShortensPaths(t *testing.T) {
	for what, want := range map[string]string{
		"":              "spec",
		"spec.replicas": "replicas",
		"spec.template.spec.containers[web].image":                              "image",
		"spec.template.spec.containers[a].env[LOG_LEVEL].value":                 "env LOG_LEVEL",
		"spec.template.spec.volumes[t].configMap.name, spec.replicas":           "configMap.name and 1 more",
		"spec.template.metadata.annotations[kubectl.kubernetes.io/restartedAt]": "kubectl.kubernetes.io/restartedAt",
		"data[app.properties] and 2 more":                                       "app.properties and 2 more",
	} {
		t.Run(cmp.Or(what, "empty"), func(t *testing.T) {
			if got := fieldText(what); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func renderHome(t *testing.T, page templates.Home) string {
	t.Helper()
	var html strings.Builder
	if err := templates.HomePage(page).Render(t.Context(), &html); err != nil {
		t.Fatal(err)
	}
	return html.String()
}

// web/test/home/home-text.test.ts has the same cases.
func TestFilterAndEmptyTextMatchTheScript(t *testing.T) {
	now, document := readOverview(t)
	for q, want := range map[string]string{
		"is:failed SHOP/": "storefront-canary recommender", "is:progressing": "", "fast-nvme": "model-cache",
		"checkout-74fd-kxh98": "checkout", "argocd-controller": "recommender", "is:unknown": "",
		"cronjob ci/build-cart": "build-cart-29731",
	} {
		t.Run(q, func(t *testing.T) {
			page := templates.Home{Q: q}
			formatHome(&page, document, linkAll, now)
			var got []string
			for i := range page.Findings {
				got = append(got, page.Findings[i].Object.Name)
			}
			if strings.Join(got, " ") != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	watched := func(kind string, state status.State, objects int) overview.Watched {
		ref := "core/v1/" + strings.ToLower(kind) + "s"
		return overview.Watched{Resource: ref, Kind: kind, Status: status.Status{State: state}, Objects: objects}
	}
	pods := watched("Pod", status.Live, 3000)
	for want, all := range map[string][]overview.Watched{
		"No problems in 2 resource types|":                           {pods, watched("Node", status.Live, 12)},
		"No problems found yet|Reading resource types: 1 of 2 done.": {pods, watched("Node", status.Syncing, 0)},
		"No problems found in 1 resource type|" +
			"Problems in these resource types may be missing here: Secrets (forbidden), Nodes (stale).": {
			pods, watched("Secret", status.Forbidden, 0), watched("Node", status.Stale, 10),
		},
		"Problems could not be checked|Problems in these resource types may be missing here: Nodes (stale).": {
			watched("Node", status.Stale, 10),
		},
	} {
		t.Run(want, func(t *testing.T) {
			if got := emptyText(&overview.Overview{Watched: all}, ""); got.Title+"|"+got.Detail != want {
				t.Errorf("text without problems: got %q and %q, want %q", got.Title, got.Detail, want)
			}
		})
	}
	started := overview.Overview{Watched: []overview.Watched{pods}, Planned: 20}
	if got := emptyText(&started, ""); got.Detail != "Reading resource types: 1 of 20 done." {
		t.Errorf("text before all watches have started: got %q", got.Detail)
	}
	got := emptyText(document, "zzz")
	if got.Title != "No problems match “zzz”" || got.Detail != "11 problems hidden" {
		t.Errorf("text of a filter without results: got %q and %q", got.Title, got.Detail)
	}
	page := templates.Home{}
	if formatHome(&page, nil, linkAll, now); page.Known || page.Empty.Title != "Loading…" {
		t.Errorf("page without an overview: got %+v", page)
	}
}

// The server and the page render the same problems. web/test/home/problems.test.tsx reads the same files.
//
// Invariant: I31.
func TestFindingsMatchTheScript(t *testing.T) {
	now, document := readOverview(t)
	page := templates.Home{Name: "Home", Href: "/"}
	formatHome(&page, document, linkAll, now)
	html := renderHome(t, page)
	_, list, _ := strings.Cut(html, `<ol id="rows"`)
	list, _, _ = strings.Cut(list, "</ol>")
	got := strings.ReplaceAll(`<ol id="rows"`+list+"</ol>", "<li class=", "\n<li class=") + "\n"
	if *update {
		if err := os.WriteFile(findingsFile, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(findingsFile)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("findings: got\n%s\nwant\n%s", got, want)
	}
	if page.Failed != 6 || page.Total != len(document.Problems) {
		t.Errorf("got %d failed findings of %d, want 6 of %d", page.Failed, page.Total, len(document.Problems))
	}
	for _, sentence := range document.Unexamined {
		if !strings.Contains(html, sentence) {
			t.Errorf("the page does not contain %q", sentence)
		}
	}
}
