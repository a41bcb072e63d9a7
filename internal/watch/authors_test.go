package watch_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"

	authorization "k8s.io/api/authorization/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

// The authors of an object are read from its managedFields. Only users who may get the object can read its authors.
//
// Invariant: I18.
func TestAuthorsRequirePermissionToGet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		const managed = `"managedFields":[{"manager":"helm","operation":"Update","time":"2026-11-21T10:00:00Z",` +
			`"fieldsV1":{"f:metadata":{},"f:spec":{}}},{"manager":"kubelet","operation":"Update",` +
			`"subresource":"status","time":"2026-11-21T10:00:05Z","fieldsV1":{"f:status":{}}}]`
		server.Set(pods, apitest.Item{Namespace: "a", Name: "p", Metadata: managed})
		user := watch.Viewer{User: &authz.User{Name: "ann"}}
		read := func(viewer watch.Viewer) (string, error) {
			owners, err := watch.AuthorsOf(t.Context(), cluster.For(viewer), pods, "a", "p")
			text, jsonErr := json.Marshal(owners)
			if jsonErr != nil {
				t.Fatal(jsonErr)
			}
			return string(text), err
		}
		const want = `[{"manager":"kubelet","operation":"Update","subresource":"status",` +
			`"time":"2026-11-21T10:00:05Z","parts":["status"]},{"manager":"helm","operation":"Update",` +
			`"time":"2026-11-21T10:00:00Z","parts":["metadata","spec"]}]`
		if got, err := read(watch.Viewer{Program: true}); err != nil || got != want {
			t.Errorf("got %s, error %v, want %s", got, err, want)
		}
		server.Allow(func(review authorization.SubjectAccessReviewSpec) bool {
			return review.ResourceAttributes.Verb == "get"
		})
		if got, err := read(user); err != nil || got != want {
			t.Errorf("with permission: got %s, error %v, want %s", got, err, want)
		}
		_, err := watch.AuthorsOf(t.Context(), cluster.For(watch.Viewer{Program: true}), pods, "a", "none")
		wantProblem(t, err, status.Unknown, "Not found", "a/none")
		_, err = read(sharedWith(watch.Part{Resource: pods}))
		wantProblem(t, err, status.Refused, "Forbidden", "link does not include")
	})
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		server.Allow(func(authorization.SubjectAccessReviewSpec) bool { return false })
		access := cluster.For(watch.Viewer{User: &authz.User{Name: "ann"}})
		_, err := watch.AuthorsOf(t.Context(), access, pods, "a", "p")
		wantProblem(t, err, status.Refused, "Forbidden", "")
		if got := server.Requests("/pods/p"); len(got) > 0 {
			t.Errorf("got the requests %s for a user without the permission, want none", got)
		}
	})
}
