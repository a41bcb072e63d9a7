package fieldmanager_test

import (
	"encoding/json"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/fieldmanager"
)

func TestOwnersAreListedNewestFirst(t *testing.T) {
	t.Parallel()
	const helm = `{"manager":"helm","operation":"Apply","time":"2026-11-21T10:00:00Z","fieldsV1":` +
		`{"f:spec":{"f:replicas":{}},"f:metadata":{"f:labels":{}}}}`
	for name, test := range map[string]struct{ managed, want string }{
		"newest first": {
			`[` + helm + `,{"manager":"kubelet","operation":"Update","subresource":"status",` +
				`"time":"2026-11-21T10:00:05Z","fieldsV1":{"f:status":{}}}]`,
			`[{"manager":"kubelet","operation":"Update","subresource":"status","time":"2026-11-21T10:00:05Z",` +
				`"parts":["status"]},` +
				`{"manager":"helm","operation":"Apply","time":"2026-11-21T10:00:00Z","parts":["metadata","spec"]}]`,
		},
		"without a time": {
			`[` + helm + `,{"manager":"kubectl","operation":"Update","subresource":"scale",` +
				`"fieldsV1":{"f:spec":{"f:replicas":{}}}}]`,
			`[{"manager":"kubectl","operation":"Update","subresource":"scale","parts":["spec"]},` +
				`{"manager":"helm","operation":"Apply","time":"2026-11-21T10:00:00Z","parts":["metadata","spec"]}]`,
		},
		"no fields": {`[{"manager":"x","operation":"Apply"}]`, `[]`},
		"malformed": {`[` + helm + `,`, `[]`},
		"malformed field": {`[{"manager":"x","operation":"Apply","fieldsV1":7},` + helm + `]`, `[{"manager":"helm",` +
			`"operation":"Apply","time":"2026-11-21T10:00:00Z","parts":["metadata","spec"]}]`},
		"empty": {``, `[]`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := json.Marshal(fieldmanager.Owners([]byte(test.managed)))
			if err != nil || string(got) != test.want {
				t.Errorf("got %s, error %v\nwant %s", got, err, test.want)
			}
		})
	}
}

// The author of a specification is unknown if an entry without a time can be newer than all others.
func TestSpecAuthorIsUnknownIfOrderIsUnknown(t *testing.T) {
	t.Parallel()
	entry := func(manager, subresource, time, part string) string {
		return `{"manager":"` + manager + `","operation":"Update","subresource":"` + subresource + `",` + time +
			`"fieldsV1":{"f:` + part + `":{"f:x":{}}}}`
	}
	const ten, eleven = `"time":"2026-11-21T10:00:00Z",`, `"time":"2026-11-21T11:00:00Z",`
	argocd := entry("argocd", "", ten, "spec")
	for name, test := range map[string]struct {
		other, want string
	}{
		"newer":                   {entry("kubectl", "", eleven, "spec"), "kubectl"},
		"scaled":                  {entry("kubectl", "scale", eleven, "spec"), "kubectl"},
		"scaled without a time":   {entry("kubectl", "scale", "", "spec"), ""},
		"without a time":          {entry("kubectl", "", "", "spec"), ""},
		"labels without a time":   {entry("kubectl", "", "", "metadata"), "argocd"},
		"status":                  {entry("controller", "status", eleven, "status"), "argocd"},
		"controller":              {entry("kube-controller-manager", "scale", eleven, "spec"), "argocd"},
		"controller without time": {entry("kube-controller-manager", "scale", "", "spec"), "argocd"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, managed := range []string{`[` + argocd + `,` + test.other + `]`, `[` + test.other + `,` + argocd + `]`} {
				got := ""
				if author := fieldmanager.NewestSpec([]byte(managed), fieldmanager.IsController); author != nil {
					got = author.Manager
				}
				if got != test.want {
					t.Errorf("got %q, want %q, for %s", got, test.want, managed)
				}
			}
		})
	}
}
