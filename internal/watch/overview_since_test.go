package watch_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
)

const services = "core/v1/services"

// longAgo is when the objects of these tests were created. Fake time starts in the year 2000.
const longAgo = `"creationTimestamp":"1999-06-01T00:00:00Z"`

// setServedPod sets the pod of the Service web. Its condition Ready has the value isReady since changedAt.
func setServedPod(server *apitest.Server, isReady bool, changedAt time.Time) {
	status, state := "True", `{"running":{"startedAt":"1999-06-01T00:00:00Z"}}`
	if !isReady {
		status, state = "False", `{"waiting":{"reason":"CrashLoopBackOff"}}`
	}
	server.Set(pods, apitest.Item{
		Namespace: "a", Name: "web", Metadata: longAgo + `,"labels":{"app":"web"}`, Cells: `["web","x"]`,
		Rest: fmt.Sprintf(`"spec":{"nodeName":"n","containers":[{"name":"c"}]},"status":{"phase":"Running","conditions":[`+
			`{"type":"Ready","status":%q,"lastTransitionTime":%q}],"containerStatuses":[{"name":"c","ready":%t,"state":%s}]}`,
			status, changedAt.UTC().Format(time.RFC3339), isReady, state),
	})
}

// startSinceCluster starts a server with the Service web, which was created long ago. The caller must set the Service's
// pod.
func startSinceCluster(t *testing.T) *apitest.Server {
	t.Helper()
	server := apitest.New(t, append(causeKinds(), apitest.Kind{
		Ref: services, Kind: "Service", Columns: `[{"name":"Name","type":"string"}]`,
	})...)
	server.Set("core/v1/namespaces", apitest.Item{Name: "a", Metadata: longAgo})
	server.Set("core/v1/nodes", apitest.Item{
		Name: "n", Rest: `"status":{"conditions":[{"type":"Ready","status":"True"}]}`,
	})
	server.Set(services, apitest.Item{
		Namespace: "a", Name: "web", Metadata: longAgo,
		Rest: `"spec":{"clusterIP":"10.0.0.1","selector":{"app":"web"}},"status":{"loadBalancer":{}}`,
	})
	allow(server, "sue list services *")
	return server
}

func runSinceCluster(t *testing.T, server *apitest.Server) (cluster *watch.Cluster, release func()) {
	t.Helper()
	cluster = runClusterWith(t, server, watch.Options{
		Linger: 5 * time.Minute, InheritVerdicts: true, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	release = cluster.For(watch.Viewer{Program: true}).KeepOverview()
	t.Cleanup(release)
	advance(30 * time.Second)
	return cluster, release
}

// checkSince checks that the problem of an object in the overview began at the time want, to the second.
func checkSince(t *testing.T, cluster *watch.Cluster, viewer watch.Viewer, object string, want time.Time) {
	t.Helper()
	doc := overviewFor(t, cluster, viewer, watch.OverviewQuery{})
	for _, p := range doc.Problems {
		if p.Kind+"/"+p.Name == object {
			if late := p.Since.Sub(want); late < 0 || late >= time.Second {
				t.Errorf("%s: got since %s, want %s", object, p.Since, want)
			}
			return
		}
	}
	t.Errorf("%s is not in the findings %q", object, lines(doc))
}

// The problem of a Service begins when its pod stops being ready, and not when the Service was created. Viewers who may
// not read pods get the same time.
func TestProblemBeginsWhenItIsObserved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := startSinceCluster(t)
		setServedPod(server, true, time.Now().Add(-time.Hour))
		cluster, _ := runSinceCluster(t, server)
		program, sue := watch.Viewer{Program: true}, user("sue")
		if doc := overviewFor(t, cluster, program, watch.OverviewQuery{}); len(doc.Problems) > 0 {
			t.Fatalf("got %q, want no problem", lines(doc))
		}

		advance(time.Hour)
		broken := time.Now()
		setServedPod(server, false, broken)
		advance(time.Minute)
		checkSince(t, cluster, sue, "Service/web", broken)
		checkSince(t, cluster, program, "Pod/web", broken)

		// While the container starts between two crashes, there is no problem. After each crash, the problem again
		// starts at the time when the pod first became unready.
		for range 3 {
			started := time.Now().UTC().Format(time.RFC3339)
			server.Set(pods, apitest.Item{
				Namespace: "a", Name: "web", Metadata: longAgo + `,"labels":{"app":"web"}`, Cells: `["web","x"]`,
				Rest: fmt.Sprintf(`"spec":{"nodeName":"n","containers":[{"name":"c"}]},"status":{"phase":"Running",`+
					`"conditions":[{"type":"Ready","status":"False"}],"containerStatuses":[{"name":"c","state":`+
					`{"running":{"startedAt":%q}}}]}`, started),
			})
			advance(time.Minute)
			doc := overviewFor(t, cluster, sue, watch.OverviewQuery{})
			if len(doc.Problems) > 0 || doc.Counts["progressing"] != 1 || len(doc.Progressing) != 1 ||
				doc.Progressing[0].Count != 1 || doc.Progressing[0].Resource != doc.Watched[0].Resource {
				t.Fatalf("while the container starts: got %q, %v", lines(doc), doc.Counts)
			}
			setServedPod(server, false, broken)
			advance(5 * time.Minute)
			checkSince(t, cluster, sue, "Service/web", broken)
		}

		// The pod is ready only briefly. So the start of the problem stays the same, although Ready has a newer time.
		setServedPod(server, true, time.Now())
		advance(time.Minute)
		setServedPod(server, false, time.Now())
		advance(time.Minute)
		checkSince(t, cluster, program, "Pod/web", broken)
		checkSince(t, cluster, sue, "Service/web", broken)

		// The condition Ready has a time of change that is 30 s before the pod was last seen ready. The problem begins
		// at the later of the two times.
		setServedPod(server, true, time.Now())
		advance(10 * time.Minute)
		again := time.Now()
		setServedPod(server, false, again.Add(-30*time.Second))
		advance(time.Minute)
		checkSince(t, cluster, program, "Pod/web", again)

		setServedPod(server, true, time.Now())
		advance(10 * time.Minute)
		again = time.Now()
		server.Delete(pods, "a", "web")
		advance(time.Minute)
		checkSince(t, cluster, program, "Service/web", again)
	})
}

// If a problem is older than the program, its start is the start of its cause, but only for viewers who may read the
// cause. A restart of the engine does not change this time.
func TestProblemBeginsWithItsCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := startSinceCluster(t)
		allow(server, "sue list services *", "dan list deployments *")
		broken := time.Now().Add(-3 * time.Hour)
		setServedPod(server, false, broken)
		setWorkload(server, "missing", "pod", `{"nodeName":"n","containers":[{"name":"c","envFrom":[`+
			`{"configMapRef":{"name":"map"}}]}]}`, fmt.Sprintf(`{"phase":"Pending","conditions":[{"type":"Ready",`+
			`"status":"False","lastTransitionTime":%q}],"containerStatuses":[{"name":"c","state":{"waiting":`+
			`{"reason":"CreateContainerConfigError"}}}]}`, broken.UTC().Format(time.RFC3339)))
		cluster, release := runSinceCluster(t, server)
		for _, change := range []func(){
			func() {},
			func() { server.Expire(pods) }, // Make the program list the pods again.
			release,                        // The engine stops, and starts again.
		} {
			change()
			advance(time.Hour)
			checkSince(t, cluster, watch.Viewer{Program: true}, "Pod/web", broken)
			checkSince(t, cluster, watch.Viewer{Program: true}, "Deployment/missing", broken)
			checkSince(t, cluster, user("sue"), "Service/web", time.Date(1999, 6, 1, 0, 0, 0, 0, time.UTC))
			checkSince(t, cluster, user("dan"), "Deployment/missing", time.Time{})
		}
	})
}

// If the program can list pods only after Services, the problem that it then finds in a Service is not shown as new.
func TestProblemIsNotNewAfterLateList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := startSinceCluster(t)
		setServedPod(server, false, time.Now().Add(-3*time.Hour))
		server.Refuse(pods, "", http.StatusForbidden, "not yet")
		cluster, release := runSinceCluster(t, server)
		advance(time.Minute)
		if doc := overviewFor(t, cluster, user("sue"), watch.OverviewQuery{}); len(doc.Problems) > 0 {
			t.Fatalf("without pods: got %q", lines(doc))
		}
		server.Refuse(pods, "", 0, "")
		advance(10 * time.Minute)
		created := time.Date(1999, 6, 1, 0, 0, 0, 0, time.UTC)
		checkSince(t, cluster, user("sue"), "Service/web", created)

		// Stop the engine, and start it again while it cannot read the pods.
		release()
		advance(time.Hour)
		server.Refuse(pods, "", http.StatusForbidden, "not now")
		cluster.For(watch.Viewer{Program: true}).KeepOverview()
		advance(time.Minute)
		server.Refuse(pods, "", 0, "")
		advance(10 * time.Minute)
		checkSince(t, cluster, user("sue"), "Service/web", created)
	})
}

// If a problem began during an interruption of the watch, the overview shows when it began, not when it was read.
func TestProblemIsNotNewAfterInterruption(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := startSinceCluster(t)
		setServedPod(server, true, time.Now().Add(-3*time.Hour))
		cluster, _ := runSinceCluster(t, server)
		for _, isRelisted := range []bool{false, true} {
			advance(time.Hour)
			server.Down(true)
			advance(10 * time.Minute)
			broken := time.Now()
			setServedPod(server, false, broken)
			if isRelisted {
				server.Expire(pods)
			}
			advance(10 * time.Minute)
			server.Down(false)
			advance(5 * time.Minute)
			checkSince(t, cluster, watch.Viewer{Program: true}, "Pod/web", broken)
			setServedPod(server, true, time.Now())
		}
	})
}

// A problem does not begin before its object was created.
func TestProblemBeginsAfterCreation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := startSinceCluster(t)
		broken := time.Now().Add(-3 * time.Hour)
		setServedPod(server, false, broken)
		created := time.Now().Add(-time.Hour)
		server.Set(services, apitest.Item{
			Namespace: "a", Name: "late", Metadata: fmt.Sprintf(`"creationTimestamp":%q`, created.UTC().Format(time.RFC3339)),
			Rest: `"spec":{"clusterIP":"10.0.0.2","selector":{"app":"web"}},"status":{"loadBalancer":{}}`,
		})
		cluster, _ := runSinceCluster(t, server)
		checkSince(t, cluster, user("sue"), "Service/late", created)
	})
}
