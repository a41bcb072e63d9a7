package incidents

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestCompareDetectsEachMistake verifies that the function compare detects each kind of mistake in the findings.
func TestCompareDetectsEachMistake(t *testing.T) {
	web := reference{Resource: "networking.k8s.io/v1/ingresses", Name: "web"}
	f := &fixture{name: "x", namespace: "incident-x", header: header{
		Area: "Ingress",
		Expect: []expectation{{
			reference: web, Severity: "degraded", Cause: &reference{Resource: "core/v1/services", Name: "api-*"},
			Sentence: []string{"missing|does not exist"},
		}},
		Healthy: []reference{{Resource: "apps/v1/deployments", Name: "web"}},
	}}
	quiet := &fixture{name: "quiet", namespace: "incident-quiet", header: header{Area: "Healthy"}}
	demo := &fixture{name: "demo", header: header{Expect: []expectation{{
		reference: reference{Resource: "*/*/*", Namespace: "shop", Name: "broken*"},
	}}}}
	const ingress = `{"resource":"networking.k8s.io/v1/ingresses","ns":"incident-x","name":"web","severity":"failed"`
	const cause = `"cause":{"resource":"core/v1/services","ns":"incident-x","name":"api-1","sentence":"It does not exist"}`
	other := &fixture{name: "other", namespace: "incident-other", header: header{Expect: []expectation{{
		reference: reference{Resource: "core/v1/nodes", Namespace: "-", Name: "other"},
	}}}}
	for _, test := range []struct {
		name, problems          string
		found, explained, wrong int
	}{
		{"nothing", ``, 0, 0, 0},
		{"finding with cause", ingress + `,` + cause + `}`, 1, 1, 0},
		{"member with cause", `{"resource":"core/v1/pods","ns":"incident-x","name":"a","severity":"failed","objects":[` +
			ingress + `,` + cause + `}]}`, 1, 1, 0},
		{"member with the cause of its finding", `{"resource":"core/v1/pods","ns":"incident-x","name":"a",` +
			`"severity":"failed",` + cause + `,"objects":[` + ingress + `}]}`, 1, 1, 0},
		{"finding of the cause", `{"resource":"core/v1/services","ns":"incident-x","name":"api-1","severity":"failed",` +
			`"objects":[` + ingress + `,"sentence":"The service is missing"}]}`, 1, 1, 0},
		{"no cause", ingress + `,"sentence":"core/v1/services api-1 does not exist"}`, 1, 0, 0},
		{"other cause", ingress + `,` + strings.Replace(cause, "api-1", "db", 1) + `}`, 1, 0, 0},
		{"other sentence", ingress + `,` + strings.Replace(cause, "It does not exist", "It is slow", 1) + `}`, 1, 0, 0},
		{"other namespace", strings.Replace(ingress, "incident-x", "incident-y", 1) + `,` + cause + `}`, 0, 0, 0},
		{"severity too low", strings.Replace(ingress, "failed", "progressing", 1) + `,` + cause + `}`, 0, 0, 0},
		{
			"healthy object", `{"resource":"apps/v1/deployments","ns":"incident-x","name":"web","severity":"degraded"}`,
			0, 0, 1,
		},
		{"object of a healthy fixture", `{"resource":"core/v1/pods","ns":"incident-quiet","name":"a"}`, 0, 0, 1},
		{"broken object of the demo", `{"resource":"core/v1/pods","ns":"shop","name":"broken-1"}`, 0, 0, 0},
		{"healthy object of the demo", `{"resource":"core/v1/pods","ns":"shop","name":"web-1"}`, 0, 0, 1},
		{"broken object of another folder", `{"resource":"core/v1/nodes","ns":"","name":"other"}`, 0, 0, 0},
		{"healthy node", `{"resource":"core/v1/nodes","ns":"","name":"node-a-01"}`, 0, 0, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			var findings []finding
			if err := json.Unmarshal([]byte("["+test.problems+"]"), &findings); err != nil {
				t.Fatal(err)
			}
			r := compare([]*fixture{f, quiet}, findings, demo, other)
			if got := r.total(); got.found != test.found || got.explained != test.explained || got.wrong != test.wrong {
				t.Errorf("got %d found, %d explained and %d wrong, want %d, %d and %d:\n%s",
					got.found, got.explained, got.wrong, test.found, test.explained, test.wrong, r)
			}
		})
	}
}
