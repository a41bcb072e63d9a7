package redact_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/redact"
)

func rulesOf(tb testing.TB, texts ...string) (rules redact.Rules) {
	tb.Helper()
	for _, text := range texts {
		parsed, err := redact.Parse(text)
		if err != nil {
			tb.Fatalf("%s: got error %v", text, err)
		}
		rules = append(rules, parsed...)
	}
	return rules
}

// If a value on the rule's path has an unexpected type, it is masked completely.
func TestRulesMaskTheirPaths(t *testing.T) {
	tests := map[string]struct{ rule, group, resource, in, want string }{
		"each value of a map": {
			"core/v1/configmaps:data.*", "", "configmaps",
			`{"metadata":{"uid":"u","name":"a"},"data":{"a":"c4n4ry","b":{"c":["c4n4ry"]},"c":7,"d":null},` +
				`"binaryData":{"e":"x"}}`,
			`{"metadata":{"uid":"u","name":"a"},"data":{"a":"(masked)","b":"(masked)","c":"(masked)","d":null},` +
				`"binaryData":{"e":"x"}}`,
		},
		"rule for another resource": {
			"core/v1/configmaps:data.*", "", "pods", `{"metadata":{},"data":{"a":"x"}}`,
			`{"metadata":{},"data":{"a":"x"}}`,
		},
		"rule for another group": {
			"core/v1/configmaps:data.*", "example.com", "configmaps", `{"metadata":{},"data":{"a":"x"}}`,
			`{"metadata":{},"data":{"a":"x"}}`,
		},
		"core rule on events.k8s.io with a renamed field": {
			"core/v1/events:message", "events.k8s.io", "events",
			`{"metadata":{"uid":"u"},"note":"c4n4ry","reason":"R"}`, `{"metadata":{"uid":"u"},"note":"(masked)",` +
				`"reason":"R"}`,
		},
		"events.k8s.io rule on core with a renamed field": {
			"events.k8s.io/v1/events:..regarding", "", "events",
			`{"metadata":{"uid":"u"},"message":"x","involvedObject":{"name":"c4n4ry"}}`, `{"metadata":{"uid":"u"},` +
				`"message":"x","involvedObject":"(masked)"}`,
		},
		"core rule on events.k8s.io with the same field": {
			"core/v1/events:series.*", "events.k8s.io", "events",
			`{"metadata":{"uid":"u"},"series":{"count":"c4n4ry"}}`,
			`{"metadata":{"uid":"u"},"series":{"count":"(masked)"}}`,
		},
		"each element of a list": {
			"apps/v1/deployments:spec.template.spec.containers[*].env[*].value", "apps", "deployments",
			`{"metadata":{},"spec":{"replicas":1,"template":{"spec":{"containers":[{"name":"a","env":[{"name":"A",` +
				`"value":"c4n4ry"},{"name":"B","valueFrom":{}}]},{"name":"b"}]}}}}`,
			`{"metadata":{},"spec":{"replicas":1,"template":{"spec":{"containers":[{"name":"a","env":[{"name":"A",` +
				`"value":"(masked)"},{"name":"B","valueFrom":{}}]},{"name":"b"}]}}}}`,
		},
		"annotation of all resources": {
			`*:metadata.annotations["example.com/token"]`, "batch", "jobs",
			`{"metadata":{"name":"a","annotations":{"example.com\/token":"c4n4ry","b":"c"}}}`,
			`{"metadata":{"name":"a","annotations":{"example.com/token":"(masked)","b":"c"}}}`,
		},
		"field of a custom resource in any version": {
			"example.com/v1/databases:spec.values.password", "example.com", "databases",
			`{"metadata":{},"spec":{"values":{"password":{"a":"c4n4ry"},"user":"x"}}}`,
			`{"metadata":{},"spec":{"values":{"password":"(masked)","user":"x"}}}`,
		},
		"string instead of an object": {
			"example.com/v1/databases:spec.values.password", "example.com", "databases",
			`{"metadata":{},"spec":{"values":"password: c4n4ry","user":"x"}}`,
			`{"metadata":{},"spec":{"values":"(masked)","user":"x"}}`,
		},
		"list instead of an object": {
			"example.com/v1/databases:spec.values.password", "example.com", "databases",
			`{"metadata":{},"spec":{"values":[{"password":"c4n4ry"}]}}`, `{"metadata":{},"spec":{"values":"(masked)"}}`,
		},
		"object instead of a list": {
			"example.com/v1/databases:spec.users[*].password", "example.com", "databases",
			`{"metadata":{},"spec":{"users":{"a":{"password":"c4n4ry"}}}}`,
			`{"metadata":{},"spec":{"users":"(masked)"}}`,
		},
		"list with elements of other types": {
			"example.com/v1/databases:spec.users[*].password", "example.com", "databases",
			`{"metadata":{},"spec":{"users":["c4n4ry",{"password":"c4n4ry"},["c4n4ry"],null]}}`,
			`{"metadata":{},"spec":{"users":["(masked)",{"password":"(masked)"},"(masked)",null]}}`,
		},
		"field at any depth": {
			"*:spec..password", "example.com", "databases",
			`{"metadata":{"labels":{"password":"x"}},"spec":{"password":"c4n4ry",` +
				`"a":[{"b":{"password":{"password":"c4n4ry"}}}]}}`,
			`{"metadata":{"labels":{"password":"x"}},"spec":{"password":"(masked)",` +
				`"a":[{"b":{"password":"(masked)"}}]}}`,
		},
		"duplicate member": {
			"*:spec.password", "example.com", "databases",
			`{"metadata":{},"spec":{"password":"c4n4ry","password":"c4n4ry"},"spec":{"p\u0061ssword":"c4n4ry"}}`,
			`{"metadata":{},"spec":{"password":"(masked)","password":"(masked)"},"spec":{"password":"(masked)"}}`,
		},
		"removed fields are not masked": {
			`*:metadata.annotations.*`, "", "pods",
			`{"metadata":{"managedFields":["c4n4ry"],` +
				`"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"c4n4ry","b":"c4n4ry"}}}`,
			`{"metadata":{"annotations":{"b":"(masked)"}}}`,
		},
		"environment variables of a pod": {
			"env", "", "pods",
			`{"metadata":{"labels":{"env":"prod"}},"spec":{"containers":[{"env":[{"name":"A","value":"c4n4ry"}]}],` +
				`"initContainers":[{"env":"c4n4ry"}],"ephemeralContainers":[{"env":{"A":"c4n4ry"}}]}}`,
			`{"metadata":{"labels":{"env":"prod"}},"spec":{"containers":[{"env":[{"name":"A",` +
				`"value":"(masked)"}]}],"initContainers":[{"env":"(masked)"}],` +
				`"ephemeralContainers":[{"env":"(masked)"}]}}`,
		},
		"environment variables of a cron job": {
			"env", "batch", "cronjobs",
			`{"metadata":{},"spec":{"jobTemplate":{"spec":{"template":{"metadata":{"labels":{"env":"prod"}},` +
				`"spec":{"containers":[{"env":[{"name":"A","value":"c4n4ry"}]}]}}}}}}`,
			`{"metadata":{},"spec":{"jobTemplate":{"spec":{"template":{"metadata":{"labels":{"env":"prod"}},` +
				`"spec":{"containers":[{"env":[{"name":"A","value":"(masked)"}]}]}}}}}}`,
		},
		"environment variables in a controller revision": {
			"env", "apps", "controllerrevisions",
			`{"metadata":{},"data":{"spec":{"template":{"spec":{"containers":[{"env":[{"name":"A",` +
				`"value":"c4n4ry"}]}]}}}}}`,
			`{"metadata":{},"data":{"spec":{"template":{"spec":{"containers":[{"env":[{"name":"A",` +
				`"value":"(masked)"}]}]}}}}}`,
		},
		"environment variables of a custom resource": {
			"env", "example.com", "tasks",
			`{"metadata":{},"spec":{"steps":[{"env":[{"name":"A","value":"c4n4ry"}]}],"env":{"A":"c4n4ry"},` +
				`"stage":{"env":"prod"}}}`,
			`{"metadata":{},"spec":{"steps":[{"env":[{"name":"A","value":"(masked)"}]}],"env":"(masked)",` +
				`"stage":{"env":"prod"}}}`,
		},
		"CRD schema with a property env": {
			"env", "apiextensions.k8s.io", "customresourcedefinitions",
			`{"metadata":{},"spec":{"properties":{"env":{"type":"array"}}}}`,
			`{"metadata":{},"spec":{"properties":{"env":{"type":"array"}}}}`,
		},
		"Helm release in a ConfigMap": {
			"*:none", "", "configmaps",
			`{"data":{"release":"c4n4ry","x":"y"},"metadata":{"name":"a.v1","labels":{"owner":"helm"}}}`,
			`{"data":{"release":"(masked)","x":"y"},"metadata":{"name":"a.v1","labels":{"owner":"helm"}}}`,
		},
		"Helm 2 release": {
			"*:none", "", "configmaps",
			`{"metadata":{"labels":{"OWNER":"TILLER"}},"data":{"release":"c4n4ry"}}`,
			`{"metadata":{"labels":{"OWNER":"TILLER"}},"data":{"release":"(masked)"}}`,
		},
		"Helm release without its label": {
			"*:none", "", "configmaps",
			`{"metadata":{"name":"sh.helm.release.v1.a.v1"},"data":{"release":"c4n4ry"},` +
				`"binaryData":{"release":"c4n4ry"}}`,
			`{"metadata":{"name":"sh.helm.release.v1.a.v1"},"data":{"release":"(masked)"},` +
				`"binaryData":{"release":"(masked)"}}`,
		},
		"Helm release with labels of another type": {
			"*:none", "", "configmaps", `{"metadata":{"labels":["owner"]},"data":{"release":"c4n4ry"}}`,
			`{"metadata":{"labels":["owner"]},"data":{"release":"(masked)"}}`,
		},
		"ConfigMap of another tool with a key release": {
			"*:none", "", "configmaps", `{"metadata":{"labels":{"owner":"me"}},"data":{"release":"7"}}`,
			`{"metadata":{"labels":{"owner":"me"}},"data":{"release":"7"}}`,
		},
		"Helm release in a Secret": {
			"*:none", "", "secrets", `{"metadata":{},"type":"helm.sh/release.v1","data":{"release":"c4n4ry"}}`,
			`{"metadata":{},"type":"helm.sh/release.v1","data":{"release":"(masked)"}}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			clean, err := redact.New(rulesOf(t, test.rule), test.group, test.resource).Object(nil, []byte(test.in))
			if err != nil {
				t.Fatal(err)
			}
			if string(clean.Text) != test.want {
				t.Errorf("got  %s\nwant %s", clean.Text, test.want)
			}
		})
	}
}

// A rule must not mask a value that identifies objects.
// Invariant: I15.
func TestInvalidRulesAreRefused(t *testing.T) {
	for text, wantErr := range map[string]string{
		"":                                    "the path is missing",
		"data":                                "the path is missing",
		"configmaps:data.*":                   "group/version/resource",
		"core/v1/ConfigMaps:data.*":           "group/version/resource",
		"core/v1/:data.*":                     "group/version/resource",
		"*/v1/configmaps:data.*":              "group/version/resource",
		"*:":                                  "not a path",
		"*:data..":                            "not a path",
		"*:data.":                             "not a path",
		"*:$.data":                            "not a path",
		"*:{.data}":                           "not a path",
		"*:data[0]":                           "not a path",
		"*:data[?(@.a)]":                      "not a path",
		"*:data['a']":                         "not a path",
		`*:data["a`:                           "not a path",
		`*:data["\x"]`:                        "not a path",
		`*:data["a" "b"]`:                     "not a path",
		"*:a b":                               "not a path",
		"*:data/x,y":                          "not a path",
		"*:metadata":                          "would mask metadata",
		"*:metadata.name":                     "would mask metadata.name",
		"*:metadata.*":                        "would mask metadata.name",
		"*:metadata.uid.x":                    "would mask metadata.uid",
		"*:metadata[*]":                       "would mask metadata",
		"*:*":                                 "would mask",
		"*:*.password":                        "would mask",
		"*:[*]":                               "would mask the complete object",
		"*:..name":                            "would mask metadata.name",
		"*:kind":                              "would mask kind",
		"*:" + strings.Repeat("a.", 40) + "b": "too many parts; the maximum is 32",
		"*:" + strings.Repeat("a", 1000):      "1000",
	} {
		t.Run(fmt.Sprintf("%.80s", cmp.Or(text, "empty")), func(t *testing.T) {
			rules, err := redact.Parse(text)
			if err == nil || !strings.Contains(err.Error(), wantErr) {
				t.Errorf("got %v, error %v, want an error with %q", rules, err, wantErr)
			}
		})
	}
	for _, text := range []string{
		"env", "*:spec", "*:.spec", "*:..password", "*:metadata.labels.*", `*:["a.b"].c`,
		"core/v1/nodes:status.images[*].names", "a.example.com/v1alpha1/b:metadata.annotations",
	} {
		t.Run(text, func(t *testing.T) {
			rulesOf(t, text)
		})
	}
}

// Field selectors must not use a path to a masked value, or to a parent or child of a masked value.
// Invariant: I15.
func TestMayMaskIncludesParentsAndChildren(t *testing.T) {
	rules := rulesOf(
		t, "example.com/v1/databases:spec.values.password", "*:spec..token",
		"core/v1/pods:spec.containers[*].image",
	)
	for path, want := range map[string]bool{
		"spec.values.password": true, "spec.values": true, "spec.values.password.a": true, "spec.a.b.token": true,
		"spec.values.user": false, "metadata.name": false, "status.phase": false,
	} {
		t.Run(path, func(t *testing.T) {
			if got := rules.MayMask("example.com", "databases", strings.Split(path, ".")); got != want {
				t.Errorf("got %t, want %t", got, want)
			}
		})
	}
	if rules.MayMask("", "pods", []string{"spec", "nodeName"}) {
		t.Error("MayMask(spec.nodeName of pods): got true, want false")
	}
}

// A mask reveals only how often its value has changed, even if the object has no UID.
// Invariant: I16.
func TestRuleMasksShowChanges(t *testing.T) {
	r := redact.New(rulesOf(t, "example.com/v1/databases:spec.password"), "example.com", "databases")
	maskOf := func(metadata, value string) string {
		clean, err := r.Object(nil, fmt.Appendf(nil, `{"metadata":{%s},"spec":{"password":%q}}`, metadata, value))
		if err != nil {
			t.Fatal(err)
		}
		var o struct{ Spec struct{ Password string } }
		if err := json.Unmarshal(clean.Text, &o); err != nil {
			t.Fatal(err)
		}
		return o.Spec.Password
	}
	first, second := `"namespace":"a","name":"x"`, `"namespace":"b","name":"x"`
	got := []string{
		maskOf(first, "A"),
		maskOf(second, "B"),
		maskOf(first, "A"),
		maskOf(first, "B"),
		maskOf(first, "A"),
		maskOf(second, "A"),
	}
	want := []string{
		"(masked)", "(masked)", "(masked)", "(masked, change 1)", "(masked, change 2)", "(masked, change 1)",
	}
	if strings.Join(got, ";") != strings.Join(want, ";") {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	r.Deleted("", "a", "x")
	if got := maskOf(first, "C"); got != "(masked)" {
		t.Errorf("changes of a deleted object are still counted: %s", got)
	}
}

// Invariant: I15.
func FuzzRulesMaskArbitraryValues(f *testing.F) {
	for _, seed := range []string{
		`"c4n4ry"`, `["c4n4ry"]`, `{"x":"c4n4ry"}`, `{"containers":[{"env":[{"value":"c4n4ry"}]}]}`,
		`{"containers":{"env":"c4n4ry"}}`, `[{"env":"c4n4ry"}]`, `{"env":["c4n4ry"]}`, `7`, `null`, `{"a":`,
	} {
		f.Add([]byte(seed))
	}
	rules := rulesOf(
		f, "env", "example.com/v1/databases:spec.values.password", "example.com/v1/databases:list[*].value",
		"example.com/v1/databases:map.*", `*:metadata.annotations["a/b"]`,
	)
	f.Fuzz(func(t *testing.T, data []byte) {
		if !json.Valid(data) || strings.Contains(string(data), `c4n4ry":`) {
			t.Skip("the canary is a key")
		}
		for _, template := range []string{
			`{"metadata":{"uid":"u"},"spec":{"values":{"password":%s}}}`, `{"metadata":{"uid":"u"},` +
				`"list":[{"value":%s}]}`, `{"metadata":{"uid":"u"},"map":{"a":%s}}`,
			`{"metadata":{"uid":"u","annotations":{"a/b":%s}}}`, `{"metadata":{"uid":"u","managedFields":%s}}`,
			`{"metadata":{"uid":"u","annotations":{"kubectl.kubernetes.io/last-applied-configuration":%s}}}`,
			`{"metadata":{"uid":"u"},"spec":{"template":{"spec":{"containers":[{"env":[{"value":%s}]}]}}}}`,
			`{"metadata":{"uid":"u"},"spec":{"initContainers":[{"env":%s}]}}`,
			`{"metadata":{"uid":"u"},"spec":{"template":{"metadata":{"managedFields":%s}}}}`,
			`{"metadata":{"uid":"u"},"spec":[{"annotations":{"example.com/last-applied":%s}}]}`,
		} {
			clean, err := redact.New(rules, "example.com", "databases").Object(nil, fmt.Appendf(nil, template, data))
			if err != nil && !strings.Contains(err.Error(), canary) {
				continue // The value is nested too deeply to be parsed.
			}
			text := string(clean.Text)
			var decoded any
			if err := json.Unmarshal(clean.Text, &decoded); err != nil {
				t.Fatalf("%s: got error %v", text, err)
			}
			// In lists of environment variables, only members named "value" are masked. Other members can contain the
			// canary (the secret test text).
			isList := strings.HasSuffix(template, `[{"env":%s}]}}`) &&
				strings.HasPrefix(strings.TrimSpace(string(data)), "[")
			if strings.Contains(text, canary) && (!isList || !strings.Contains(string(data), "{")) {
				t.Errorf("%s: got the canary in %s", fmt.Sprintf(template, data), text)
			}
		}
	})
}

// For viewers of share links, a mask shows whether a value changed, but not whether an earlier value returned.
// Invariant: I15.
func TestGuestMaskShowsOnlyThatValueChanged(t *testing.T) {
	config := func(value string) []byte {
		return fmt.Appendf(
			nil,
			`{"kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":%q,"same":"c4n4ry"},"binaryData":{"b":%q}}`,
			value, value,
		)
	}
	mask := redact.NewGuestMask("", "configmaps")
	text, err := mask.Object(nil, config("c4n4ry"))
	if want := `{"kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"(masked)","same":"(masked)"},` +
		`"binaryData":{"b":"(masked)"}}`; err != nil || string(text) != want {
		t.Errorf("got %s, error %v", text, err)
	}
	for _, change := range [][2]string{{"A", "B"}, {"B", "A"}, {"C", "A"}} {
		t.Run(change[0]+" to "+change[1], func(t *testing.T) {
			text, err := mask.After(nil, config(change[0]), config(change[1]))
			if want := `{"kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"(masked, changed)",` +
				`"same":"(masked)"},"binaryData":{"b":"(masked, changed)"}}`; err != nil || string(text) != want {
				t.Errorf("got %s, error %v\nwant %s", text, err, want)
			}
		})
	}
	for _, test := range []struct{ group, resource, in, want string }{
		{"", "secrets", `{"data":{"a":"(masked, change 2)"}}`, `{"data":{"a":"(masked)"}}`},
		{
			"", "pods",
			`{"spec":{"containers":[{"env":[{"name":"A","value":"c4n4ry"},` +
				`{"valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}}]}]}}`,
			`{"spec":{"containers":[{"env":[{"name":"A","value":"(masked)"},` +
				`{"valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}}]}]}}`,
		},
		{
			"apps", "deployments", `{"spec":{"template":{"spec":{"containers":[{"env":[{"value":7}]}]}}}}`,
			`{"spec":{"template":{"spec":{"containers":[{"env":[{"value":"(masked)"}]}]}}}}`,
		},
		{"", "services", `{"spec":{"type":"ClusterIP"}}`, `{"spec":{"type":"ClusterIP"}}`},
		{
			"apps", "deployments", `{"metadata":{"annotations":{"a":"{\"env\":\"c4n4ry\"}","b":"c"}}}`,
			`{"metadata":{"annotations":{"a":"(masked)","b":"c"}}}`,
		},
	} {
		t.Run(test.resource, func(t *testing.T) {
			text, err := redact.NewGuestMask(test.group, test.resource).Object(nil, []byte(test.in))
			if err != nil || string(text) != test.want {
				t.Errorf("%s: got %s, error %v", test.resource, text, err)
			}
		})
	}
	if text, err := mask.Object(nil, []byte(`{"data":{"a":`)); err == nil {
		t.Errorf("invalid JSON: got %s, want an error", text)
	}
}
