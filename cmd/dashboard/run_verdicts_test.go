//go:build integration

package main

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/livetest"
	"github.com/glasshouse-project/glasshouse/internal/watch/overview"
)

// shownVerdict is the verdict on an object in one place. Some places show a reason and a sentence only for severities
// above OK.
type shownVerdict struct{ Severity, Reason, Sentence string }

func (v shownVerdict) normal() shownVerdict {
	switch v.Severity {
	case "", "none":
		return shownVerdict{Severity: "none"}
	case "ok":
		return shownVerdict{Severity: "ok"}
	}
	return v
}

// withoutReasons returns a copy of the verdicts without their reasons, which a CSV file does not contain.
func withoutReasons(verdicts map[string]shownVerdict) map[string]shownVerdict {
	found := maps.Clone(verdicts)
	for key, v := range found {
		v.Reason = ""
		found[key] = v
	}
	return found
}

// withVerdict is the part of a row that identifies an object and contains its verdict.
type withVerdict struct {
	NS, Name string
	Verdict  shownVerdict
}

// verdictKinds returns the resources whose objects can have inherited verdicts in the demo cluster.
func verdictKinds() []string {
	return []string{
		"core/v1/pods", "core/v1/nodes", "core/v1/services", "core/v1/persistentvolumeclaims", "core/v1/namespaces",
		"apps/v1/deployments", "apps/v1/replicasets", "apps/v1/statefulsets", "apps/v1/daemonsets", "batch/v1/jobs",
		"batch/v1/cronjobs", "networking.k8s.io/v1/ingresses", "autoscaling/v2/horizontalpodautoscalers",
		"policy/v1/poddisruptionbudgets", "apiregistration.k8s.io/v1/apiservices",
	}
}

func verdictsOf(rows []withVerdict) map[string]shownVerdict {
	found := make(map[string]shownVerdict)
	for _, row := range rows {
		found[row.NS+"/"+row.Name] = row.Verdict.normal()
	}
	return found
}

// verdictsByView returns the verdicts on all objects of a resource. The outer key is the view or format that contains
// them, such as "table" or "CSV". The inner key is the namespace and name.
func verdictsByView(
	t *testing.T, d *dashboard, tab *livetest.Tab, id int, ref string,
) map[string]map[string]shownVerdict {
	t.Helper()
	views := make(map[string]map[string]shownVerdict)
	var rows struct{ Rows []withVerdict }
	d.getJSON("/api/v1/snapshot/"+ref, &rows)
	views["rows"] = verdictsOf(rows.Rows)

	lines, err := csv.NewReader(strings.NewReader(d.get("/api/v1/snapshot/" + ref + "?format=csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	views["CSV"] = make(map[string]shownVerdict)
	severity, name := slices.Index(lines[0], "Severity"), slices.Index(lines[0], "Name")
	for _, line := range lines[1:] {
		key, v := "/"+line[name], shownVerdict{}
		if lines[0][0] == "Namespace" {
			key = line[0] + key
		}
		if severity >= 0 {
			v = shownVerdict{Severity: line[severity], Sentence: line[severity+1]}
		}
		views["CSV"][key] = v.normal()
	}

	views["table"] = make(map[string]shownVerdict)
	tab.Send(fmt.Sprintf(`{"op":"subscribe","id":%d,"resource":%q,"view":"table"}`, id, ref))
	for last := false; !last; {
		m := tab.Until(id, "snapshot")
		var snapshot struct {
			Table struct {
				NS, Name []string
				Verdict  json.RawMessage
			}
		}
		if err := json.Unmarshal(m.Raw, &snapshot); err != nil {
			t.Fatal(err)
		}
		var all string
		var each []json.RawMessage
		if json.Unmarshal(snapshot.Table.Verdict, &all) != nil {
			if err := json.Unmarshal(snapshot.Table.Verdict, &each); err != nil {
				t.Fatalf("%v in %s", err, m.Raw)
			}
		}
		for n, name := range snapshot.Table.Name {
			v := shownVerdict{Severity: all}
			if all == "" && json.Unmarshal(each[n], &v.Severity) != nil {
				if err := json.Unmarshal(each[n], &v); err != nil {
					t.Fatalf("%v in %s", err, each[n])
				}
			}
			views["table"][snapshot.Table.NS[n]+"/"+name] = v.normal()
		}
		last = m.Last
	}
	tab.Send(fmt.Sprintf(`{"op":"unsubscribe","id":%d}`, id))

	tab.Send(fmt.Sprintf(`{"op":"subscribe","id":%d,"resource":%q,"view":"window","count":1000}`, id+1, ref))
	var window struct{ Rows []withVerdict }
	if err := json.Unmarshal(tab.Until(id+1, "window").Raw, &window); err != nil {
		t.Fatal(err)
	}
	views["window"] = verdictsOf(window.Rows)
	tab.Send(fmt.Sprintf(`{"op":"unsubscribe","id":%d}`, id+1))

	return views
}

// shownObjects returns the verdicts on some objects of a resource, each from a separate subscription to one object.
// Objects in the preferred namespace are selected first.
func shownObjects(
	t *testing.T, tab *livetest.Tab, id int, ref, preferred string, rows map[string]shownVerdict,
) map[string]shownVerdict {
	t.Helper()
	keys := slices.SortedFunc(maps.Keys(rows), func(a, b string) int {
		return cmp.Compare(strings.Index(b, preferred), strings.Index(a, preferred))
	})
	found := make(map[string]shownVerdict)
	for n, key := range keys[:min(maxShownObjects, len(keys))] {
		namespace, name, _ := strings.Cut(key, "/")
		ns := ""
		if namespace != "" {
			ns = fmt.Sprintf(`,"ns":[%q]`, namespace)
		}
		tab.Send(fmt.Sprintf(`{"op":"subscribe","id":%d,"resource":%q,"view":"object","name":%q%s}`, id+n, ref, name, ns))
		var o struct{ Verdict shownVerdict }
		if err := json.Unmarshal(tab.Until(id+n, "snapshot").Raw, &o); err != nil {
			t.Fatal(err)
		}
		found[key] = o.Verdict.normal()
		tab.Send(fmt.Sprintf(`{"op":"unsubscribe","id":%d}`, id+n))
	}
	return found
}

// maxShownObjects limits the objects that are compared one by one. For the others, a comparison of the rows is enough.
const maxShownObjects = 40

// An object has the same verdict in all views, and is in a finding exactly if it is degraded or failed. Before each
// comparison, objects of many kinds, including custom ones, are created, broken, repaired and deleted. The views need
// some time to follow, so the comparison of each resource is repeated until all views agree.
func TestVerdictsAreTheSameEverywhere(t *testing.T) {
	changes := newChurn(t)
	changes.step(t)
	changes.step(t) // After the second step, some objects are broken.
	d := startReady(t, adminConfig(t))
	tab := dial(t.Context(), t, d)
	id, objects := 1, 0
	problems := make(map[string]int)
	for n, ref := range slices.Concat([]string{certificates, gadgets}, verdictKinds()) {
		if n%2 == 0 {
			changes.step(t)
		}
		eventually(t, ref, func() error {
			id += 100
			views := verdictsByView(t, d, tab, id, ref)
			if len(views["rows"]) > 1000 {
				views["window"] = views["rows"] // Do not compare the window, which has only the first rows.
			}
			listed, isComplete := listedProblems(d, ref)
			want := views["rows"]
			for view, got := range views {
				expected := want
				if view == "CSV" {
					expected = withoutReasons(want)
				}
				if !maps.Equal(got, expected) {
					return fmt.Errorf("%s: got %s", view, difference(got, expected))
				}
			}
			bad := maps.Clone(want)
			maps.DeleteFunc(bad, func(_ string, v shownVerdict) bool {
				return v.Severity != "failed" && v.Severity != "degraded"
			})
			if isComplete && !maps.Equal(listed, bad) {
				return fmt.Errorf("problems: got %s", difference(listed, bad))
			}
			for key, v := range listed {
				if bad[key] != v {
					return fmt.Errorf("problems: %s is %s, want %s", key, v, want[key])
				}
			}
			for key, v := range shownObjects(t, tab, id+2, ref, changes.namespace, want) {
				if want[key] != v {
					return fmt.Errorf("object: %s is %s, want %s", key, v, want[key])
				}
			}
			objects, problems[ref] = objects+len(want), max(problems[ref], len(bad))
			return nil
		})
	}
	t.Logf("%d objects, degraded or failed: %v", objects, problems)
	if objects == 0 || problems[certificates] == 0 || problems[gadgets] == 0 || problems["core/v1/services"] == 0 {
		t.Error("not all kinds had problems")
	}
}

// listedProblems returns the verdicts of the findings on objects of a resource. isComplete is false if the findings do
// not list all objects with problems.
func listedProblems(d *dashboard, ref string) (listed map[string]shownVerdict, isComplete bool) {
	var o overview.Overview
	d.getJSON("/api/v1/problems?limit=1000", &o)
	listed, isComplete = make(map[string]shownVerdict), o.Total <= len(o.Problems)
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

func difference(got, want map[string]shownVerdict) string {
	var text []string
	for key, v := range want {
		if got[key] != v {
			text = append(text, fmt.Sprintf("%s is %q, want %q", key, got[key], v))
		}
	}
	for key, v := range got {
		if _, ok := want[key]; !ok {
			text = append(text, fmt.Sprintf("%s is %q, want nothing", key, v))
		}
	}
	slices.Sort(text)
	return strings.Join(text[:min(5, len(text))], "; ")
}
