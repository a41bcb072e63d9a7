package fieldmanager_test

import (
	"encoding/json"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/fieldmanager"
)

func TestOwners(t *testing.T) {
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
		"no fields": {`[{"manager":"x","operation":"Apply"}]`, `[]`},
		"malformed": {`[` + helm + `,`, `[]`},
		"malformed field": {`[{"manager":"x","operation":"Apply","fieldsV1":7},` + helm + `]`, `[{"manager":"helm",` +
			`"operation":"Apply","time":"2026-11-21T10:00:00Z","parts":["metadata","spec"]}]`},
		"empty": {``, `[]`},
	} {
		got, err := json.Marshal(fieldmanager.Owners([]byte(test.managed)))
		if err != nil || string(got) != test.want {
			t.Errorf("%s: got %s, error %v\nwant %s", name, got, err, test.want)
		}
	}
}
