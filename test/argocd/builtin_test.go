package argocd

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	_ "github.com/argoproj/argo-cd/gitops-engine/pkg/utils/text" // Keeps the module in go.mod.
	"sigs.k8s.io/yaml"

	"github.com/glasshouse-project/glasshouse/internal/watch/health"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// minAgreement is the share of cases of built-in kinds that must agree, in percent. Those in uncounted do not count.
const minAgreement = 95

// builtInCases returns the cases of gitops-engine, the part of Argo CD with the rules for built-in kinds: the statuses
// that pkg/health/health_test.go expects for files next to it, by status.
func builtInCases() map[string][]string {
	return map[string][]string{
		"Healthy": {
			"../utils/kube/testdata/nginx.yaml", "statefulset", "statefulset-ondelete", "daemonset-ondelete", "pvc-bound",
			"svc-clusterip", "svc-loadbalancer", "svc-loadbalancer-nonemptylist", "ingress", "ingress-nonemptylist",
			"job-succeeded", "hpa-v2-healthy", "hpa-v1-healthy", "hpa-v1-healthy-toofew", "pod-running-restart-always",
			"pod-succeeded", "apiservice-v1-true", "apiservice-v1beta1-true",
		},
		"Suspended": {"deployment-suspended", "job-suspended"},
		"Progressing": {
			"deployment-progressing", "pvc-pending", "svc-loadbalancer-unassigned", "ingress-unassigned", "job-running",
			"hpa-v2-progressing", "hpa-v1-progressing", "hpa-v1-progressing-with-no-annotations", "pod-pending",
			"pod-running-not-ready", "pod-running-restart-never", "pod-running-restart-onfailure", "pod-deletion",
			"apiservice-v1-false", "apiservice-v1beta1-false",
		},
		"Degraded": {
			"deployment-degraded", "job-failed", "hpa-v2-degraded", "hpa-v1-degraded",
			"hpa-v1-degraded-failedgetobjectmetric", "pod-crashloop", "pod-imagepullbackoff", "pod-error", "pod-failed",
		},
	}
}

// workflowCases returns the cases of TestGetArgoWorkflowHealth in the same file: Argo Workflows in the given phases.
func workflowCases() map[string]string {
	return map[string]string{"": "Progressing", "Running": "Progressing", "Succeeded": "Healthy"}
}

// workflow returns the object of such a case. Without a phase, it has no status.
func workflow(phase string) []byte {
	status := ""
	if phase != "" {
		status = fmt.Sprintf(`,"status":{"phase":%q,"message":"This node is %s"}`, phase, phase)
	}
	return []byte(`{"apiVersion":"argoproj.io/v1alpha1","kind":"Workflow","metadata":{"name":"sample"},` +
		`"spec":{"entrypoint":"sampleEntryPoint","extraneousKey":"we are agnostic to extraneous keys"}` + status + `}`)
}

// builtInDisagreements contains the cases in which this program and Argo CD disagree, with this program's severity and
// the reason for it.
func builtInDisagreements() map[string]string {
	return map[string]string{
		"svc-loadbalancer-nonemptylist": "progressing: the only entry has no address, so kubectl prints <pending>, too",
		"hpa-v2-progressing": "ok: the autoscaler computes its replicas. kube-controller-manager never omits the condition " +
			"AbleToScale, as this case does",
	}
}

// uncounted contains further disagreements: about a custom resource, and about statuses that do not describe the health
// of the object, according to Argo CD itself.
func uncounted() map[string]string {
	const workflow = "none: a custom resource without a script and without conditions. It can run for any time, and " +
		"progress has a time limit here"
	const hook = ". Argo CD cannot report this, because the pod can be a hook of a sync (comments in health_pod.go)"
	return map[string]string{
		"workflow":         workflow,
		"workflow Running": workflow,
		"ingress-unassigned": "ok: some controllers write no address. " +
			"The FAQ of Argo CD calls this a known issue",
		"pod-running-restart-never":     "ok: all containers run and are ready" + hook,
		"pod-running-restart-onfailure": "failed: the container crashes again and again" + hook,
	}
}

// TestSeveritiesOfBuiltInKindsAgreeWithArgoCD fails if too few severities agree with the statuses that gitops-engine
// expects, or if a disagreement is not listed. The severities failed and degraded both agree with the status Degraded,
// because Argo CD has no worse status.
func TestSeveritiesOfBuiltInKindsAgreeWithArgoCD(t *testing.T) {
	folder := gitopsEngine(t)
	c := comparison{disagreements: builtInDisagreements(), uncounted: uncounted()}
	skipped := len(c.uncounted)
	for status, names := range builtInCases() {
		for _, name := range names {
			c.compare(t, name, status, readManifest(t, folder, fileOf(name)))
		}
	}
	for phase, status := range workflowCases() {
		c.compare(t, strings.TrimSpace("workflow "+phase), status, workflow(phase))
	}
	for name := range c.disagreements {
		t.Errorf("%s is not a case", name)
	}
	for name := range c.uncounted {
		t.Errorf("%s is not a case", name)
	}
	agreement := 100 * float64(c.agreeing) / float64(c.all-skipped)
	t.Logf("%d of %d cases agree (%.1f %%), %d of them as failed instead of degraded; %.1f %% without the %d not counted",
		c.agreeing, c.all, 100*float64(c.agreeing)/float64(c.all), c.failed, agreement, skipped)
	if agreement < minAgreement {
		t.Errorf("got agreement %.1f %%, want at least %d %%", agreement, minAgreement)
	}
}

// comparison counts the cases. The method compare removes the disagreements that it has found.
type comparison struct {
	disagreements, uncounted map[string]string
	all, agreeing, failed    int // The number of cases; failed is how many have Degraded in Argo CD, and failed here.
}

func (c *comparison) compare(t *testing.T, name, status string, object []byte) {
	t.Helper()
	want, ok := severityOf(status)
	if !ok {
		t.Errorf("%s: unknown status %q", name, status)
	}
	c.all++
	got := evaluateNew(object, want)
	isFailed := got.Severity == verdict.Failed && want == verdict.Degraded
	agrees := got.Severity == want || isFailed
	reason, isListed := c.disagreements[name]
	why, isUncounted := c.uncounted[name]
	switch {
	case agrees && (isListed || isUncounted):
		t.Errorf("%s: Argo CD agrees now: %s", name, want)
	case agrees:
		c.agreeing++
	case isListed:
		t.Logf("disagrees: %s: Argo CD %s, here %s", name, want, reason)
	case isUncounted:
		t.Logf("disagrees, not counted: %s: Argo CD %s, here %s", name, want, why)
	default:
		t.Errorf("disagrees: %s: got %s (%s), Argo CD %s", name, got.Severity, got.Why(), want)
	}
	if isFailed {
		c.failed++
	}
	delete(c.disagreements, name)
	delete(c.uncounted, name)
}

// evaluateNew evaluates an object at its newest time. In this program, but not in Argo CD, progress has a time limit.
// So if Argo CD expects progress, the object must be new: evaluateNew adds the present time as its creation time,
// unless the object has one.
func evaluateNew(object []byte, want verdict.Severity) verdict.Verdict {
	var evaluator health.Evaluator
	now := newestTime(object)
	if now.IsZero() {
		now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	var o map[string]any
	if err := json.Unmarshal(object, &o); err == nil && want == verdict.Progressing {
		if metadata, ok := o["metadata"].(map[string]any); ok && metadata["creationTimestamp"] == nil {
			metadata["creationTimestamp"] = now.Format(time.RFC3339)
			object, _ = json.Marshal(o) // It was decoded from JSON, so there is no error.
		}
	}
	return evaluator.Evaluate(object, now, now)
}

func fileOf(name string) string {
	if strings.Contains(name, "/") {
		return name
	}
	return "testdata/" + name + ".yaml"
}

// gitopsEngine returns the folder pkg/health of gitops-engine in the module cache.
func gitopsEngine(t *testing.T) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}",
		"github.com/argoproj/argo-cd/gitops-engine")
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("find the module: %v", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "pkg", "health")
}

func readManifest(t *testing.T, folder, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	object, err := yaml.YAMLToJSON(text)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return object
}

// TestBuiltInCasesAreComplete verifies that the table contains exactly the cases of the installed gitops-engine.
func TestBuiltInCasesAreComplete(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(gitopsEngine(t), "health_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	missing := make(map[string]bool)
	for _, found := range regexp.MustCompile(`assertAppHealth\(t, "(.+)", HealthStatus(\w+)\)`).FindAllSubmatch(text, -1) {
		missing[fmt.Sprintf("%s: %s", path.Clean(string(found[1])), found[2])] = true
	}
	for status, names := range builtInCases() {
		for _, name := range names {
			entry := fmt.Sprintf("%s: %s", path.Clean(fileOf(name)), status)
			if !missing[entry] {
				t.Errorf("%s is not a case of gitops-engine", entry)
			}
			delete(missing, entry)
		}
	}
	for entry := range missing {
		t.Errorf("%s is missing", entry)
	}
}
