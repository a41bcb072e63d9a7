//go:build integration

package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/livetest"
	"github.com/glasshouse-project/glasshouse/internal/watch/overview"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// seen is the verdict on an object in one view. version is the resourceVersion of the object in this view; empty if the
// view does not show it.
type seen struct {
	verdict shownVerdict
	version string
}

// withVerdict is the part of a row that identifies an object and contains its verdict.
type withVerdict struct {
	NS, Name, RV string
	Verdict      shownVerdict
}

func seenIn(rows []withVerdict) map[string]seen {
	found := make(map[string]seen)
	for _, row := range rows {
		found[row.NS+"/"+row.Name] = seen{row.Verdict.normal(), row.RV}
	}
	return found
}

// verdictsOf returns the verdicts without the versions.
func verdictsOf(objects map[string]seen) map[string]shownVerdict {
	found := make(map[string]shownVerdict)
	for key, s := range objects {
		found[key] = s.verdict
	}
	return found
}

// verdictViews reads the verdicts on all objects of a resource in several views of one program.
type verdictViews struct {
	t   *testing.T
	d   *dashboard
	tab *livetest.Tab
	id  int // The last ID of a subscription.
	// guest is the cookie of a share link's viewer. shared contains the resources of the link.
	guest  string
	shared []string
}

// newVerdictViews also creates a share link to resources.
func newVerdictViews(t *testing.T, d *dashboard, shared []string) *verdictViews {
	t.Helper()
	args := []string{"create"}
	for _, ref := range shared {
		args = append(args, "--resource", ref)
	}
	guest := d.openLink(d.shareCommand(args...))
	return &verdictViews{t: t, d: d, tab: dial(t.Context(), t, d), guest: guest, shared: shared}
}

// subscribe sends a subscription with the given members. It returns the ID of the subscription, and a function that
// ends it.
func (v *verdictViews) subscribe(members string) (id int, end func()) {
	v.id++
	id = v.id
	v.tab.Send(fmt.Sprintf(`{"op":"subscribe","id":%d,%s}`, id, members))
	return id, func() { v.tab.Send(fmt.Sprintf(`{"op":"unsubscribe","id":%d}`, id)) }
}

// versioned returns the views that show the version of each object. The key is the name of the view.
func (v *verdictViews) versioned(ref string) map[string]map[string]seen {
	var rows struct{ Rows []withVerdict }
	v.d.getJSON("/api/v1/snapshot/"+ref, &rows)
	views := map[string]map[string]seen{"rows": seenIn(rows.Rows), "table": v.table(ref)}
	if len(views["rows"]) <= maxWindow {
		views["window"] = v.window(ref)
	}
	return views
}

// maxWindow is the number of rows that a test requests from a window.
const maxWindow = 1000

func (v *verdictViews) window(ref string) map[string]seen {
	id, end := v.subscribe(fmt.Sprintf(`"resource":%q,"view":"window","count":%d`, ref, maxWindow))
	defer end()
	var window struct{ Rows []withVerdict }
	if err := json.Unmarshal(v.tab.Until(id, "window").Raw, &window); err != nil {
		v.t.Fatal(err)
	}
	return seenIn(window.Rows)
}

func (v *verdictViews) table(ref string) map[string]seen {
	id, end := v.subscribe(fmt.Sprintf(`"resource":%q,"view":"table"`, ref))
	defer end()
	found := make(map[string]seen)
	for {
		m := v.tab.Until(id, "snapshot")
		var snapshot struct {
			Table struct {
				NS, Name, RV []string
				Verdict      json.RawMessage
			}
		}
		if err := json.Unmarshal(m.Raw, &snapshot); err != nil {
			v.t.Fatal(err)
		}
		names := snapshot.Table.Name
		for n, shown := range v.decodeShort(snapshot.Table.Verdict, len(names)) {
			found[snapshot.Table.NS[n]+"/"+names[n]] = seen{shown, snapshot.Table.RV[n]}
		}
		if m.Last {
			return found
		}
	}
}

// decodeShort decodes the verdicts on the rows of a table: a severity of all rows, or an array of severities and
// verdicts.
func (v *verdictViews) decodeShort(text json.RawMessage, count int) []shownVerdict {
	decoded := make([]shownVerdict, count)
	var all string
	var each []json.RawMessage
	if json.Unmarshal(text, &all) != nil {
		if err := json.Unmarshal(text, &each); err != nil || len(each) != count {
			v.t.Fatalf("got %v and %d verdicts of %d rows in %s", err, len(each), count, text)
		}
	}
	for n := range decoded {
		decoded[n].Severity = all
		if all == "" && json.Unmarshal(each[n], &decoded[n].Severity) != nil {
			if err := json.Unmarshal(each[n], &decoded[n]); err != nil {
				v.t.Fatalf("%v in %s", err, each[n])
			}
		}
		decoded[n] = decoded[n].normal()
	}
	return decoded
}

// objects returns the verdicts on at most limit objects of a resource, each from a separate subscription to one object.
// Objects in the preferred namespace are selected first.
func (v *verdictViews) objects(ref, preferred string, limit int, rows map[string]seen) map[string]seen {
	keys := slices.SortedFunc(maps.Keys(rows), func(a, b string) int {
		return cmp.Compare(strings.Index(b, preferred), strings.Index(a, preferred))
	})
	found := make(map[string]seen)
	for _, key := range keys[:min(limit, len(keys))] {
		namespace, name, _ := strings.Cut(key, "/")
		ns := ""
		if namespace != "" {
			ns = fmt.Sprintf(`,"ns":[%q]`, namespace)
		}
		id, end := v.subscribe(fmt.Sprintf(`"resource":%q,"view":"object","name":%q%s`, ref, name, ns))
		var o struct {
			Verdict shownVerdict
			Object  struct {
				Metadata struct{ ResourceVersion string }
			}
		}
		if err := json.Unmarshal(v.tab.Until(id, "snapshot").Raw, &o); err != nil {
			v.t.Fatal(err)
		}
		end()
		if o.Object.Metadata.ResourceVersion != "" { // Otherwise, the object was deleted.
			found[key] = seen{o.Verdict.normal(), o.Object.Metadata.ResourceVersion}
		}
	}
	return found
}

func (v *verdictViews) csv(ref string) map[string]shownVerdict {
	lines, err := csv.NewReader(strings.NewReader(v.d.get("/api/v1/snapshot/" + ref + "?format=csv"))).ReadAll()
	if err != nil {
		v.t.Fatal(err)
	}
	found := make(map[string]shownVerdict)
	severity, name := slices.Index(lines[0], "Severity"), slices.Index(lines[0], "Name")
	for _, line := range lines[1:] {
		// The default IngressClass or StorageClass has a note behind its name.
		key, shown := "/"+strings.TrimSuffix(line[name], " (default)"), shownVerdict{}
		if lines[0][0] == "Namespace" {
			key = line[0] + key
		}
		if severity >= 0 {
			shown = shownVerdict{Severity: line[severity], Sentence: line[severity+1]}
		}
		found[key] = shown.normal()
	}
	return found
}

var (
	rowElement = regexp.MustCompile(`(?s)<tr\s([^>]*data-name="[^>]*)>(.*?)</tr>`)
	rowMember  = regexp.MustCompile(`data-(ns|name|severity)="([^"]*)"`)
	whyElement = regexp.MustCompile(`<td class="why" title="([^"]*)"`)
)

// wallDisplay returns the verdicts in the HTML of a list in kiosk mode, which shows the severities above OK of at most
// 100 rows. It also returns the expected verdicts.
func (v *verdictViews) wallDisplay(ref string, rows map[string]shownVerdict) (got, want map[string]shownVerdict) {
	got, want = make(map[string]shownVerdict), make(map[string]shownVerdict)
	page := v.d.get("/r/" + ref + "?kiosk=1")
	hasSentences := whyElement.MatchString(page)
	for _, row := range rowElement.FindAllStringSubmatch(page, -1) {
		members := make(map[string]string)
		for _, m := range rowMember.FindAllStringSubmatch(row[1], -1) {
			members[m[1]] = html.UnescapeString(m[2])
		}
		key := members["ns"] + "/" + members["name"]
		shown := shownVerdict{Severity: members["severity"]}.normal()
		if why := whyElement.FindStringSubmatch(row[2]); why != nil && shown.Severity != "none" {
			shown.Sentence = html.UnescapeString(why[1])
		}
		got[key] = shown
		if expected, ok := rows[key]; ok {
			expected.Reason = ""
			if expected.Severity == "ok" {
				expected.Severity = "none"
			}
			if !hasSentences {
				expected.Sentence = ""
			}
			want[key] = expected
		}
	}
	if len(got) != min(100, len(rows)) {
		v.t.Logf("%s: the wall display has %d of %d rows", ref, len(got), len(rows))
		want["more rows"] = shownVerdict{}
	}
	return got, want
}

// guestSeverities returns the severities that a guest sees. Guests do not see all sentences.
func (v *verdictViews) guestSeverities(ref string) map[string]seen {
	text, status := v.d.request("/api/v1/snapshot/"+ref, "Cookie", v.guest)
	var rows struct{ Rows []withVerdict }
	if err := json.Unmarshal([]byte(text), &rows); err != nil || status != http.StatusOK {
		v.t.Fatalf("%s as a guest: got status %d, error %v: %.300s", ref, status, err, text)
	}
	found := seenIn(rows.Rows)
	for key, s := range found {
		found[key] = seen{shownVerdict{Severity: s.verdict.Severity}, s.version}
	}
	return found
}

// listedProblems returns the verdicts of the findings on objects of a resource. isComplete is false if the findings do
// not list all objects with problems, for example because the program does not search this resource for problems.
func listedProblems(d *dashboard, ref string) (listed map[string]shownVerdict, isComplete bool) {
	var o overview.Overview
	d.getJSON("/api/v1/problems?limit=1000", &o)
	listed = make(map[string]shownVerdict)
	isComplete = o.Total <= len(o.Problems) &&
		slices.ContainsFunc(o.Watched, func(w overview.Watched) bool { return w.Resource == ref && w.Kind != "Event" })
	for n := range o.Problems {
		f := &o.Problems[n]
		isComplete = isComplete && f.Count == len(f.Objects)
		for _, m := range f.Objects {
			if m.Resource == ref {
				listed[m.Namespace+"/"+m.Name] = shownVerdict{m.Severity.String(), m.Reason, m.Sentence}
			}
		}
	}
	return listed, isComplete
}

// sidebar has the counts that the resource picker shows, from a subscription of its own.
type sidebar struct {
	mu       sync.Mutex
	counts   map[string]int
	problems map[string]verdict.Counts
}

// followSidebar follows the counts until the test ends.
func followSidebar(t *testing.T, d *dashboard) *sidebar {
	t.Helper()
	s := &sidebar{}
	ctx, cancel := context.WithCancel(t.Context())
	tab := dial(ctx, t, d)
	tab.Send(`{"op":"subscribe","id":1,"view":"resources"}`)
	var reading sync.WaitGroup
	reading.Go(func() {
		for {
			m, err := tab.Client.Read(ctx)
			if err != nil {
				return
			}
			if m.Type != "counts" {
				continue
			}
			s.mu.Lock()
			s.counts, s.problems = nil, nil
			if json.Unmarshal(m.Raw, &struct {
				Counts   *map[string]int
				Problems *map[string]verdict.Counts
			}{&s.counts, &s.problems}) != nil {
				s.counts = nil // The comparison then reports that the number is missing.
			}
			s.mu.Unlock()
		}
	})
	t.Cleanup(func() {
		cancel()
		reading.Wait()
	})
	return s
}

// compare returns an error if the counts are not those of the rows of all given resources.
func (s *sidebar) compare(d *dashboard, refs []string) error {
	for _, ref := range refs {
		var body struct{ Rows []withVerdict }
		d.getJSON("/api/v1/snapshot/"+ref, &body)
		var want verdict.Counts
		for _, row := range body.Rows {
			switch row.Verdict.Severity {
			case "failed":
				want.Failed++
			case "degraded":
				want.Degraded++
			}
		}
		if strings.HasSuffix(ref, "/events") { // Warning events are not degraded objects.
			want = verdict.Counts{}
		}
		s.mu.Lock()
		count, ok := s.counts[ref]
		got := s.problems[ref]
		s.mu.Unlock()
		if !ok || count != len(body.Rows) || got != want {
			return fmt.Errorf("%s: got %d objects (%t), %+v; want %d, %+v", ref, count, ok, got, len(body.Rows), want)
		}
	}
	return nil
}
