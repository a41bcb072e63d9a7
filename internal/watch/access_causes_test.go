package watch_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/overview"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"
)

const (
	deployments = "apps/v1/deployments"
	replicaSets = "apps/v1/replicasets"
)

func causeKinds() []apitest.Kind {
	all := kinds()
	for ref, kind := range map[string]string{
		deployments: "Deployment", replicaSets: "ReplicaSet", "core/v1/configmaps": "ConfigMap",
		"core/v1/events": "Event", "core/v1/persistentvolumeclaims": "PersistentVolumeClaim",
	} {
		all = append(all, apitest.Kind{Ref: ref, Kind: kind, Columns: `[{"name":"Name","type":"string"}]`})
	}
	return append(all, apitest.Kind{
		Ref: "core/v1/nodes", Kind: "Node", Cluster: true, Columns: `[{"name":"Name","type":"string"}]`,
	})
}

func owned(name, kind, owner string) apitest.Item {
	const namespace = "a"
	return apitest.Item{
		Namespace: namespace, Name: name,
		Metadata: fmt.Sprintf(`"ownerReferences":[{"apiVersion":"apps/v1","kind":%q,"name":%q,"uid":%q,"controller":true}]`,
			kind, owner, namespace+"/"+owner),
	}
}

// setWorkload creates a Deployment whose own status is healthy, with a ReplicaSet and a pod.
func setWorkload(server *apitest.Server, name, podName, spec, status string) {
	const namespace = "a"
	const healthy = `"spec":{"replicas":1},"status":{"observedGeneration":1,"replicas":1,"updatedReplicas":1,` +
		`"availableReplicas":1,"readyReplicas":1,"conditions":[{"type":"Available","status":"True"}]}`
	server.Set(deployments, apitest.Item{Namespace: namespace, Name: name, Rest: healthy})
	set := owned(name+"-rs", "Deployment", name)
	set.Rest = `"spec":{"replicas":1},"status":{"replicas":1}`
	server.Set(replicaSets, set)
	setPod(server, name, podName, spec, status)
}

func setPod(server *apitest.Server, workload, name, spec, status string) {
	p := owned(name, "ReplicaSet", workload+"-rs")
	p.Cells, p.Rest = fmt.Sprintf(`[%q,"x"]`, name), fmt.Sprintf(`"spec":%s,"status":%s`, spec, status)
	server.Set(pods, p)
}

const (
	crashingSpec   = `{"nodeName":"n","containers":[{"name":"CANARY-container"}]}`
	crashingStatus = `{"phase":"Running","conditions":[{"type":"Ready","status":"False"}],"containerStatuses":[` +
		`{"name":"CANARY-container","restartCount":7,"state":{"waiting":{"reason":"CrashLoopBackOff",` +
		`"message":"CANARY-message"}},"lastState":{"terminated":{"exitCode":1,"message":"CANARY-message"}}}]}`
	readyStatus = `{"phase":"Running","conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[` +
		`{"name":"CANARY-container","ready":true,"state":{"running":{}}}]}`
)

func newCauseCluster(t *testing.T, inherits bool) (*apitest.Server, *watch.Cluster) {
	t.Helper()
	server := apitest.New(t, causeKinds()...)
	server.Set("core/v1/namespaces", apitest.Item{Name: "a"}, apitest.Item{Name: "b"})
	server.Set("core/v1/nodes", apitest.Item{
		Name: "CANARY-node",
		Rest: `"status":{"conditions":[{"type":"Ready","status":"Unknown","reason":"NodeStatusUnknown"}]}`,
	}, apitest.Item{Name: "n", Rest: `"status":{"conditions":[{"type":"Ready","status":"True"}]}`})
	setWorkload(server, "crashing", "CANARY-pod", crashingSpec, crashingStatus)
	setWorkload(server, "missing", "CANARY-pod-2",
		`{"nodeName":"n","containers":[{"name":"c","envFrom":[{"configMapRef":{"name":"CANARY-map"}}]}]}`,
		`{"phase":"Pending","containerStatuses":[{"name":"c","state":{"waiting":{"reason":"CreateContainerConfigError",`+
			`"message":"CANARY-message"}}}]}`)
	setWorkload(server, "stranded", "CANARY-pod-3", `{"nodeName":"CANARY-node","containers":[{"name":"c"}]}`,
		`{"phase":"Running","conditions":[{"type":"Ready","status":"False"}],"containerStatuses":[{"name":"c"}]}`)
	setWorkload(server, "mounting", "CANARY-pod-4", `{"nodeName":"n","containers":[{"name":"c"}]}`,
		`{"phase":"Pending","containerStatuses":[{"name":"c","state":{"waiting":{"reason":"ContainerCreating"}}}]}`)
	server.Set("core/v1/events", apitest.Item{
		Namespace: "a", Name: "CANARY-event",
		Rest: `"type":"Warning","reason":"FailedMount","message":"CANARY-event","lastTimestamp":"2000-01-01T00:00:00Z",` +
			`"involvedObject":{"kind":"Pod","apiVersion":"v1","namespace":"a","name":"CANARY-pod-4"}`,
	})
	options := watch.Options{
		Linger: 5 * time.Minute, Log: slog.New(slog.NewTextHandler(t.Output(), nil)), InheritVerdicts: inherits,
	}
	return server, runClusterWith(t, server, options)
}

// severities returns the severity of each Deployment by name. objects are table rows or findings of the overview, as
// JSON objects.
func severities(t *testing.T, objects []map[string]any) map[string]string {
	t.Helper()
	found := make(map[string]string)
	for _, o := range objects {
		v, ok := o["verdict"].(map[string]any)
		if !ok {
			v = o
		}
		found[fmt.Sprint(o["name"])] = fmt.Sprint(v["severity"])
	}
	return found
}

func encode(t *testing.T, doc any) string {
	t.Helper()
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// collectCauses returns all texts that a viewer gets about the Deployments in some namespaces. The keys of texts are
// the sources of the texts, such as "rows" and "overview". rows contains the severity in the row of each Deployment, by
// name.
func collectCauses(t *testing.T, access *watch.Access, namespaces []string) (texts, rows map[string]string) {
	t.Helper()
	texts = make(map[string]string)
	for _, view := range []stream.View{stream.Rows, stream.Table, stream.Windowed, stream.Changes} {
		q := query.Query{Resource: deployments, Namespaces: namespaces}
		if view == stream.Windowed {
			window, err := query.NewWindow("", 0, 100)
			if err != nil {
				t.Fatal(err)
			}
			q.Window = window
		}
		sub, err := access.Subscribe(t.Context(), q, view, "")
		if err != nil {
			t.Fatal(err)
		}
		// The first message can be sent before the program has read the pods and nodes that explain the verdicts.
		// Therefore, also read the messages that contain the explained verdicts.
		for range 4 {
			all, last := readUntil(t, sub, "heartbeat", "events", "window-events")
			texts[string(view)] += all
			if last.Type == "heartbeat" {
				break
			}
		}
		sub.Close()
	}
	for _, name := range []string{"crashing", "missing", "stranded", "mounting"} {
		q := query.Query{Resource: deployments, Namespaces: []string{"a"}, Name: name}
		sub, err := access.Subscribe(t.Context(), q, stream.Object, "")
		if err != nil {
			t.Fatal(err)
		}
		all, _ := readUntil(t, sub, "heartbeat")
		texts["object"] += all
		sub.Close()
		doc, err := watch.IndexOf(access).Explanation(t.Context(), deployments, "a", name)
		if err != nil {
			t.Fatal(err)
		}
		texts["explanation"] += encode(t, doc) + "\n"
	}
	sub, err := access.Subscribe(t.Context(), query.Query{Resource: deployments, Namespaces: namespaces}, stream.Rows, "")
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	all, _ := readUntil(t, sub, "heartbeat")
	texts["rows again"] = all
	var snapshot struct{ Rows []map[string]any }
	for line := range strings.SplitSeq(all, "\n") {
		if strings.Contains(line, `"type":"snapshot"`) {
			if err := json.Unmarshal([]byte("{"+line+"}"), &snapshot); err != nil {
				t.Fatal(err)
			}
		}
	}
	listing, err := access.Snapshot(t.Context(), query.Query{Resource: deployments, Namespaces: namespaces}, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range listing.Objects {
		texts["snapshot"] += string(o.AppendRow(nil, true)) + "\n"
	}
	doc, err := access.Overview(t.Context(), watch.OverviewQuery{Namespaces: namespaces, Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	texts["overview"] = encode(t, doc)
	return texts, severities(t, snapshot.Rows)
}

// Some viewers may read Deployments, but not the objects that explain the verdicts on these Deployments. Such viewers
// get only the severity.
//
// Invariant: I18.
func TestCausesAreHidden(t *testing.T) {
	everything := []string{"list", "watch", "get"}
	may := func(resource, namespace string) (lines []string) {
		for _, verb := range everything {
			lines = append(lines, strings.Join([]string{"ann", verb, resource, namespace}, " "))
		}
		return lines
	}
	ofDeployments := watch.Part{Resource: deployments, Namespaces: []string{"a"}}
	podsOf := func(namespace string) watch.Part {
		return watch.Part{Resource: pods, Namespaces: []string{namespace}}
	}
	for name, test := range map[string]struct {
		viewer  watch.Viewer
		grants  []string
		visible string // The names of the Deployments whose verdicts the viewer gets with their causes.
	}{
		"guest":                     {sharedWith(ofDeployments), nil, ""},
		"guest of all Deployments":  {sharedWith(watch.Part{Resource: deployments}), nil, ""},
		"guest, pods by label":      {sharedWith(ofDeployments, watch.Part{Resource: pods, Labels: "x=y"}), nil, ""},
		"guest, pods of b":          {sharedWith(ofDeployments, podsOf("b")), nil, ""},
		"guest, missing objects":    {sharedWith(ofDeployments, watch.Part{Resource: "core/v1/configmaps"}), nil, ""},
		"guest, nodes":              {sharedWith(ofDeployments, watch.Part{Resource: "core/v1/nodes"}), nil, ""},
		"guest, pods":               {sharedWith(ofDeployments, podsOf("a")), nil, "crashing"},
		"user":                      {user("ann"), may("deployments", "*"), ""},
		"user, namespace":           {user("ann"), may("deployments", "a"), ""},
		"user, pods of b":           {user("ann"), append(may("deployments", "*"), may("pods", "b")...), ""},
		"user, pods":                {user("ann"), append(may("deployments", "*"), may("pods", "*")...), "crashing"},
		"user, namespace with pods": {user("ann"), append(may("deployments", "a"), may("pods", "a")...), "crashing"},
		"guest of a user without pods": {
			watch.Viewer{User: user("ann").User, Scope: &watch.Scope{Parts: []watch.Part{ofDeployments, {Resource: pods}}}},
			may("deployments", "*"), "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster := newCauseCluster(t, true)
				allow(server, test.grants...)
				all, want := collectCauses(t, cluster.For(watch.Viewer{Program: true}), []string{"a"})
				for _, canary := range []string{"CANARY-pod", "CANARY-container", "CANARY-map", "CANARY-node", "CANARY-message"} {
					for _, place := range []string{"rows again", "snapshot", "overview", "object", "explanation"} {
						if !strings.Contains(all[place], canary) {
							t.Errorf("the program does not get %s in %s: %s", canary, place, all[place])
						}
					}
				}
				texts, got := collectCauses(t, cluster.For(test.viewer), []string{"a"})
				for _, deployment := range []string{"crashing", "missing", "stranded", "mounting"} {
					if got[deployment] != want[deployment] || want[deployment] == "ok" {
						t.Errorf("%s: got severity %s, want %s", deployment, got[deployment], want[deployment])
					}
				}
				allowed := []string{"CANARY-none"}
				if test.visible != "" {
					allowed = []string{"CANARY-pod", "CANARY-container", "CANARY-message"}
				}
				for place, text := range texts {
					if (test.visible != "" || name == "guest, nodes") && place == "overview" {
						continue // This overview also lists the pods or nodes as problems, so it may contain their texts.
					}
					for _, canary := range []string{
						"CANARY-pod", "CANARY-container", "CANARY-map", "CANARY-node", "CANARY-message", "CANARY-event",
					} {
						isAllowed := strings.Contains(strings.Join(allowed, " "), canary)
						if strings.Contains(text, canary) && !isAllowed {
							t.Errorf("got %s in %s: %.3000s", canary, place, text)
						}
						if place == "rows again" && isAllowed && !strings.Contains(text, canary) {
							t.Errorf("%s is not in %s: %.3000s", canary, place, text)
						}
					}
				}
				var doc overview.Overview
				if err := json.Unmarshal([]byte(texts["overview"]), &doc); err != nil {
					t.Fatal(err)
				}
				isWrong := doc.Counts["failed"]+doc.Counts["degraded"] != 4 || len(doc.Changes)+len(doc.Warnings) > 0
				isGuest := strings.Contains(name, "guest")
				if test.visible == "" && name != "guest, nodes" && isWrong ||
					isGuest && strings.Contains(strings.Join(doc.Unexamined, " "), "ReplicaSet") {
					t.Errorf("overview: %s", texts["overview"])
				}
			})
		})
	}
}

// When a user loses the permission for pods, pods disappear from the causes of verdicts within 15 s, also in an open
// subscription.
//
// Invariant: I18.
func TestRevokedPermissionHidesCauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := newCauseCluster(t, true)
		g := allow(server, "ann list deployments *", "ann watch deployments *", "ann list pods *")
		for _, view := range []stream.View{stream.Rows, stream.Table, stream.Windowed} {
			g["ann list pods *"] = true
			advance(time.Minute)
			q := query.Query{Resource: deployments}
			if view == stream.Windowed {
				window, err := query.NewWindow("", 0, 100)
				if err != nil {
					t.Fatal(err)
				}
				q.Window = window
			}
			sub, err := cluster.For(user("ann")).Subscribe(t.Context(), q, view, "")
			if err != nil {
				t.Fatal(err)
			}
			before, _ := readUntil(t, sub, "heartbeat")
			g["ann list pods *"] = false
			start := time.Now()
			after, _ := readUntil(t, sub, "snapshot", "window")
			duration := time.Since(start)
			setPod(server, "crashing", "CANARY-pod", crashingSpec,
				strings.ReplaceAll(crashingStatus, "CANARY-message", "CANARY-message-2"))
			later, _ := readUntil(t, sub, "heartbeat")
			if !strings.Contains(before, "CANARY-pod") || strings.Contains(after+later, "CANARY") ||
				!strings.Contains(after, "degraded") || duration > 15*time.Second {
				t.Errorf("%s: got %s before, %s %s after %s", view, before, after, later, duration)
			}
			sub.Close()
		}
	})
}

// If only the hidden cause of a verdict changes, the viewer gets no update of the row.
//
// Invariant: I18.
func TestHiddenCausesDoNotUpdateRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := newCauseCluster(t, true)
		allow(server, "ann list deployments *", "ann watch deployments *")
		for name, viewer := range map[string]watch.Viewer{
			"user": user("ann"), "guest": sharedWith(watch.Part{Resource: deployments}), "program": {Program: true},
		} {
			for _, view := range []stream.View{stream.Rows, stream.Table, stream.Windowed} {
				q := query.Query{Resource: deployments}
				if view == stream.Windowed {
					window, err := query.NewWindow("", 0, 100)
					if err != nil {
						t.Fatal(err)
					}
					q.Window = window
				}
				sub, err := cluster.For(viewer).Subscribe(t.Context(), q, view, "")
				if err != nil {
					t.Fatal(err)
				}
				readUntil(t, sub, "heartbeat")
				var all string
				for n := range 3 {
					setPod(server, "crashing", "CANARY-pod", crashingSpec, strings.ReplaceAll(
						crashingStatus, "CANARY-message", fmt.Sprintf("%s-%s-%d", name, view, n)))
					advance(2 * time.Second)
				}
				all, _ = readUntil(t, sub, "heartbeat")
				hasUpdate := strings.Contains(all, `"op"`) || strings.Contains(all, `"changes"`)
				if hasUpdate != (name == "program") {
					t.Errorf("%s, %s: got %s", name, view, all)
				}
				sub.Close()
			}
		}
	})
}
