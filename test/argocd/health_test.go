// Package argocd compares the health of custom resources with the expectations of Argo CD's own tests.
//
// The test cases are embedded in the module of Argo CD, next to its scripts. The cases of gitops-engine for built-in
// kinds are not included: their expected statuses are Go code, and the module requires all of k8s.io/kubernetes.
package argocd

import (
	"encoding/json"
	"io/fs"
	"path"
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

// TestAgreement fails if the severity of a case differs from the expected status of Argo CD. Disagreements about
// built-in kinds are only listed.
func TestAgreement(t *testing.T) {
	var evaluator health.Evaluator
	scripts, err := fs.Glob(resource_customizations.Embedded, "*/*/health.lua")
	if err != nil {
		t.Fatal(err)
	}
	custom, builtIn, disagreed := 0, 0, 0
	for _, script := range scripts {
		kind := path.Dir(script)
		for _, c := range casesOf(t, kind) {
			object := readObject(t, path.Join(kind, c.InputPath))
			want, ok := severityOf(c.HealthStatus.Status)
			if !ok {
				t.Errorf("%s/%s: unknown status %q", kind, c.InputPath, c.HealthStatus.Status)
			}
			got := evaluator.Evaluate(object, time.Now(), time.Now())
			if isBuiltIn(kind) {
				builtIn++
			} else {
				custom++
			}
			if got.Severity == want {
				continue
			}
			disagreed++
			report := t.Errorf
			if isBuiltIn(kind) {
				report = t.Logf
			}
			report("disagrees: %s/%s: got %s (%s), Argo CD %s (%s)",
				kind, c.InputPath, got.Severity, got.Why(), want, c.HealthStatus.Message)
		}
	}
	t.Logf("%d scripts; %d cases of custom resources, %d of built-in kinds; %d disagree",
		len(scripts), custom, builtIn, disagreed)
	if custom < 1000 || evaluator.ScriptErrors() > 0 {
		t.Errorf("got %d cases and %d script errors, want at least 1000 and none", custom, evaluator.ScriptErrors())
	}
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

// readObject returns an object as JSON text. Argo CD runs no script for an object that is being deleted, but its tests
// do. So an object loses its deletionTimestamp, unless the file is about deletion.
func readObject(t *testing.T, name string) []byte {
	t.Helper()
	var object map[string]any
	if err := yaml.Unmarshal(readFile(t, name), &object); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if metadata, ok := object["metadata"].(map[string]any); ok && metadata["deletionTimestamp"] != nil {
		delete(metadata, "deletionTimestamp")
		if strings.Contains(name, "deleting") || strings.Contains(name, "terminating") {
			metadata["deletionTimestamp"] = time.Now().UTC().Format(time.RFC3339) // Not overdue.
		}
	}
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return text
}
