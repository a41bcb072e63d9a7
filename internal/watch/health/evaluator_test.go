package health_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/health"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/result"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/rules"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

func evaluatorWith(t *testing.T, text string) *health.Evaluator {
	t.Helper()
	return loggingEvaluator(t, text, io.Discard)
}

func loggingEvaluator(t *testing.T, text string, log io.Writer) *health.Evaluator {
	t.Helper()
	parsed, err := rules.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return health.NewEvaluator(parsed, slog.New(slog.NewTextHandler(log, nil)))
}

func scriptWith(key, message string) string {
	return fmt.Sprintf("resource.customizations.health.%s: |\n  return {status = \"Degraded\", message = %q}\n",
		key, message)
}

// An administrator's rule takes precedence over all other rules. A rule without wildcards takes precedence over a rule
// with wildcards.
func TestRulesTakePrecedence(t *testing.T) {
	ruleText := scriptWith("Pod", "core") + scriptWith("apps_Deployment", "exact") +
		scriptWith("cert-manager.io_*", "kinds") + scriptWith("*.example.com_Widget", "group")
	configMap := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: argocd-cm}\ndata:\n  url: https://example.com\n" +
		"  resource.customizations.ignoreDifferences.all: x\n  " + strings.ReplaceAll(ruleText, "\n", "\n  ")
	for name, text := range map[string]string{"mapping": ruleText, "ConfigMap": configMap} {
		t.Run(name, func(t *testing.T) {
			e := evaluatorWith(t, text)
			for object, want := range map[string]string{
				readyPod: "core",
				`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{}}`:        "exact",
				`{"apiVersion":"cert-manager.io/v1","kind":"Issuer","metadata":{}}`: "kinds",
				`{"apiVersion":"a.example.com/v1","kind":"Widget","metadata":{}}`:   "group",
				`{"apiVersion":"a.example.com/v1","kind":"Gadget","metadata":{}}`:   "",
				`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{}}`:     "",
				`{"apiVersion":"keda.sh/v1","kind":"ScaledObject","metadata":{}}`:   "Creating HorizontalPodAutoscaler Object",
				`{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{}}`:        "0 of 1 replicas ready",
			} {
				t.Run(fmt.Sprintf("%.80s", object), func(t *testing.T) {
					if got := e.Evaluate([]byte(object), time.Time{}, time.Time{}); got.Sentence != want {
						t.Errorf("%s: got %+v, want %q", object, got, want)
					}
				})
			}
		})
	}
}

const readyPod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{"name":"c"}]},` +
	`"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`

func TestHealthScriptsReadTheCompleteObject(t *testing.T) {
	e := evaluatorWith(t, "resource.customizations.health.ConfigMap: |\n"+
		"  return {status = \"Progressing\", message = obj.data.state .. obj.replicas}\n")
	text := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"state":"on"},"replicas":3}`
	want := verdict.Verdict{Severity: verdict.Progressing, Reason: "Progressing", Sentence: "on3"}
	if got := e.Evaluate([]byte(text), time.Time{}, time.Time{}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// A good condition (Ready is True) overrides the result of an Argo CD script, but not of a script of the administrator.
func TestConditionOverridesScript(t *testing.T) {
	text := []byte(`{"apiVersion":"source.toolkit.fluxcd.io/v1","kind":"HelmRepository","metadata":{},"spec":{},` +
		`"status":{"conditions":[{"type":"Ready","status":"True","reason":"Succeeded"}]}}`)
	if got := evaluator.Evaluate(text, time.Time{}, time.Time{}); got.Severity != verdict.OK {
		t.Errorf("Argo CD: got %+v, want ok", got)
	}
	e := evaluatorWith(t, scriptWith("source.toolkit.fluxcd.io_HelmRepository", "Succeeded"))
	if got := e.Evaluate(text, time.Time{}, time.Time{}); got.Severity != verdict.Degraded {
		t.Errorf("administrator: got %+v, want degraded", got)
	}
}

// If a script fails, the object has no severity, and the error is counted.
func TestFailedScriptGivesNoSeverity(t *testing.T) {
	text := []byte(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"}}`)
	for _, source := range []string{
		`return obj.status.phase`, `return {status = "Fine"}`, `while true do end`, `return 1`, `error("no")`,
	} {
		t.Run(source, func(t *testing.T) {
			e := evaluatorWith(t, "resource.customizations.health.example.com_Widget: '"+source+"'")
			want := verdict.Verdict{Reason: "Unknown"}
			if got := e.Evaluate(text, time.Time{}, time.Time{}); got != want || e.ScriptErrors() != 1 {
				t.Errorf("got %+v, %d errors; want %+v, 1 error", got, e.ScriptErrors(), want)
			}
			h := e.Of(text)
			if h.Status != result.Unknown || !strings.HasPrefix(h.Summary, "The health script failed: ") {
				t.Errorf("got %+v, want status %s", h, result.Unknown)
			}
		})
	}
	for _, source := range []string{`return nil`, `return {}`, `return {status = "Missing", message = "x"}`} {
		t.Run(source, func(t *testing.T) {
			e := evaluatorWith(t, "resource.customizations.health.example.com_Widget: '"+source+"'")
			if got := e.Evaluate(text, time.Time{}, time.Time{}); got != (verdict.Verdict{}) || e.ScriptErrors() != 0 {
				t.Errorf("got %+v, %d errors; want neither", got, e.ScriptErrors())
			}
		})
	}
}

// The log contains each error of a script once for each kind, and not once for each object.
func TestScriptErrorsAreLoggedOnce(t *testing.T) {
	var log bytes.Buffer
	e := loggingEvaluator(t, "resource.customizations.health.example.com_*: 'error(obj.metadata.name)'", &log)
	for _, name := range []string{"a", "a", "b", "a"} {
		for _, kind := range []string{"Widget", "Gadget"} {
			text := fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":%q,"metadata":{"name":%q}}`, kind, name)
			e.Evaluate([]byte(text), time.Time{}, time.Time{})
		}
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 4 || e.ScriptErrors() != 8 || !strings.Contains(lines[0], "resource=example.com/Widget error=") {
		t.Errorf("got %d errors and the log\n%s\nwant 8 errors, and each of the 4 errors of a kind once",
			e.ScriptErrors(), log.String())
	}
}

// A ready pod is degraded for some minutes after a container has restarted several times, the last time after an error.
// If the container restarts often, the pod is degraded until the container has run for a longer time than usual.
func TestFrequentRestartsDegradeReadyPod(t *testing.T) {
	started := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	const ended = `"lastState":{"terminated":{"exitCode":1,"reason":"Error"}},`
	run := func(start, end, exit string) string {
		return `"lastState":{"terminated":{"exitCode":` + exit + `,"reason":"OOMKilled","startedAt":"2025-12-31T` + start +
			`:00Z","finishedAt":"2025-12-31T` + end + `:00Z"}},`
	}
	const minutes20, hour, many = 20 * time.Minute, time.Hour, `"restartCount":12`
	for name, test := range map[string]struct {
		container string
		after     time.Duration
		want      verdict.Severity
	}{
		"several restarts":                  {ended + `"restartCount":5`, time.Minute, verdict.Degraded},
		"the count is first":                {`"restartCount":12,` + ended + `"started":true`, time.Minute, verdict.Degraded},
		"several restarts, a long time ago": {ended + `"restartCount":5`, 24 * time.Hour, verdict.OK},
		"few restarts":                      {ended + `"restartCount":2`, time.Minute, verdict.OK},
		"restarts, no previous instance":    {`"lastState":{},"restartCount":5`, time.Minute, verdict.OK},
		"frequent restarts":                 {run("23:45", "23:59", "137") + many, minutes20, verdict.Degraded},
		"frequent restarts, but stable now": {run("23:45", "23:59", "137") + many, hour, verdict.OK},
		"frequent ends without an error":    {run("23:45", "23:59", "0") + many, minutes20, verdict.OK},
		"rare restarts":                     {run("23:45", "23:59", "137") + `"restartCount":4`, minutes20, verdict.OK},
		"early restarts, then a long run":   {run("22:00", "23:59", "137") + many, minutes20, verdict.OK},
	} {
		t.Run(name, func(t *testing.T) {
			pod := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","creationTimestamp":"2025-12-31T21:00:00Z"},` +
				`"spec":{"nodeName":"n","containers":[{"name":"c"}]},"status":{` +
				`"phase":"Running","conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[{` + test.container +
				`,"name":"c","ready":true,"state":{"running":{"startedAt":"2026-01-01T00:00:00Z"}}}]}}`
			got := evaluator.Evaluate([]byte(pod), started.Add(test.after), started)
			if got.Severity != test.want {
				t.Errorf("got %+v, want %s", got, test.want)
			}
		})
	}
}

// Of several containers that restart, the verdict names the one that must run the longest to count as healthy again.
func TestRestartsOfSeveralContainers(t *testing.T) {
	started := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	status := func(name string, count int) string {
		return fmt.Sprintf(`{"name":%q,"restartCount":%d,"lastState":{"terminated":{"exitCode":1,"reason":"Error"}},`+
			`"ready":true,"state":{"running":{"startedAt":"2026-01-01T00:00:00Z"}}}`, name, count)
	}
	pod := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","creationTimestamp":"2025-12-31T21:00:00Z"},` +
		`"spec":{"nodeName":"n","containers":[{"name":"rarely"},{"name":"often"}]},"status":{"phase":"Running",` +
		`"conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[` + status("rarely", 12) + "," +
		status("often", 180) + `]}}`
	got := evaluator.Evaluate([]byte(pod), started.Add(20*time.Minute), started)
	if got.Severity != verdict.Degraded || !strings.Contains(got.Sentence, "rarely") {
		t.Errorf("got %+v, want a sentence about the container rarely", got)
	}
}
