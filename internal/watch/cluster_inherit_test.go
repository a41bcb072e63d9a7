package watch_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// verdictOf returns the verdict in the row of a Deployment.
func verdictOf(t *testing.T, cluster *watch.Cluster, name string) verdict.Verdict {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, err := cluster.For(watch.Viewer{Program: true}).Snapshot(
		ctx, query.Query{Resource: deployments, Namespaces: []string{"a"}, Name: name}, 10*time.Second)
	if err != nil || len(s.Objects) != 1 {
		t.Fatalf("%s: got error %v, %+v", name, err, s)
	}
	return s.Objects[0].Verdict().Unpack()
}

// A Deployment is degraded while its pod crashes, although the API server sends no update of the Deployment.
func TestInheritedVerdictsFollowTheirCauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := newCauseCluster(t, true)
		r := subscribe(t, cluster, query.Query{Resource: deployments}, "")
		r.settle()
		rv := r.rows["a/crashing"].RV
		want := func(name string, severity verdict.Severity, cause string) {
			t.Helper()
			advance(time.Second)
			v := verdictOf(t, cluster, name)
			root := ""
			if v.Cause != nil {
				root = v.Cause.Kind + "/" + v.Cause.Name
			}
			if v.Severity != severity || root != cause {
				t.Errorf("%s: got %+v, want %s by %s", name, v, severity, cause)
			}
		}
		want("crashing", verdict.Degraded, "Pod/CANARY-pod")
		setPod(server, "crashing", "CANARY-pod", crashingSpec, readyStatus)
		want("crashing", verdict.OK, "")
		setPod(server, "crashing", "CANARY-pod", crashingSpec, crashingStatus)
		want("crashing", verdict.Degraded, "Pod/CANARY-pod")
		server.Delete(pods, "a", "CANARY-pod")
		want("crashing", verdict.OK, "")

		want("missing", verdict.Degraded, "ConfigMap/CANARY-map")
		server.Set("core/v1/configmaps", apitest.Item{Namespace: "a", Name: "CANARY-map"})
		advance(time.Second)
		if v := verdictOf(t, cluster, "missing"); v.Cause == nil || v.Cause.Kind != "Pod" || v.Cause.Missing {
			t.Errorf("after the ConfigMap exists: got %+v, want the pod as the cause", v)
		}
		server.Delete("core/v1/configmaps", "a", "CANARY-map")
		want("missing", verdict.Degraded, "ConfigMap/CANARY-map")
		r.settle()
		if got := r.rows["a/crashing"].RV; got != rv {
			t.Errorf("the Deployment has the resource version %s, want %s", got, rv)
		}
	})
}

// Without --inherit-verdicts, an object has only its own verdict, and no related resource is watched.
func TestVerdictsAreNotInheritedIfOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := newCauseCluster(t, false)
		r := subscribe(t, cluster, query.Query{Resource: deployments}, "")
		r.settle()
		advance(time.Minute)
		if v := verdictOf(t, cluster, "crashing"); v.Severity != verdict.OK || v.Cause != nil {
			t.Errorf("got %+v, want ok", v)
		}
		if got := server.Requests("/nodes"); len(got) > 0 {
			t.Errorf("got requests %s, want none", got)
		}
	})
}

// When there have been no readers for the linger time, the engine of inherited verdicts stops, and removes the verdicts
// from objects. It can start again.
func TestEngineStopsAfterLinger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := newCauseCluster(t, true)
		access := cluster.For(watch.Viewer{Program: true})
		// This reader keeps the informer of ConfigMaps running. It does not keep the engine running, because ConfigMaps
		// inherit no verdicts.
		stay := subscribe(t, cluster, query.Query{Resource: "core/v1/configmaps"}, "")
		for range 3 {
			doc, err := access.Overview(t.Context(), watch.OverviewQuery{Wait: time.Minute})
			if err != nil || len(doc.Problems) == 0 {
				t.Fatalf("got %+v, error %v", doc, err)
			}
			advance(4 * time.Minute) // This is less than the linger time.
			if got := verdictOf(t, cluster, "crashing"); got.Cause == nil {
				t.Errorf("before the linger time: got %+v", got)
			}
			advance(6 * time.Minute)
			before := len(server.Requests("/nodes"))
			stay.settle()
			advance(time.Minute)
			if after := len(server.Requests("/nodes")); after != before {
				t.Errorf("the engine still requests nodes: %s", strings.Join(server.Requests("/nodes"), "\n"))
			}
		}
		// With a new reader, the engine starts again, and Deployments inherit verdicts.
		release := access.KeepOverview()
		advance(time.Second)
		i := cluster.Informer(deployments)
		if o, _, _ := i.Get("a/crashing"); !o.Verdict().IsInherited() {
			t.Error("the engine has not started again")
		}
		release()
	})
}
