package watch_test

import (
	"fmt"
	"slices"
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

// managedFields returns the member managedFields of an object's metadata: one manager wrote one part of the object.
func managedFields(manager, part string, at time.Time) string {
	return fmt.Sprintf(`"managedFields":[{"manager":%q,"operation":"Update","time":%q,"fieldsV1":{"f:%s":{"f:x":{}}}}]`,
		manager, at.UTC().Format(time.RFC3339), part)
}

// changeOf describes the last change of an object's finding, such as "spec.x of ResourceQuota/q by helm".
func changeOf(t *testing.T, cluster *watch.Cluster, viewer watch.Viewer, object string) string {
	t.Helper()
	doc := overviewFor(t, cluster, viewer, watch.OverviewQuery{Namespaces: []string{"a"}})
	for _, p := range doc.Problems {
		switch c := p.LastChange; {
		case p.Kind+"/"+p.Name != object:
		case c == nil:
			return ""
		default:
			return fmt.Sprintf("%s of %s/%s by %s", c.What, c.Kind, c.Name, c.By)
		}
	}
	t.Errorf("%s is not in the findings %q", object, lines(doc))
	return ""
}

// A change of the cause, here a quota, explains a problem better than an older change of the object itself. Viewers who
// may not read the cause get only changes of the object.
func TestLastChangeOfTheCause(t *testing.T) {
	const quotas, quotaRest = "core/v1/resourcequotas", `"spec":{"hard":{"pods":"%d"}}`
	synctest.Test(t, func(t *testing.T) {
		server := apitest.New(t, append(causeKinds(), apitest.Kind{
			Ref: quotas, Kind: "ResourceQuota", Columns: `[{"name":"Name","type":"string"}]`,
		})...)
		allow(server, "ann list deployments a", "ann list replicasets a", "ann list events a")
		server.Set("core/v1/namespaces", apitest.Item{Name: "a", Metadata: longAgo})
		setDeployment := func(replicas int) {
			server.Set(deployments, apitest.Item{
				Namespace: "a", Name: "web", Metadata: longAgo + "," + managedFields("helm", "spec", time.Now()),
				Rest: fmt.Sprintf(`"spec":{"replicas":%d},"status":{"observedGeneration":1}`, replicas),
			})
		}
		setQuota := func(pods int) {
			server.Set(quotas, apitest.Item{
				Namespace: "a", Name: "q", Metadata: longAgo + "," + managedFields("kubectl-edit", "spec", time.Now()),
				Rest: fmt.Sprintf(quotaRest, pods),
			})
		}
		setDeployment(1)
		setQuota(10)
		cluster, _ := runSinceCluster(t, server)
		setDeployment(2)
		advance(time.Minute)
		setQuota(1)
		advance(time.Minute)
		set := owned("web-rs", "Deployment", "web")
		set.Metadata += "," + longAgo
		set.Rest = `"spec":{"replicas":2},"status":{"replicas":0,"conditions":[{"type":"ReplicaFailure","status":"True",` +
			`"reason":"FailedCreate","message":"pods \"web-1\" is forbidden: exceeded quota: q, requested: pods=1, used: ` +
			`pods=1, limited: pods=1","lastTransitionTime":"` + time.Now().UTC().Format(time.RFC3339) + `"}]}`
		server.Set(replicaSets, set)
		advance(time.Minute)
		setQuota(5) // A repair, after the start of the problem.
		advance(time.Minute)
		want := "spec.hard.pods of ResourceQuota/q by kubectl-edit"
		if got := changeOf(t, cluster, watch.Viewer{Program: true}, "Deployment/web"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		want = "spec.replicas of Deployment/web by helm"
		if got := changeOf(t, cluster, user("ann"), "Deployment/web"); got != want {
			t.Errorf("without permission to list quotas: got %q, want %q", got, want)
		}
	})
}

// The program reads the managedFields of the cause if the object is a pod. Changes after the start of the problem do
// not count, and viewers who may not read the cause get no change.
func TestLastChangeOfTheCauseOfAPod(t *testing.T) {
	const configMaps = "core/v1/configmaps"
	synctest.Test(t, func(t *testing.T) {
		server := startSinceCluster(t)
		allow(server, "ann list pods a")
		failed := time.Now()
		for name, edited := range map[string]time.Time{"before": failed.Add(-time.Hour), "after": failed.Add(time.Minute)} {
			server.Set(configMaps, apitest.Item{
				Namespace: "a", Name: name, Metadata: longAgo + "," + managedFields("kubectl-edit", "data", edited),
				Rest: `"data":{"x":"CANARY"}`,
			})
			server.Set(pods, apitest.Item{
				Namespace: "a", Name: name, Metadata: longAgo, Cells: `["web","x"]`, Rest: fmt.Sprintf(
					`"spec":{"nodeName":"n","containers":[{"name":"c","env":[{"name":"E","valueFrom":{"configMapKeyRef":`+
						`{"name":%q,"key":"y"}}}]}]},"status":{"phase":"Pending","startTime":%q,"conditions":[{"type":"Ready",`+
						`"status":"False","lastTransitionTime":%q}],"containerStatuses":[{"name":"c","state":{"waiting":`+
						`{"reason":"CreateContainerConfigError","message":"couldn't find key y in ConfigMap a/%s"}}}]}`,
					name, failed.UTC().Format(time.RFC3339), failed.UTC().Format(time.RFC3339), name),
			})
		}
		cluster, _ := runSinceCluster(t, server)
		advance(time.Minute)
		program := watch.Viewer{Program: true}
		if got, want := changeOf(t, cluster, program, "Pod/before"), "data of ConfigMap/before by kubectl-edit"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if got := changeOf(t, cluster, program, "Pod/after"); got != "" {
			t.Errorf("change after the start of the problem: got %q, want none", got)
		}
		if got := changeOf(t, cluster, user("ann"), "Pod/before"); got != "" {
			t.Errorf("without permission to list ConfigMaps: got %q, want none", got)
		}
	})
}

// A change after the start of a problem is marked as such, also if it is read from managedFields. If the start of the
// problem is unknown, no change is marked.
func TestLastChangeAfterTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := startSinceCluster(t)
		now := time.Now()
		for name, began := range map[string]time.Time{"later": now.Add(-time.Hour), "earlier": now, "unknown": {}} {
			condition := ""
			if !began.IsZero() {
				condition = fmt.Sprintf(`,"lastTransitionTime":%q`, began.UTC().Format(time.RFC3339))
			}
			server.Set("apps/v1/deployments", apitest.Item{
				Namespace: "a", Name: name,
				Metadata: longAgo + "," + managedFields("helm", "spec", now.Add(-time.Minute)),
				Rest: fmt.Sprintf(`"spec":{"replicas":1},"status":{"conditions":[{"type":"Progressing","status":"False",`+
					`"reason":"ProgressDeadlineExceeded"%s}]}`, condition),
			})
		}
		cluster, _ := runSinceCluster(t, server)
		doc := overviewFor(t, cluster, watch.Viewer{Program: true}, watch.OverviewQuery{})
		var later []string
		for _, p := range doc.Problems {
			if c := p.LastChange; p.Kind == "Deployment" && c != nil && c.By == "helm" {
				later = append(later, fmt.Sprint(p.Name, " ", c.IsLater))
			}
		}
		want := []string{"earlier false", "later true", "unknown false"}
		if slices.Sort(later); !slices.Equal(later, want) {
			t.Errorf("got %q, want %q", later, want)
		}
	})
}
