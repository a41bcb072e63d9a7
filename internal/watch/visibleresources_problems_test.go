package watch_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"

	authorization "k8s.io/api/authorization/v1"
)

// Each change of an object updates the numbers of failed and degraded objects.
func TestCountsIncludeProblems(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		set := func(name string, severity verdict.Severity) {
			server.Set(pods, withSeverity(pod("a", name, severity.String()), severity))
		}
		want := func(count int, problems map[string]verdict.Counts) {
			t.Helper()
			synctest.Wait()
			counts, got := cluster.For(watch.Viewer{Program: true}).Resources().Counts(t.Context())
			if counts[pods] != count || !maps.Equal(got, problems) {
				t.Errorf("got %d pods with the problems %v, want %d and %v", counts[pods], got, count, problems)
			}
		}
		for n, severity := range []verdict.Severity{verdict.Failed, verdict.Failed, verdict.Degraded, verdict.OK} {
			set(fmt.Sprint("p", n), severity)
		}
		want(0, nil)
		reader := subscribe(t, cluster, query.Query{Resource: pods}, "")
		reader.settle()
		want(4, map[string]verdict.Counts{pods: {Failed: 2, Degraded: 1}})
		set("p0", verdict.Progressing)
		set("p3", verdict.Degraded)
		want(4, map[string]verdict.Counts{pods: {Failed: 1, Degraded: 2}})
		server.Delete(pods, "a", "p1")
		set("p4", verdict.Failed)
		set("p4", verdict.OK)
		want(4, map[string]verdict.Counts{pods: {Degraded: 2}})
		known := cluster.For(watch.Viewer{Program: true}).Resources()
		for ns, want := range map[string]verdict.Counts{"a": {Degraded: 2}, "b": {}} {
			if _, got := known.In([]string{ns}).Counts(t.Context()); got[pods] != want {
				t.Errorf("namespace %s: got the problems %v, want %v", ns, got[pods], want)
			}
		}
		server.ChangeWhileDown(pods, func() {
			server.Delete(pods, "a", "p2")
			server.Delete(pods, "a", "p3")
			set("p0", verdict.OK)
		})
		advance(time.Minute)
		want(2, map[string]verdict.Counts{})
	})
}

// Warning events are not problems of their own: the objects that they are about are. The home page omits them, too.
func TestWarningEventsAreNoProblems(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		const custom = "example.com/v1/events"
		refs := []string{"core/v1/events", "events.k8s.io/v1/events", custom}
		for _, ref := range refs {
			server.AddKind(apitest.Kind{Ref: ref, Kind: "Event"})
			server.Set(ref, apitest.Item{
				Namespace: "a", Name: "e", Rest: `"type":"Warning","reason":"BackOff","message":"m","note":"m",` +
					`"status":{"conditions":[{"type":"Stalled","status":"True","reason":"R"}]}`,
			})
		}
		advance(time.Minute)
		for _, ref := range refs {
			subscribe(t, cluster, query.Query{Resource: ref}, "").settle()
		}
		advance(time.Minute)
		counts, got := cluster.For(watch.Viewer{Program: true}).Resources().Counts(t.Context())
		for _, ref := range refs {
			if problems := got[ref].Failed + got[ref].Degraded; counts[ref] != 1 || problems > 0 != (ref == custom) {
				t.Errorf("%s: got %d objects with the problems %v", ref, counts[ref], got[ref])
			}
		}
	})
}

// A resource that the user may list in no namespace is shown as forbidden, even before it is watched. If an access
// review fails, no resource is shown as forbidden.
//
// Invariant: I18.
func TestForbiddenResourcesAreReviewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.AddKind(apitest.Kind{Ref: "core/v1/secrets", Kind: "Secret"})
		var mayListSecrets atomic.Bool
		server.Allow(func(spec authorization.SubjectAccessReviewSpec) bool {
			a := spec.ResourceAttributes
			return spec.User == "admin" || spec.User == "ann" && a.Namespace == "b" &&
				(a.Resource == "pods" || mayListSecrets.Load() && a.Resource == "secrets")
		})
		advance(time.Minute)
		forbidden := func(userName string, wait time.Duration) string {
			t.Helper()
			known, _, err := cluster.For(user(userName)).Resources().List(t.Context(), wait)
			if err != nil {
				t.Fatal(err)
			}
			var refs []string
			for _, r := range known {
				if r.Status == nil || r.Status.State != status.Forbidden {
					continue
				}
				refs = append(refs, r.Ref())
				if !strings.HasPrefix(r.Status.Reason, "You cannot list "+r.Plural()) {
					t.Errorf("%s: got the status %+v of %s", userName, r.Status, r.Ref())
				}
			}
			slices.Sort(refs)
			return strings.Join(refs, " ")
		}
		synctest.Wait()
		if got := forbidden("ann", 0); got != "" {
			t.Errorf("without a review: got %q forbidden", got)
		}
		ann := forbidden("ann", time.Second)
		if !strings.Contains(ann, "core/v1/namespaces") || !strings.Contains(ann, "core/v1/secrets") ||
			strings.Contains(ann, pods) {
			t.Errorf("ann: got %q forbidden, want namespaces and secrets, but not pods", ann)
		}
		if got := forbidden("ann", 0); got != ann {
			t.Errorf("got %q from the cache, want %q", got, ann)
		}
		if got := forbidden("admin", time.Second); got != "" {
			t.Errorf("admin: got %q forbidden", got)
		}
		mayListSecrets.Store(true)
		if got := forbidden("ann", time.Second); got != ann {
			t.Errorf("got %q from the cache, want %q", got, ann)
		}
		advance(2 * time.Minute)
		if got := forbidden("ann", 0); got != ann {
			t.Errorf("without a review after 2 minutes: got %q, want the last known %q", got, ann)
		}
		if got := forbidden("ann", time.Second); strings.Contains(got, "core/v1/secrets") {
			t.Errorf("after 2 minutes: got %q forbidden, want no secrets", got)
		}
		server.FailPath(apitest.UserReviewsPath, 500, "broken")
		if got := forbidden("eve", time.Second); got != "" {
			t.Errorf("after failed reviews: got %q forbidden", got)
		}
	})
}
