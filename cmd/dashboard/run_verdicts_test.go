//go:build integration

package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/glasshouse-project/glasshouse/internal/livetest"
	"github.com/glasshouse-project/glasshouse/internal/watch/overview"
)

// withVerdict is a row, a finding or a member of a finding.
type withVerdict struct {
	Resource, NS, Name string
	Verdict            struct{ Severity string }
	Severity           string
}

// verdictKinds are the resources whose objects can have inherited verdicts in the demo cluster.
func verdictKinds() []string {
	return []string{
		"core/v1/pods", "core/v1/nodes", "core/v1/services", "core/v1/persistentvolumeclaims", "core/v1/namespaces",
		"apps/v1/deployments", "apps/v1/replicasets", "apps/v1/statefulsets", "apps/v1/daemonsets", "batch/v1/jobs",
		"batch/v1/cronjobs", "networking.k8s.io/v1/ingresses", "autoscaling/v2/horizontalpodautoscalers",
		"policy/v1/poddisruptionbudgets", "apiregistration.k8s.io/v1/apiservices",
	}
}

func fillSeverity(severity string) string {
	if severity == "" {
		return "none"
	}
	return severity
}

func severitiesOf(rows []withVerdict) map[string]string {
	found := make(map[string]string)
	for _, row := range rows {
		found[row.NS+"/"+row.Name] = fillSeverity(row.Verdict.Severity)
	}
	return found
}

// severitiesByView returns the severities of all objects of a resource. The outer key is the view or format that
// contains them, such as "table" or "CSV". The inner key is the namespace and name.
func severitiesByView(t *testing.T, d *dashboard, tab *livetest.Tab, id int, ref string) map[string]map[string]string {
	t.Helper()
	views := make(map[string]map[string]string)
	var rows struct{ Rows []withVerdict }
	d.getJSON("/api/v1/snapshot/"+ref, &rows)
	views["rows"] = severitiesOf(rows.Rows)

	lines, err := csv.NewReader(strings.NewReader(d.get("/api/v1/snapshot/" + ref + "?format=csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	views["CSV"] = make(map[string]string)
	severity, name := slices.Index(lines[0], "Severity"), slices.Index(lines[0], "Name")
	for _, line := range lines[1:] {
		key, value := "/"+line[name], "none"
		if lines[0][0] == "Namespace" {
			key = line[0] + key
		}
		if severity >= 0 {
			value = line[severity]
		}
		views["CSV"][key] = value
	}

	views["table"] = make(map[string]string)
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
			severity := all
			if all == "" {
				var v struct{ Severity string }
				if json.Unmarshal(each[n], &severity) != nil && json.Unmarshal(each[n], &v) == nil {
					severity = v.Severity
				}
			}
			views["table"][snapshot.Table.NS[n]+"/"+name] = severity
		}
		last = m.Last
	}
	tab.Send(fmt.Sprintf(`{"op":"unsubscribe","id":%d}`, id))

	tab.Send(fmt.Sprintf(`{"op":"subscribe","id":%d,"resource":%q,"view":"window","count":1000}`, id+1, ref))
	var window struct{ Rows []withVerdict }
	if err := json.Unmarshal(tab.Until(id+1, "window").Raw, &window); err != nil {
		t.Fatal(err)
	}
	views["window"] = severitiesOf(window.Rows)
	tab.Send(fmt.Sprintf(`{"op":"unsubscribe","id":%d}`, id+1))

	views["object"] = make(map[string]string)
	n := id + 2
	for key, severity := range views["rows"] {
		// The test subscribes to about 40 single objects. For the other objects, it reuses the severities of the rows.
		if n-id > 40 {
			views["object"][key] = severity
			continue
		}
		namespace, name, _ := strings.Cut(key, "/")
		ns := ""
		if namespace != "" {
			ns = fmt.Sprintf(`,"ns":[%q]`, namespace)
		}
		tab.Send(fmt.Sprintf(`{"op":"subscribe","id":%d,"resource":%q,"view":"object","name":%q%s}`, n, ref, name, ns))
		var o struct{ Verdict struct{ Severity string } }
		if err := json.Unmarshal(tab.Until(n, "snapshot").Raw, &o); err != nil {
			t.Fatal(err)
		}
		views["object"][key] = fillSeverity(o.Verdict.Severity)
		tab.Send(fmt.Sprintf(`{"op":"unsubscribe","id":%d}`, n))
		n++
	}
	return views
}

// An object has the same severity in all views, and is in a finding exactly if it is degraded or failed. The demo
// cluster changes all the time, so the test repeats the comparison of a resource until it succeeds.
func TestSeveritiesAreTheSameEverywhere(t *testing.T) {
	d := startReady(t, adminConfig(t))
	tab := dial(t.Context(), t, d)
	churn(t)
	id, objects, problems := 1, 0, 0
	for _, ref := range verdictKinds() {
		eventually(t, ref, func() error {
			id += 100
			views := severitiesByView(t, d, tab, id, ref)
			if len(views["rows"]) > 1000 {
				// The window contains only the first 1000 rows, so do not compare it.
				views["window"] = views["rows"]
			}
			var o overview.Overview
			d.getJSON("/api/v1/problems", &o)
			listed, isComplete := make(map[string]string), o.Total <= len(o.Problems)
			for _, f := range o.Problems {
				isComplete = isComplete && f.Count == len(f.Objects)
				for _, m := range f.Objects {
					if m.Resource == ref {
						listed[m.Namespace+"/"+m.Name] = m.Severity.String()
					}
				}
			}
			want := views["rows"]
			for view, got := range views {
				if !maps.Equal(got, want) {
					return fmt.Errorf("%s: got %s", view, difference(got, want))
				}
			}
			bad := maps.Clone(want)
			maps.DeleteFunc(bad, func(_, severity string) bool { return severity != "failed" && severity != "degraded" })
			if isComplete && !maps.Equal(listed, bad) {
				return fmt.Errorf("problems: got %s", difference(listed, bad))
			}
			for key, severity := range listed {
				if bad[key] != severity {
					return fmt.Errorf("problems: %s is %s, want %s", key, severity, want[key])
				}
			}
			objects, problems = objects+len(want), problems+len(bad)
			return nil
		})
	}
	t.Logf("%d objects, of which %d are degraded or failed", objects, problems)
	if objects == 0 || problems == 0 {
		t.Error("nothing was compared")
	}
}

func difference(got, want map[string]string) string {
	var text []string
	for key, severity := range want {
		if got[key] != severity {
			text = append(text, fmt.Sprintf("%s is %q, want %q", key, got[key], severity))
		}
	}
	for key, severity := range got {
		if _, ok := want[key]; !ok {
			text = append(text, fmt.Sprintf("%s is %q, want nothing", key, severity))
		}
	}
	slices.Sort(text)
	return strings.Join(text[:min(5, len(text))], "; ")
}

// churn deletes some pods, so that their owners and Services change.
func churn(t *testing.T) {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", adminConfig(t))
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	pods, err := client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{Limit: 500})
	if err != nil {
		t.Fatal(err)
	}
	for n := range pods.Items {
		if p := &pods.Items[n]; n%10 == 0 && len(p.OwnerReferences) > 0 {
			_ = client.CoreV1().Pods(p.Namespace).Delete(t.Context(), p.Name, metav1.DeleteOptions{})
		}
	}
}
