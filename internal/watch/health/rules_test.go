package health_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/health"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

func evaluatorWith(t *testing.T, rules string) *health.Evaluator {
	t.Helper()
	parsed, err := health.ParseRules([]byte(rules))
	if err != nil {
		t.Fatal(err)
	}
	return health.NewEvaluator(parsed)
}

func scriptWith(key, message string) string {
	return fmt.Sprintf("resource.customizations.health.%s: |\n  return {status = \"Degraded\", message = %q}\n",
		key, message)
}

// Rules of the administrator take precedence over all others. Among them, a rule without wildcards takes precedence.
func TestRulesTakePrecedence(t *testing.T) {
	rules := scriptWith("Pod", "core") + scriptWith("apps_Deployment", "exact") +
		scriptWith("cert-manager.io_*", "kinds") + scriptWith("*.example.com_Widget", "group")
	configMap := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: argocd-cm}\ndata:\n  url: https://example.com\n" +
		"  resource.customizations.ignoreDifferences.all: x\n  " + strings.ReplaceAll(rules, "\n", "\n  ")
	for name, text := range map[string]string{"mapping": rules, "ConfigMap": configMap} {
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
			if got := e.Evaluate([]byte(object), time.Time{}, time.Time{}); got.Sentence != want {
				t.Errorf("%s: %s: got %+v, want %q", name, object, got, want)
			}
		}
	}
}

const readyPod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{"name":"c"}]},` +
	`"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`

func TestRulesReadTheCompleteObject(t *testing.T) {
	e := evaluatorWith(t, "resource.customizations.health.ConfigMap: |\n"+
		"  return {status = \"Progressing\", message = obj.data.state .. obj.replicas}\n")
	text := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"state":"on"},"replicas":3}`
	want := verdict.Verdict{Severity: verdict.Progressing, Reason: "Progressing", Sentence: "on3"}
	if got := e.Evaluate([]byte(text), time.Time{}, time.Time{}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// If a script fails, the object has no severity, and the error is counted.
func TestScriptErrors(t *testing.T) {
	text := []byte(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"}}`)
	for n, source := range []string{
		`return obj.status.phase`, `return {status = "Fine"}`, `while true do end`, `return 1`, `error("no")`,
	} {
		e := evaluatorWith(t, "resource.customizations.health.example.com_Widget: '"+source+"'")
		want := verdict.Verdict{Reason: "unknown"}
		if got := e.Evaluate(text, time.Time{}, time.Time{}); got != want || e.ScriptErrors() != 1 {
			t.Errorf("%s: got %+v, %d errors; want %+v, 1 error", source, got, e.ScriptErrors(), want)
		}
		h := e.Of(text)
		if h.Status != health.Unknown || !strings.HasPrefix(h.Summary, "The health script failed: ") {
			t.Errorf("script %d: got %+v", n, h)
		}
	}
	for _, source := range []string{`return nil`, `return {}`, `return {status = "Missing", message = "x"}`} {
		e := evaluatorWith(t, "resource.customizations.health.example.com_Widget: '"+source+"'")
		if got := e.Evaluate(text, time.Time{}, time.Time{}); got != (verdict.Verdict{}) || e.ScriptErrors() != 0 {
			t.Errorf("%s: got %+v, %d errors", source, got, e.ScriptErrors())
		}
	}
}

func TestInvalidRules(t *testing.T) {
	for text, want := range map[string]string{
		"":       "must be a YAML mapping",
		"- a":    "must be a YAML mapping",
		"a: [":   "not valid YAML",
		"url: x": `unknown key "url"; write resource.customizations.health.GROUP_KIND`,
		"resource.customizations.state.apps_Deployment: x":      `unknown key "resource.customizations.state.`,
		"resource.customizations.health.: x":                    "unknown key",
		"resource.customizations.health.a_b_c: x":               "unknown key",
		"resource.customizations.health.a/B: x":                 "unknown key",
		"resource.customizations.health.a_B: 7":                 "must be a script",
		"resource.customizations.health.a_B: |\n  x = 1\n  x =": "resource.customizations.health.a_B: ",
		"resource.customizations.health.a_B: |\n  x = 1\n  = 2": "resource.customizations.health.a_B: line 2: ",
		scriptWith("Pod", "a") + scriptWith("_Pod", "b"):        "are rules for the same kind",
		scriptWith("Pod", "a") + scriptWith("Pod", "b"):         "not valid YAML",
		"data: {url: x}":                                  "no key has the form resource.customizations.health.GROUP_KIND",
		"data:\n  resource.customizations: x":             `unknown key "resource.customizations"`,
		"data:\n  resource.customizations.healthy.a_B: x": "unknown key",
	} {
		_, err := health.ParseRules([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v, want %q", text, err, want)
		}
	}
}
