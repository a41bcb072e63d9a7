package watch_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
)

// An object that was created with its present specification has no change. The overview names its creator instead.
func TestLastChangeIsTheCreation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := startSinceCluster(t)
		createdAt := time.Now().Add(-time.Hour).UTC()
		for name, changedAt := range map[string]time.Time{
			"created": createdAt.Add(time.Second), "changed": createdAt.Add(2 * time.Second),
		} {
			server.Set("apps/v1/deployments", apitest.Item{
				Namespace: "a", Name: name, Metadata: fmt.Sprintf(
					`"creationTimestamp":%q,"managedFields":[{"manager":"helm","operation":"Update","time":%q,"fieldsV1":`+
						`{"f:spec":{"f:replicas":{}}}}]`, createdAt.Format(time.RFC3339), changedAt.Format(time.RFC3339)),
				Rest: `"spec":{"replicas":1,"selector":{"matchLabels":{"app":"x"}},"template":{}},"status":{"conditions":[` +
					`{"type":"Progressing","status":"False","reason":"ProgressDeadlineExceeded"}]}`,
			})
		}
		cluster, _ := runSinceCluster(t, server)
		doc := overviewFor(t, cluster, watch.Viewer{Program: true}, watch.OverviewQuery{})
		found := 0
		for _, p := range doc.Problems {
			if c := p.LastChange; c != nil && c.By == "helm" && c.IsCreation == (p.Name == "created") {
				found++
			}
		}
		if found != 2 {
			t.Errorf("got %+v, want a creation and a change by helm", doc.Problems)
		}
	})
}

// The last change before a problem can be by an unknown author. The overview then names no older author.
func TestLastChangeByUnknownAuthor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := startSinceCluster(t)
		set := func(replicas int, managed, progressing string) {
			server.Set("apps/v1/deployments", apitest.Item{
				Namespace: "a", Name: "web", Metadata: longAgo + managed, Rest: fmt.Sprintf(
					`"spec":{"replicas":%d,"selector":{"matchLabels":{"app":"x"}},"template":{}},"status":{"conditions":[`+
						`{"type":"Progressing","status":%q,"reason":"ProgressDeadlineExceeded","lastTransitionTime":%q}]}`,
					replicas, progressing, time.Now().UTC().Format(time.RFC3339)),
			})
		}
		managedBy := func(manager string) string {
			return fmt.Sprintf(`,"managedFields":[{"manager":%q,"operation":"Update","time":%q,"fieldsV1":{"f:spec":`+
				`{"f:replicas":{}}}}]`, manager, time.Now().UTC().Format(time.RFC3339))
		}
		set(1, managedBy("helm"), "True")
		cluster, _ := runSinceCluster(t, server)
		advance(time.Minute)
		set(2, managedBy("argocd"), "True")
		advance(time.Minute)
		set(3, "", "True")
		advance(time.Minute)
		set(3, "", "False")
		advance(time.Minute)
		doc := overviewFor(t, cluster, watch.Viewer{Program: true}, watch.OverviewQuery{})
		if len(doc.Changes) != 1 || doc.Changes[0].By != "argocd" {
			t.Errorf("changes: got %+v, want only that of argocd", doc.Changes)
		}
		for _, p := range doc.Problems {
			if p.Kind == "Deployment" {
				if p.LastChange == nil || p.LastChange.By != "" || p.LastChange.What != "spec.replicas" {
					t.Errorf("got the last change %+v, want that of the unknown author", p.LastChange)
				}
				return
			}
		}
		t.Errorf("got %q, want a Deployment", lines(doc))
	})
}
