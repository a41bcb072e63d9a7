package watch_test

import (
	"fmt"
	"slices"
	"strings"
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

// recentChanges describes the changes of an overview, such as "created ConfigMap/a by helm", the oldest first.
func recentChanges(t *testing.T, cluster *watch.Cluster, viewer watch.Viewer) (texts []string) {
	t.Helper()
	for _, c := range overviewFor(t, cluster, viewer, watch.OverviewQuery{}).Changes {
		verb := c.What
		switch {
		case c.IsCreation:
			verb = "created"
		case c.IsDeletion:
			verb = "deleted"
		}
		texts = append(texts, strings.TrimSuffix(fmt.Sprintf("%s %s/%s by %s", verb, c.Kind, c.Name, c.By), " by "))
	}
	slices.Reverse(texts)
	return texts
}

func checkChanges(t *testing.T, name string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", name, got, want)
	}
}

// The recent changes include objects that people or tools create or delete, and edits of objects without a spec, such
// as ConfigMaps. They do not include existing objects, objects with an owner, changes by controllers, and
// the deletion of the objects in a namespace that is itself deleted.
func TestRecentChangesIncludeAllPersonalChanges(t *testing.T) {
	const configMaps, namespaces = "core/v1/configmaps", "core/v1/namespaces"
	synctest.Test(t, func(t *testing.T) {
		server := startSinceCluster(t)
		allow(server, "ann list deployments *")
		set := func(ref, name, manager, part, metadata, rest string) {
			created := fmt.Sprintf(`"creationTimestamp":%q`, time.Now().UTC().Format(time.RFC3339))
			if name == "old" {
				created = longAgo
			}
			server.Set(ref, apitest.Item{
				Namespace: "a", Name: name, Rest: rest,
				Metadata: created + "," + managedFields(manager, part, time.Now()) + metadata,
			})
			advance(2 * time.Second)
		}
		server.Set(namespaces, apitest.Item{Name: "b", Metadata: longAgo})
		byHelm := managedFields("helm", "data", time.Now())
		server.Set(configMaps, apitest.Item{Namespace: "a", Name: "old", Metadata: longAgo + `,"labels":{"a":"1"},` + byHelm})
		for _, namespace := range []string{"a", "b"} {
			server.Set(deployments, apitest.Item{Namespace: namespace, Name: "old", Metadata: longAgo, Rest: `"spec":{}`})
		}
		cluster, _ := runSinceCluster(t, server)
		program := watch.Viewer{Program: true}
		checkChanges(t, "existing objects", recentChanges(t, cluster, program))

		set(configMaps, "new", "kubectl-create", "data", "", "")
		set(deployments, "new", "helm", "spec", "", `"spec":{"replicas":1}`)
		set(configMaps, "root", "kube-controller-manager", "data", "", "")
		owner := `,"ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment","name":"new","uid":"a/new"}]`
		set(configMaps, "owned", "helm", "data", owner, "")
		server.Delete(configMaps, "a", "owned")
		labeled := strings.TrimSuffix(byHelm, "]") + "," +
			strings.TrimPrefix(managedFields("kubectl-label", "metadata", time.Now()), `"managedFields":[`)
		server.Set(configMaps, apitest.Item{
			Namespace: "a", Name: "old", Metadata: longAgo + `,"labels":{"a":"2"},` + labeled,
		})
		advance(2 * time.Second)
		set(configMaps, "old", "kubectl-edit", "data", `,"labels":{"a":"2"}`, "")
		set(configMaps, "old", "kube-controller-manager", "data", `,"labels":{"a":"2"}`, "")
		set(configMaps, "old", "helm", "data", `,"labels":{"a":"3"}`, "")
		set(deployments, "new", "kubectl-scale", "spec", "", `"spec":{"replicas":2}`)
		server.Delete(deployments, "a", "old")
		advance(2 * time.Second)
		server.Delete(configMaps, "a", "new")
		server.Set(namespaces, apitest.Item{Name: "b", Metadata: longAgo + `,"deletionTimestamp":"2000-01-01T00:00:00Z"`})
		advance(2 * time.Second)
		server.Delete(deployments, "b", "old")
		advance(2 * time.Second)
		server.Delete(namespaces, "", "b")
		advance(2 * time.Second)
		checkChanges(t, "changes", recentChanges(t, cluster, program),
			"created ConfigMap/new by kubectl-create", "created Deployment/new by helm", "data ConfigMap/old by kubectl-edit",
			"data/metadata ConfigMap/old by helm", "spec.replicas Deployment/new by kubectl-scale", "deleted Deployment/old",
			"deleted ConfigMap/new", "deleted Namespace/b")
		checkChanges(t, "without permission to list ConfigMaps", recentChanges(t, cluster, user("ann")),
			"created Deployment/new by helm", "spec.replicas Deployment/new by kubectl-scale", "deleted Deployment/old")
		guest := sharedWith(watch.Part{Resource: deployments, Namespaces: []string{"a"}})
		checkChanges(t, "guest", recentChanges(t, cluster, guest))
	})
}

// Many new objects of one kind do not push out the other changes. After a new list, its objects do not count as new.
func TestRecentChangesOfOneKindAreLimited(t *testing.T) {
	const configMaps = "core/v1/configmaps"
	synctest.Test(t, func(t *testing.T) {
		server := startSinceCluster(t)
		set := func(ref, name, manager, part, rest string) {
			server.Set(ref, apitest.Item{
				Namespace: "a", Name: name, Metadata: longAgo + "," + managedFields(manager, part, time.Now()), Rest: rest,
			})
		}
		cluster, _ := runSinceCluster(t, server)
		set(deployments, "web", "helm", "spec", `"spec":{"replicas":1}`)
		advance(2 * time.Second)
		set(deployments, "web", "kubectl-scale", "spec", `"spec":{"replicas":2}`)
		advance(2 * time.Second)
		for n := range 20 {
			set(deployments, fmt.Sprint("d", n), "helm", "spec", `"spec":{}`)
		}
		advance(2 * time.Second)
		for n := range 600 {
			set(configMaps, fmt.Sprint("c", n), "program", "data", "")
		}
		advance(2 * time.Second)
		for n := range 60 { // Changes by controllers do not count at all.
			set(configMaps, fmt.Sprint("e", n), "kube-controller-manager", "data", "")
			set(configMaps, "c0", "kube-controller-manager", "data", "")
			advance(2 * time.Second)
		}
		got := recentChanges(t, cluster, watch.Viewer{Program: true})
		if len(got) != 21 || got[0] != "spec.replicas Deployment/web by kubectl-scale" ||
			got[1] != "created Deployment/d10 by helm" || got[20] != "created ConfigMap/c599 by program" {
			t.Errorf("got %q, want the newest 10 new objects of each kind, and the changed Deployment", got)
		}
		server.ChangeWhileDown(configMaps, func() {
			server.Set(configMaps, apitest.Item{Namespace: "a", Name: "later", Metadata: longAgo})
		})
		advance(time.Minute)
		if again := recentChanges(t, cluster, watch.Viewer{Program: true}); !slices.Equal(again, got) {
			t.Errorf("after a new list: got %q, want %q", again, got)
		}
	})
}

// Objects that the program may no longer read, or does not keep in memory, do not count as deleted.
func TestRecentChangesIgnoreDroppedObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := startSinceCluster(t)
		server.Set(deployments, apitest.Item{Namespace: "a", Name: "web", Metadata: longAgo, Rest: `"spec":{}`})
		cluster, _ := runSinceCluster(t, server)
		cluster.Informer(deployments).Faults().DeleteRows("a", func() {})
		advance(time.Minute)
		checkChanges(t, "dropped objects", recentChanges(t, cluster, watch.Viewer{Program: true}))
		server.Delete(services, "a", "web")
		advance(time.Minute)
		checkChanges(t, "after a deletion", recentChanges(t, cluster, watch.Viewer{Program: true}), "deleted Service/web")
	})
}

// The last change before a problem can be the deletion of its cause.
func TestLastChangeIsTheDeletionOfTheCause(t *testing.T) {
	const configMaps = "core/v1/configmaps"
	synctest.Test(t, func(t *testing.T) {
		server := startSinceCluster(t)
		setPod := func(ready, state string) {
			server.Set(pods, apitest.Item{
				Namespace: "a", Name: "web", Metadata: longAgo, Cells: `["web","x"]`, Rest: fmt.Sprintf(
					`"spec":{"nodeName":"n","containers":[{"name":"c","envFrom":[{"configMapRef":{"name":"settings"}}]}]},`+
						`"status":{"phase":"Running","conditions":[{"type":"Ready","status":%q,"lastTransitionTime":%q}],`+
						`"containerStatuses":[{"name":"c","ready":%s,"state":%s}]}`,
					ready, time.Now().UTC().Format(time.RFC3339), strings.ToLower(ready), state),
			})
		}
		server.Set(configMaps, apitest.Item{Namespace: "a", Name: "settings", Metadata: longAgo})
		setPod("True", `{"running":{}}`)
		cluster, _ := runSinceCluster(t, server)
		advance(time.Minute)
		server.Delete(configMaps, "a", "settings")
		advance(time.Minute)
		setPod("False", `{"waiting":{"reason":"CreateContainerConfigError"}}`)
		advance(time.Minute)
		doc := overviewFor(t, cluster, watch.Viewer{Program: true}, watch.OverviewQuery{})
		for _, p := range doc.Problems {
			if p.Kind == "Pod" {
				if c := p.LastChange; c == nil || c.Kind != "ConfigMap" || !c.IsDeletion || c.By != "" || c.IsLater {
					t.Errorf("got %+v, want the deletion of the ConfigMap", c)
				}
				return
			}
		}
		t.Errorf("got %q, want a Pod", lines(doc))
	})
}
