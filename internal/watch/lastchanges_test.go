package watch_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

const managedAt = "2026-11-21T10:00:00Z"

// managedEntry returns an entry of managedFields. The manager owns a field of the specification, or of the part of the
// object that follows the name of the manager after a space.
func managedEntry(by string, at time.Time) string {
	manager, part, _ := strings.Cut(by, " ")
	subresource := ""
	if part == "status" {
		subresource = part
	}
	return fmt.Sprintf(
		`{"manager":%q,"operation":"Update","subresource":%q,"time":%q,"fieldsV1":{"f:%s":{"f:x":{}}}}`,
		manager, subresource, at.UTC().Format(time.RFC3339), cmp.Or(part, "spec"))
}

// edited returns an object whose managedFields have an entry of each manager, a second apart, the first at managedAt.
func edited(namespace, name string, managers ...string) apitest.Item {
	at, _ := time.Parse(time.RFC3339, managedAt)
	entries := make([]string, len(managers))
	for n, by := range managers {
		entries[n] = managedEntry(by, at.Add(time.Duration(n)*time.Second))
	}
	return apitest.Item{
		Namespace: namespace, Name: name, Metadata: `"creationTimestamp":"` + managedAt + `","managedFields":[` +
			strings.Join(entries, ",") + `]`,
	}
}

// lastChanges returns the result of LastChangesOf as JSON.
func lastChanges(t *testing.T, cluster *watch.Cluster, viewer watch.Viewer, namespaces ...string) (string, error) {
	t.Helper()
	q := query.Query{Resource: pods, Namespaces: namespaces}
	list, err := watch.LastChangesOf(t.Context(), cluster.For(viewer), q)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(list)
	return string(text), err
}

func wantLastChanges(t *testing.T, cluster *watch.Cluster, viewer watch.Viewer, want string, namespaces ...string) {
	t.Helper()
	if got, err := lastChanges(t, cluster, viewer, namespaces...); err != nil || got != want {
		t.Errorf("got  %s, error %v\nwant %s", got, err, want)
	}
}

// Only the newest change of the specification counts, and only by a person or a deployment tool. The result is cached.
func TestLastChangesAreOfTheSpecification(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods,
			edited("a", "created", "helm", "kubelet status"),
			edited("a", "edited", "helm", "kubectl-edit", "kube-controller-manager", "kubectl-label metadata"),
			edited("a", "unknown", "kubelet status"),
			edited("b", "other", "argocd"))
		const want = `{"items":[{"ns":"a","name":"created","at":"2026-11-21T10:00:00Z","by":"helm","created":true},` +
			`{"ns":"a","name":"edited","at":"2026-11-21T10:00:01Z","by":"kubectl-edit","created":true}%s],"truncated":false}`
		const other = `,{"ns":"b","name":"other","at":"2026-11-21T10:00:00Z","by":"argocd","created":true}`
		all := fmt.Sprintf(want, other)
		wantLastChanges(t, cluster, watch.Viewer{Program: true}, all)
		wantLastChanges(t, cluster, watch.Viewer{Program: true}, fmt.Sprintf(want, ""), "a")

		server.Set(pods, edited("b", "other", "argocd", "x", "y", "kubectl-edit"))
		advance(50 * time.Second)
		wantLastChanges(t, cluster, watch.Viewer{Program: true}, all)
		if got := server.Requests("/api/v1/pods?"); len(got) != 1 {
			t.Errorf("got the requests %q, want one, because the result is cached", got)
		}
		advance(20 * time.Second)
		wantLastChanges(t, cluster, watch.Viewer{Program: true}, fmt.Sprintf(want,
			`,{"ns":"b","name":"other","at":"2026-11-21T10:00:03Z","by":"kubectl-edit"}`))
	})
}

// Viewers get only the changes of objects that they may list. Guests get none, because their visit began later.
//
// Invariant: I18.
func TestLastChangesRequirePermissionToList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		allow(server, "all list pods *", "ann list pods a", "ann list pods c")
		server.Set("core/v1/namespaces", apitest.Item{Name: "c"})
		server.Set(pods, edited("a", "p", "helm"), edited("b", "q", "argocd"))
		item := func(namespace, name, by string) string {
			return fmt.Sprintf(`{"ns":%q,"name":%q,"at":%q,"by":%q,"created":true}`, namespace, name, managedAt, by)
		}
		const list = `{"items":[%s],"truncated":false}`
		wantLastChanges(t, cluster, user("all"), fmt.Sprintf(list, item("a", "p", "helm")+","+item("b", "q", "argocd")))
		wantLastChanges(t, cluster, user("ann"), fmt.Sprintf(list, item("a", "p", "helm")))
		wantLastChanges(t, cluster, user("ann"), fmt.Sprintf(list, item("a", "p", "helm")), "a", "b")
		_, err := lastChanges(t, cluster, user("ann"), "b")
		wantProblem(t, err, status.Refused, "Forbidden", `"b"`)
		_, err = lastChanges(t, cluster, user("bob"))
		wantProblem(t, err, status.Refused, "Forbidden", "")
		_, err = lastChanges(t, cluster, sharedWith(watch.Part{Resource: pods}))
		wantProblem(t, err, status.Refused, "Forbidden", "link does not include")
		if got := server.Requests("/namespaces/b/pods"); len(got) > 0 {
			t.Errorf("got the requests %q for users without the permission, want none", got)
		}
	})
}

// If a user may list more namespaces than the program lists one by one, the program lists all of them together.
func TestLastChangesOfManyNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		lines := []string{}
		for n := range 25 {
			name := fmt.Sprint("n", n)
			server.Set("core/v1/namespaces", apitest.Item{Name: name})
			lines = append(lines, "ann list pods "+name)
		}
		allow(server, lines...)
		server.Set(pods, edited("a", "p", "helm"), edited("n7", "q", "argocd"))
		wantLastChanges(t, cluster, user("ann"),
			`{"items":[{"ns":"n7","name":"q","at":"2026-11-21T10:00:00Z","by":"argocd","created":true}],"truncated":false}`)
		if got := server.Requests("/namespaces/n7/pods"); len(got) > 0 {
			t.Errorf("got the requests %q, want one list of all namespaces", got)
		}
		// If the program may not list all namespaces together, it reads 20 of them: n0, n1, n10, n11 and so on, without n7.
		server.Revoke(pods, "")
		for n := range 25 {
			server.Refuse(pods, fmt.Sprint("n", n), 0, "")
		}
		advance(2 * time.Minute)
		wantLastChanges(t, cluster, user("ann"), `{"items":[],"truncated":true}`)
		if got := server.Requests("/namespaces/n"); len(got) != 20 {
			t.Errorf("got %d requests, want 20", len(got))
		}
	})
}

// If the program cannot list all namespaces, it reads only those that it can list.
func TestLastChangesOfPermittedNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, edited("a", "p", "helm"), edited("b", "q", "argocd"))
		server.Refuse(pods, "", http.StatusForbidden, "no")
		server.Refuse(pods, "a", 0, "")
		_, err := lastChanges(t, cluster, watch.Viewer{Program: true})
		wantProblem(t, err, status.Refused, "Forbidden", "cannot list")
		r := subscribe(t, cluster, query.Query{}, "")
		advance(time.Minute)
		r.settle()
		wantLastChanges(t, cluster, watch.Viewer{Program: true},
			`{"items":[{"ns":"a","name":"p","at":"2026-11-21T10:00:00Z","by":"helm","created":true}],"truncated":false}`)
	})
}

// The program reads at most 5,000 objects, page by page. A failed read is not cached.
func TestLastChangesAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		for n := range 5000 {
			server.Set(pods, edited("a", fmt.Sprintf("p%04d", n), "helm"))
		}
		read := func() *struct {
			Items     []struct{ Name string }
			Truncated bool
		} {
			text, err := lastChanges(t, cluster, watch.Viewer{Program: true})
			if err != nil {
				t.Fatal(err)
			}
			var list struct {
				Items     []struct{ Name string }
				Truncated bool
			}
			if err := json.Unmarshal([]byte(text), &list); err != nil {
				t.Fatal(err)
			}
			advance(2 * time.Minute)
			return &list
		}
		server.FailPath("/api/v1/pods", http.StatusInternalServerError, "broken")
		_, err := lastChanges(t, cluster, watch.Viewer{Program: true})
		wantProblem(t, err, status.Unavailable, "The API server does not respond", "broken")
		server.FailPath("/api/v1/pods", 0, "")
		before := len(server.Requests("/api/v1/pods?"))
		if list := read(); len(list.Items) != 5000 || list.Truncated {
			t.Errorf("5,000 objects: got %d, truncated %t, want all", len(list.Items), list.Truncated)
		}
		if got := len(server.Requests("/api/v1/pods?")) - before; got != 10 {
			t.Errorf("got %d requests, want 10 pages", got)
		}
		server.Set(pods, edited("a", "q", "helm"))
		if list := read(); len(list.Items) != 5000 || !list.Truncated {
			t.Errorf("5,001 objects: got %d, truncated %t, want 5,000, truncated", len(list.Items), list.Truncated)
		}
	})
}
