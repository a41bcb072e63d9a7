// Package argocd compares the health of objects with the expectations of Argo CD's own tests.
//
// The cases of custom resources are embedded in the module of Argo CD, next to its scripts. The cases of built-in kinds
// are files in the module gitops-engine. Their expected statuses are Go code there, which is repeated here as a table:
// the package requires all of k8s.io/kubernetes.
package argocd

import (
	"encoding/json"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/argoproj/argo-cd/v3/resource_customizations"
	"sigs.k8s.io/yaml"

	"github.com/glasshouse-project/glasshouse/internal/watch/health"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

type testCase struct {
	InputPath    string `json:"inputPath"`
	HealthStatus struct {
		Status  string `json:"status"`
		Message string `json:"message"`
	} `json:"healthStatus"`
}

// isBuiltIn reports whether the program has its own rules for a kind, and therefore ignores the script of Argo CD.
func isBuiltIn(kind string) bool {
	return slices.Contains([]string{
		"apiextensions.k8s.io/CustomResourceDefinition", "batch/CronJob", "batch/Job", "policy/PodDisruptionBudget",
	}, kind)
}

// disagreements contains the cases in which this program and Argo CD disagree. A value is this program's severity, and
// the reason for it. Argo CD does not have the severity failed, which is worse than degraded.
func disagreements() map[string]string {
	const crd = "apiextensions.k8s.io/CustomResourceDefinition/testdata/crd-v1-"
	const ended = "failed: the run has ended, and its controller does not try again"
	return map[string]string{
		crd + "names-not-accepted-degraded.yaml": "failed: the API server does not serve the kind at all",
		crd + "not-established-degraded.yaml":    "failed: the API server does not serve the kind at all",
		"batch/CronJob/testdata/never-succeeded.yaml": "degraded: the controller writes the end and the success of a run " +
			"together, so a run without both has failed",
		"apps.kruise.io/BroadcastJob/testdata/failed.yaml":          ended,
		"astra.netapp.io/ExecHooksRun/testdata/degraded.yaml":       ended,
		"lifecycle.keptn.sh/KeptnAppVersion/testdata/degraded.yaml": ended,
		"lifecycle.keptn.sh/KeptnEvaluation/testdata/degraded.yaml": ended,
		"projectcontour.io/HTTPProxy/testdata/parent_child.yaml": "progressing: the script does not check objects with " +
			"includes, but a condition states that an included object is missing",
	}
}

// TestSeveritiesAgreeWithArgoCD fails if a severity differs from the status that Argo CD expects, unless the variable
// disagreements contains this case.
func TestSeveritiesAgreeWithArgoCD(t *testing.T) {
	var evaluator health.Evaluator
	scripts, err := fs.Glob(resource_customizations.Embedded, "*/*/health.lua")
	if err != nil {
		t.Fatal(err)
	}
	custom, builtIn := 0, 0
	known := disagreements()
	for _, script := range scripts {
		kind := path.Dir(script)
		for _, c := range casesOf(t, kind) {
			object := readObject(t, path.Join(kind, c.InputPath))
			want, ok := severityOf(c.HealthStatus.Status)
			if !ok {
				t.Errorf("%s/%s: unknown status %q", kind, c.InputPath, c.HealthStatus.Status)
			}
			var now time.Time
			if isBuiltIn(kind) {
				builtIn++
				// The cases are old, so use their newest time as the present time. With the real time, their CronJobs would
				// have missed many runs.
				now = newestTime(object)
			} else {
				custom++
				// Use the newest time of the conditions as the present time. With the real time, objects in progress would be
				// overdue, a state that Argo CD does not have.
				now = newestTime(conditionsOf(object))
			}
			got := evaluator.Evaluate(object, now, now)
			name := path.Join(kind, c.InputPath)
			reason, isKnown := known[name]
			delete(known, name)
			switch agrees := got.Severity == want; {
			case isKnown && agrees:
				t.Errorf("%s: Argo CD agrees now: %s", name, want)
			case isKnown:
				t.Logf("disagrees: %s: Argo CD %s, here %s", name, want, reason)
			case !agrees:
				t.Errorf("disagrees: %s: got %s (%s), Argo CD %s (%s)",
					name, got.Severity, got.Why(), want, c.HealthStatus.Message)
			}
		}
	}
	for name := range known {
		t.Errorf("%s is not a case of Argo CD", name)
	}
	t.Logf("%d scripts; %d cases of custom resources, %d of built-in kinds", len(scripts), custom, builtIn)
	if custom < 1000 || evaluator.ScriptErrors() > 0 {
		t.Errorf("got %d cases and %d script errors, want at least 1000 and none", custom, evaluator.ScriptErrors())
	}
}

// newestTime returns the newest time in JSON text, or the zero Time.
func newestTime(text []byte) (newest time.Time) {
	for _, found := range regexp.MustCompile(`20\d\d-[\d-]+T[\d:]+Z`).FindAll(text, -1) {
		if at, err := time.Parse(time.RFC3339, string(found)); err == nil && at.After(newest) {
			newest = at
		}
	}
	return newest
}

// conditionsOf returns the transition times of an object's conditions as JSON text.
func conditionsOf(object []byte) []byte {
	var o struct {
		Status struct {
			Conditions []struct{ LastTransitionTime string }
		}
	}
	_ = json.Unmarshal(object, &o) // Ignore errors: some cases have conditions of another type, without times.
	text, _ := json.Marshal(o.Status.Conditions)
	return text
}

func severityOf(status string) (severity verdict.Severity, ok bool) {
	switch status {
	case "Healthy", "Suspended":
		return verdict.OK, true
	case "Progressing":
		return verdict.Progressing, true
	case "Degraded":
		return verdict.Degraded, true
	case "Missing", "Unknown", "":
		return verdict.None, true
	}
	return verdict.None, false
}

func casesOf(t *testing.T, kind string) []testCase {
	t.Helper()
	var file struct {
		Tests []testCase `json:"tests"`
	}
	if err := yaml.Unmarshal(readFile(t, path.Join(kind, "health_test.yaml")), &file); err != nil {
		t.Fatalf("%s: %v", kind, err)
	}
	return file.Tests
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	text, err := fs.ReadFile(resource_customizations.Embedded, name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// readObject returns an object as JSON text. In production, Argo CD runs no script for an object that is being deleted,
// but its tests run the script anyway. So readObject removes the deletionTimestamp, unless the case tests deletion.
func readObject(t *testing.T, name string) []byte {
	t.Helper()
	var object map[string]any
	if err := yaml.Unmarshal(readFile(t, name), &object); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if metadata, ok := object["metadata"].(map[string]any); ok && metadata["deletionTimestamp"] != nil {
		delete(metadata, "deletionTimestamp")
		if strings.Contains(name, "deleting") || strings.Contains(name, "terminating") {
			// Use the present time. With an old time, the deletion would be overdue.
			metadata["deletionTimestamp"] = time.Now().UTC().Format(time.RFC3339)
		}
	}
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return text
}
