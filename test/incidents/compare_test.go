package incidents

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
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
		{"namespace of no fixture", strings.Replace(ingress, "incident-x", "incident-y", 1) + `,` + cause + `}`, 0, 0, 1},
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
			c := comparison{[]*fixture{f, quiet}, []*fixture{demo, other}, func(*object) []object { return nil }, true}
			r := c.compare(findings)
			if got := r.total(); got.found != test.found || got.explained != test.explained || got.wrong != test.wrong {
				t.Errorf("got %d found, %d explained and %d wrong, want %d, %d and %d:\n%s",
					got.found, got.explained, got.wrong, test.found, test.explained, test.wrong, r)
			}
		})
	}
}

// TestUnlistedObjectsAreJudged verifies how objects count that no fixture lists, in a fixture with expectations.
func TestUnlistedObjectsAreJudged(t *testing.T) {
	f := &fixture{name: "x", namespace: "incident-x", header: header{Area: "Pod", Expect: []expectation{
		{
			reference: reference{Resource: "apps/v1/deployments", Name: "api"}, Severity: "failed",
			Cause: &reference{Resource: "core/v1/secrets", Name: "key"},
		},
		{reference: reference{Resource: "core/v1/pods", Name: "worker"}, Severity: "failed", Sentence: []string{"exit"}},
	}}}
	further := &fixture{name: "x-more", namespace: "incident-x-more", header: header{Expect: []expectation{{
		reference: reference{Resource: "core/v1/nodes", Namespace: "-", Name: "incident-x-more-node"},
	}}}}
	owners := func(o *object) []object {
		switch o.Name {
		case "api-1":
			return []object{{"apps/v1/deployments", "incident-x", "api"}}
		case "worker":
			return []object{{"batch/v1/jobs", "incident-x", "nightly"}}
		}
		return nil
	}
	item := func(resource, name, more string) string {
		return fmt.Sprintf(`{"resource":%q,"ns":"incident-x","name":%q,"severity":"failed","sentence":"It\n is bad"%s}`,
			resource, name, more)
	}
	causedBy := func(resource, name string) string {
		return fmt.Sprintf(`,"cause":{"resource":%q,"ns":"incident-x","name":%q}`, resource, name)
	}
	api := item("apps/v1/deployments", "api", causedBy("core/v1/secrets", "key")+
		`,"chain":[{"resource":"core/v1/configmaps","ns":"incident-x","name":"mounted"}]`)
	worker := item("core/v1/pods", "worker", "")
	const pod, bad = "pods incident-x/", ": It is bad"
	for _, test := range []struct{ name, problem, unjudged, wrong string }{
		{"expected", api, "", ""},
		{"cause of an expectation", item("core/v1/secrets", "key", ""), "", ""},
		{"same cause as an expectation", item("core/v1/pods", "other", causedBy("core/v1/secrets", "key")), "", ""},
		{"caused by an expected object", item("batch/v1/jobs", "other", causedBy("core/v1/pods", "worker")), "", ""},
		{
			"owned by an expected object", item("core/v1/pods", "api-1", ""),
			"v1/" + pod + "api-1" + bad + " [is owned by the expected apps/v1/deployments incident-x/api]", "",
		},
		{
			"owner of an expected object", item("batch/v1/jobs", "nightly", ""),
			"batch/v1/jobs incident-x/nightly" + bad + " [owns the expected v1/pods incident-x/worker]", "",
		},
		{
			"in the chain of an expected object", item("core/v1/configmaps", "mounted", ""),
			"v1/configmaps incident-x/mounted" + bad + " [is in a chain with the expected apps/v1/deployments incident-x/api]",
			"",
		},
		{
			"unrelated", item("core/v1/pods", "alone", causedBy("core/v1/nodes", "n")), "",
			"x: v1/" + pod + "alone: failed" + bad + " (cause v1/nodes incident-x/n) [is not related to an expected object]",
		},
		{
			"cluster-scoped and unrelated", `{"resource":"core/v1/nodes","name":"incident-x-node","severity":"failed"}`, "",
			"x: v1/nodes /incident-x-node: failed:  [is not related to an expected object]",
		},
		{"object of a fixture that is not judged", `{"resource":"core/v1/pods","ns":"incident-x-more","name":"a"}`, "", ""},
		{
			"object of no fixture", `{"resource":"core/v1/nodes","name":"incident-node","severity":"failed"}`, "",
			"demo: v1/nodes /incident-node: failed: ",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var findings []finding
			if err := json.Unmarshal([]byte("["+api+","+worker+","+test.problem+"]"), &findings); err != nil {
				t.Fatal(err)
			}
			r := (&comparison{[]*fixture{f}, []*fixture{further}, owners, true}).compare(findings)
			unjudged := strings.Join(slices.Collect(maps.Values(r.unjudged)), "; ")
			if wrong := strings.Join(r.wrong, "; "); unjudged != test.unjudged || wrong != test.wrong {
				t.Errorf("got unjudged %q and wrong %q, want %q and %q", unjudged, wrong, test.unjudged, test.wrong)
			}
			r = (&comparison{[]*fixture{f}, []*fixture{further}, owners, false}).compare(findings)
			isUnrelated := strings.HasPrefix(test.wrong, "x: ")
			if isUnrelated && (len(r.wrong) != 0 || len(r.unjudged) != 1) {
				t.Errorf("without the strict rule, got unjudged %v and wrong %q, want one unjudged object", r.unjudged, r.wrong)
			}
		})
	}
}
