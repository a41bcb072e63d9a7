package query_test

import (
	"cmp"
	"encoding/json"
	"testing"

	apilabels "k8s.io/apimachinery/pkg/labels"

	"github.com/glasshouse-project/glasshouse/internal/watch/query"
)

// A selector gives the same result for the JSON text of labels and for the decoded labels.
func TestSelectorsMatchEncodedLabels(t *testing.T) {
	for _, text := range []string{
		``, `{}`, `{"app":"web"}`, `{"tier":"db", "app" : "web"}`, `{"app":"api"}`, `{"app":""}`,
		`{"\u0061pp":"w\u0065b"}`,
		`{"app":"api","app":"web"}`, `{"application":"web"}`, `null`, `[]`, `{"app":`,
	} {
		t.Run(cmp.Or(text, "empty"), func(t *testing.T) {
			var set apilabels.Set
			_ = json.Unmarshal([]byte(text), &set)
			for _, labelSelector := range []string{
				"app", "!app", "app=web", "app!=web", "app in (web,api)", "app notin (web)", "app=web,tier=db",
			} {
				selector, err := apilabels.Parse(labelSelector)
				if err != nil {
					t.Fatal(err)
				}
				if got, want := selector.Matches(query.Labels(text)), selector.Matches(set); got != want {
					t.Errorf("selector %s: got match %t, want %t", labelSelector, got, want)
				}
			}
		})
	}
}
