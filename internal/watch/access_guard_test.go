package watch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"

	authorization "k8s.io/api/authorization/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
)

// grants are permissions such as "ann list pods a": user, verb, resource and namespace. The namespace "*" permits
// requests for any single namespace and for all namespaces together.
type grants map[string]bool

// allow makes the API server permit exactly the grants in lines, and returns them as a map. Tests can change the map
// while no request is in progress.
func allow(server *apitest.Server, lines ...string) grants {
	g := grants{}
	for _, line := range lines {
		g[line] = true
	}
	server.Allow(func(spec authorization.SubjectAccessReviewSpec) bool {
		attributes := spec.ResourceAttributes
		resource := attributes.Resource
		if attributes.Subresource != "" {
			resource += "/" + attributes.Subresource
		}
		return g[strings.Join([]string{spec.User, attributes.Verb, resource, attributes.Namespace}, " ")] &&
			attributes.Namespace != "" ||
			g[strings.Join([]string{spec.User, attributes.Verb, resource, "*"}, " ")]
	})
	return g
}

func user(name string) watch.Viewer { return watch.Viewer{User: &authz.User{Name: name}} }

func newGuardedCluster(t *testing.T) (*apitest.Server, *watch.Cluster, grants) {
	t.Helper()
	server, cluster := serveCluster(t)
	server.Set(pods, labelled(pod("a", "p", "Running"), "web"), labelled(pod("b", "q", "Running"), "web"))
	g := allow(server,
		"all list pods *", "all watch pods *", "all get pods *", "all get pods/log *", "all list namespaces *",
		"all watch namespaces *", "all get namespaces *",
		"ann list pods a", "ann watch pods a", "ann get pods a", "ann get pods/log a",
		"lister list pods *", "getter get pods *")
	r := subscribe(t, cluster, query.Query{}, "") // This reader, which may read all pods, keeps them in memory.
	r.settle()
	r.wantLive(2)
	return server, cluster, g
}

// queryShapes returns pod queries of all types. Each has the views that accept the query, and the pods that the user
// ann gets.
func queryShapes(t *testing.T) map[string]struct {
	query   query.Query
	views   []stream.View
	visible string
} {
	t.Helper()
	all := []stream.View{stream.Rows, stream.Table, stream.Windowed, stream.Changes}
	objectViews := []stream.View{stream.Object, stream.Changes}
	type shape = struct {
		query   query.Query
		views   []stream.View
		visible string
	}
	return map[string]shape{
		"all":                               {query.Query{}, all, "a/p"},
		"permitted namespace":               {query.Query{Namespaces: []string{"a"}}, all, "a/p"},
		"forbidden namespace":               {query.Query{Namespaces: []string{"b"}}, all, ""},
		"permitted and forbidden namespace": {query.Query{Namespaces: []string{"a", "b"}}, all, "a/p"},
		"missing namespace":                 {query.Query{Namespaces: []string{"c"}}, all, ""},
		"labels":                            {query.Query{Labels: "app=web"}, all, "a/p"},
		"text":                              {query.Query{Text: "running"}, all, "a/p"},
		"field":                             {query.Query{Fields: "status.phase=Running"}, all, "a/p"},
		"watched only":                      {query.Query{Watched: true}, all, "a/p"},
		"permitted object":                  {query.Query{Namespaces: []string{"a"}, Name: "p"}, objectViews, "a/p"},
		"forbidden object":                  {query.Query{Namespaces: []string{"b"}, Name: "q"}, objectViews, ""},
		"missing object":                    {query.Query{Namespaces: []string{"b"}, Name: "nothing"}, objectViews, ""},
		"name in all namespaces":            {query.Query{Name: "q"}, []stream.View{stream.Changes}, ""},
		"name of a hidden object":           {query.Query{Namespaces: []string{"a"}, Name: "q"}, objectViews, ""},
		"name in both namespaces": {
			query.Query{Namespaces: []string{"a", "b"}, Name: "q"}, []stream.View{stream.Changes}, "",
		},
		"negated label selector":        {query.Query{Labels: "app!=other"}, all, "a/p"},
		"text of a hidden object":       {query.Query{Text: "q"}, all, ""},
		"failing objects":               {query.Query{Text: "is:failing"}, all, ""},
		"permitted namespace with text": {query.Query{Namespaces: []string{"a"}, Text: "run"}, all, "a/p"},
		"labels, forbidden":             {query.Query{Namespaces: []string{"b"}, Labels: "app=web"}, all, ""},
		"fields, forbidden":             {query.Query{Namespaces: []string{"b"}, Fields: "status.phase=Running"}, all, ""},
		"watched only, forbidden":       {query.Query{Namespaces: []string{"b"}, Watched: true}, all, ""},
		"watched only, all namespaces":  {query.Query{Name: "q", Watched: true}, []stream.View{stream.Changes}, ""},
	}
}

func collectMessages(t *testing.T, access *watch.Access, q query.Query, view stream.View) string {
	t.Helper()
	if view == stream.Windowed {
		window, err := query.NewWindow("", 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		q.Window = window
	}
	sub, err := access.Subscribe(t.Context(), q, view, "")
	if err != nil {
		return err.Error()
	}
	defer sub.Close()
	var messages strings.Builder
	for beats := 0; beats < 2; {
		message, err := sub.Next(t.Context())
		if err != nil {
			return messages.String() + err.Error()
		}
		if strings.HasPrefix(string(message), `"type":"heartbeat"`) {
			beats++
		}
		messages.Write(message)
		messages.WriteByte('\n')
	}
	return messages.String()
}

// Invariant: I18. A user sees exactly what the API server would allow that user to list, watch and get. Rows disappear
// within 15 s after the user loses the permission. If the program cannot determine a permission, it shows nothing.
// Changes of objects that a user may not see have no visible effect for this user. A share link restricts all its
// guests to the objects in its scope.
func TestQueriesReturnPermittedObjects(t *testing.T) {
	for name, shape := range queryShapes(t) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster, _ := newGuardedCluster(t)
				shape.query.Resource = pods
				for _, userName := range []string{"ann", "unprivileged", "getter", "lister"} {
					for _, view := range shape.views {
						churnPods(server)
						messages := collectMessages(t, cluster.For(user(userName)), shape.query, view)
						if strings.Contains(messages, `"q"`) || strings.Contains(messages, `"b"`) &&
							strings.Contains(messages, `"ns":"b"`) || userName != "ann" && strings.Contains(messages, `"p"`) {
							t.Errorf("%s, view %s: got messages about hidden objects: %s", userName, view, messages)
						}
						if userName == "ann" && shape.visible != "" && !strings.Contains(messages, `"p"`) {
							t.Errorf("%s, view %s: got no message about a/p: %s", userName, view, messages)
						}
						if userName != "ann" && !strings.Contains(messages, "forbidden") {
							t.Errorf("%s, view %s: got no state forbidden: %s", userName, view, messages)
						}
					}
					visible := ""
					snapshot, err := cluster.For(user(userName)).Snapshot(t.Context(), shape.query, time.Minute)
					if err == nil {
						visible = keysOf(snapshot)
					} else {
						wantProblem(t, err, status.Refused, "Forbidden", "You cannot list Pods ")
					}
					if userName == "ann" && visible != shape.visible || userName != "ann" && userName != "lister" && visible != "" {
						t.Errorf("snapshot of %s: got %q, want %q", userName, visible, shape.visible)
					}
				}
			})
		})
	}
}

func churnPods(server *apitest.Server) {
	server.Set(pods, labelled(pod("a", "p", "Pending"), "web"), labelled(pod("b", "q", "Pending"), "web"))
	server.Set(pods, labelled(pod("a", "p", "Running"), "web"), labelled(pod("b", "q", "Running"), "web"))
	synctest.Wait()
}

// Reads without a subscription (an object, its log, counts, search, and lists of resources) also return only data for
// which the user has permissions.
// Invariant: I18.
func TestReadsReturnPermittedObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster, _ := newGuardedCluster(t)
		server.Handle("/api/v1/namespaces/a/pods/p/log", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "hers\n")
		})
		server.Handle("/api/v1/namespaces/b/pods/q/log", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "another's\n")
		})
		byName := func(a, b *resource.Resource) int { return strings.Compare(a.Ref(), b.Ref()) }
		reader := subscribe(t, cluster, query.Query{Resource: namespaces}, "")
		reader.settle()
		for userName, want := range map[string]struct{ objects, logs, counts string }{
			"all": {"a/p b/q", "a/p b/q", "map[core/v1/namespaces:2 core/v1/pods:2]"}, "ann": {"a/p", "a/p", "map[]"},
			"lister": {"", "", "map[]"}, "getter": {"a/p b/q", "", "map[]"}, "unprivileged": {"", "", "map[]"},
		} {
			access := cluster.For(user(userName))
			var objects, logs []string
			for _, key := range []string{"a/p", "b/q"} {
				ns, name, _ := strings.Cut(key, "/")
				_, err := access.Object(t.Context(), pods, ns, name)
				_, _, errKnown := access.LastKnown(t.Context(), pods, ns, name)
				if (err == nil) != (errKnown == nil) {
					t.Errorf("%s: Object(%s): got error %v, LastKnown: got error %v, want both or none", userName, key, err, errKnown)
				}
				if err == nil {
					objects = append(objects, key)
				} else {
					wantProblem(t, err, status.Refused, "Forbidden", "You cannot get Pods")
				}
				body, err := access.Logs(t.Context(), ns, name, watch.LogOptions{Tail: 10})
				if err == nil {
					logs = append(logs, key)
					_ = body.Close()
				} else {
					wantProblem(t, err, status.Refused, "Forbidden", "You cannot get pods/log")
				}
			}
			counts, _ := access.Resources().Counts(t.Context())
			if got := fmt.Sprint(counts); strings.Join(objects, " ") != want.objects ||
				strings.Join(logs, " ") != want.logs || got != want.counts {
				t.Errorf("%s: got objects %s, logs of %s, counts %s; want %+v", userName, objects, logs, got, want)
			}
			for _, name := range []string{"p", "q"} {
				found, err := access.Search(t.Context(), watch.SearchQuery{Text: name, Limit: 10}, byName)
				if err != nil || (len(found.Hits) > 0) != (userName == "all" || userName == "ann" && name == "p") {
					t.Errorf("Search as %s: got %+v, error %v, want hits only in permitted namespaces", userName, found, err)
				}
				if userName == "ann" &&
					(len(found.Searched) != 1 || *found.Searched[0].Count != 1 ||
						strings.Join(found.Searched[0].Status.Namespaces, " ") != "a") {
					t.Errorf("Search as ann: got searched resources %+v, want one pod in namespace a", found.Searched)
				}
			}
			known, _, err := access.Resources().List(t.Context(), 0)
			if err != nil || len(known) != 2 {
				t.Errorf("Resources as %s: got %v, error %v; want both resources", userName, known, err)
			}
			for _, k := range known {
				if k.Ref() == pods && (k.Status != nil || k.Count != nil) != (userName == "all") {
					t.Errorf("Resources as %s: got pods with status %+v, count %v; want them only for a user with all permissions",
						userName, k.Status, k.Count)
				}
			}
			if entries := access.WatchStatus(t.Context()).Entries; (len(entries) > 0) != (userName == "all") {
				t.Errorf("WatchStatus as %s: got %+v, want entries only for a user with all permissions", userName, entries)
			}
		}
		known, _, err := cluster.For(watch.Viewer{}).Resources().List(t.Context(), 0)
		if err != nil || len(known) != 0 {
			t.Errorf("Resources without a user: got %v, error %v, want none", known, err)
		}
		if _, err := cluster.For(watch.Viewer{}).Object(t.Context(), pods, "a", "p"); err == nil {
			t.Error("Object without a user: got no error")
		}
	})
}

// A Role can permit a get of the Namespace object of its own namespace. It cannot permit a list or watch of Namespaces.
func TestRoleGetsItsOwnNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster, g := newGuardedCluster(t)
		for _, ns := range []string{"a", "b"} {
			server.Set(namespaces, apitest.Item{Name: ns})
		}
		for _, verb := range []string{"get", "list", "watch"} {
			g["ann "+verb+" namespaces a"] = true
		}
		access := cluster.For(user("ann"))
		if _, err := access.Object(t.Context(), namespaces, "", "a"); err != nil {
			t.Errorf("Object(a): got error %v, want none", err)
		}
		if err := access.Authorize(t.Context(), query.Query{Resource: namespaces, Name: "a"}); err != nil {
			t.Errorf("Authorize(a): got error %v, want none", err)
		}
		for _, name := range []string{"b", "not-there"} {
			if _, err := access.Object(t.Context(), namespaces, "", name); err == nil ||
				!strings.Contains(err.Error(), "cannot get") {
				t.Errorf("Object(%s): got error %v, want forbidden", name, err)
			}
		}
		if _, err := access.Snapshot(t.Context(), query.Query{Resource: namespaces}, time.Second); err == nil {
			t.Error("Snapshot: got no error, want forbidden")
		}
		messages := collectMessages(t, access, query.Query{Resource: namespaces, Name: "a"}, stream.Object)
		if !strings.Contains(messages, `"state":"forbidden"`) {
			t.Errorf("watch: got %s, want state forbidden", messages)
		}
	})
}

func TestProgramGetsItsOwnNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(namespaces, apitest.Item{Name: "a"}, apitest.Item{Name: "b"})
		server.Handle(apitest.SelfReviewsPath, func(w http.ResponseWriter, r *http.Request) {
			var review authorization.SelfSubjectAccessReview
			if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
				t.Error(err)
			}
			attributes := review.Spec.ResourceAttributes
			review.Status.Allowed = attributes.Verb == "get" && attributes.Resource == "namespaces" &&
				attributes.Namespace == "a"
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(review)
		})
		access := cluster.For(watch.Viewer{Program: true})
		if _, err := access.Object(t.Context(), namespaces, "", "a"); err != nil {
			t.Errorf("Object(a): got error %v, want none", err)
		}
		if _, err := access.Object(t.Context(), namespaces, "", "b"); err == nil {
			t.Error("Object(b): got no error, want forbidden")
		}
	})
}

// Rows disappear within 15 s after a permission is revoked. A new permission takes effect within a minute.
// Invariant: I18.
func TestPermissionChangesTakeEffect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster, g := newGuardedCluster(t)
		r := subscribeAs(t, cluster.For(user("ann")), query.Query{Resource: pods}, stream.Rows, "")
		r.settle()
		r.wantLive(1)
		if strings.Join(r.namespaces, " ") != "a" {
			t.Errorf("covered namespaces: got %s, want a", r.namespaces)
		}
		server.Allow(func(authorization.SubjectAccessReviewSpec) bool { return false })
		began := time.Now()
		for r.state != "forbidden" || len(r.rows) > 0 || !r.isComplete {
			<-time.After(100 * time.Millisecond)
			if churnPods(server); time.Since(began) > time.Minute {
				t.Fatalf("got state %s with rows %v after a minute, want forbidden with no rows; messages %s",
					r.state, r.rows, r.log)
			}
			r.next()
		}
		if passed := time.Since(began); passed > 15*time.Second {
			t.Errorf("hidden rows were sent for %s, want at most 15 s", passed)
		}
		if log := strings.Join(r.log, ", "); !strings.HasSuffix(log, "state forbidden, reset, snapshot of 0") &&
			!strings.HasSuffix(log, "reset, state forbidden, snapshot of 0") {
			t.Errorf("got %s, want state forbidden, a reset and an empty snapshot last", log)
		}
		r.settle()
		g["ann list pods b"], g["ann watch pods b"] = true, true
		delete(g, "ann watch pods a")
		allow(server, slices.Collect(maps.Keys(g))...)
		began = time.Now()
		for len(r.rows) == 0 && time.Since(began) < 2*time.Minute {
			r.next()
		}
		if passed := time.Since(began); passed > time.Minute {
			t.Errorf("permitted rows were sent after %s, want at most a minute", passed)
		}
		r.settle()
		r.wantRows("b/q=Running")
	})
}

// If access reviews deny this program a list, even a guest gets the reason, without the text of the API server.
// Invariant: I18.
func TestGuestGetsReasonOfRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster, _ := newGuardedCluster(t)
		guest := watch.Viewer{User: user("ann").User, Scope: &watch.Scope{Parts: []watch.Part{{Resource: pods}}}}
		r := subscribeAs(t, cluster.For(guest), query.Query{Resource: pods}, stream.Rows, "")
		r.settle()
		server.Allow(func(authorization.SubjectAccessReviewSpec) bool { return false })
		for began := time.Now(); r.state != "forbidden" && time.Since(began) < time.Minute; {
			r.next()
		}
		if !strings.HasPrefix(r.reason, "You cannot list Pods") {
			t.Errorf("got state %s: %q, want the refused permission as the reason", r.state, r.reason)
		}
	})
}

// A snapshot can wait for the first list of a resource. After the wait, the permission is checked again, because it can
// have been revoked.
// Invariant: I18.
func TestPermissionRevokedDuringFirstList(t *testing.T) {
	for name, left := range map[string]string{"all": "", "one namespace": "ann list pods a"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster := serveCluster(t)
				allow(server, "ann list pods *")
				slow, listed := apitest.New(t, kinds()...), make(chan struct{})
				slow.Set(pods, pod("a", "p", "Running"), pod("b", "CANARY", "Running"))
				server.Handle("/api/v1/pods", func(w http.ResponseWriter, r *http.Request) {
					<-listed
					slow.Handler().ServeHTTP(w, r)
				})
				timer := time.AfterFunc(15*time.Second, func() { allow(server, left); close(listed) })
				defer timer.Stop()
				snapshot, err := cluster.For(user("ann")).Snapshot(
					t.Context(), query.Query{Resource: pods}, time.Minute,
				)
				if left == "" {
					wantProblem(t, err, status.Refused, "Forbidden", "list Pods")
					return
				}
				if err != nil || !snapshot.Synced || len(snapshot.Objects) != 1 || snapshot.Objects[0].Name() != "p" ||
					!snapshot.IsPartial {
					t.Errorf("Snapshot: got %+v, error %v, want a partial one with only a/p", snapshot, err)
				}
			})
		})
	}
}

// A log response ends within 15 s after the permission is revoked. This is true for a followed log, and for a log that
// is read only to its present end.
// Invariant: I18.
func TestLogEndsWithViewersPermission(t *testing.T) {
	for _, follow := range []bool{true, false} {
		t.Run(fmt.Sprintf("follow %t", follow), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster, _ := newGuardedCluster(t)
				server.Handle("/api/v1/namespaces/a/pods/p/log", func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.WriteString(w, "a line\n")
					w.(http.Flusher).Flush() //nolint:errcheck,forcetypeassert // The server's writer is a Flusher.
					<-r.Context().Done()
				})
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
				defer cancel()
				body, err := cluster.For(user("ann")).Logs(ctx, "a", "p", watch.LogOptions{Follow: follow})
				if err != nil {
					t.Fatal(err)
				}
				defer body.Close() //nolint:errcheck // The body is read to its end.
				server.Allow(nil)
				began := time.Now()
				text, err := io.ReadAll(body)
				wantProblem(t, err, status.Refused, "Forbidden", "You cannot get pods/log")
				if passed := time.Since(began); passed > 15*time.Second || string(text) != "a line\n" {
					t.Errorf("got %q after %s, want one line within 15 s", text, passed)
				}
			})
		})
	}
}

// While access reviews fail, subscriptions receive no changes, and new reads return an error.
// Invariant: I18.
func TestFailedReviewsRefuseReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster, _ := newGuardedCluster(t)
		ann := cluster.For(user("ann"))
		r := subscribeAs(t, ann, query.Query{Resource: pods}, stream.Rows, "")
		r.settle()
		server.MakeUnavailable(apitest.UserReviewsPath, "not now")
		advance(12 * time.Second)
		server.Set(pods, pod("a", "p", "Failed"))
		r.wantSettle("state stale")
		if r.rows["a/p"].Cells[1] != "Running" || !strings.Contains(r.reason, "not now") {
			t.Errorf("got rows %v, reason %s, want the former rows and the error", r.rows, r.reason)
		}
		_, err := ann.Subscribe(t.Context(), query.Query{Resource: pods}, stream.Rows, "")
		wantProblem(t, err, status.Unavailable, "Permissions unknown", "not now")
		_, err = ann.Snapshot(t.Context(), query.Query{Resource: pods}, 0)
		wantProblem(t, err, status.Unavailable, "Permissions unknown", "not now")
		_, err = ann.Object(t.Context(), pods, "a", "p")
		wantProblem(t, err, status.Unavailable, "Permissions unknown", "not now")
		_, _, err = ann.LastKnown(t.Context(), pods, "a", "p")
		wantProblem(t, err, status.Unavailable, "Permissions unknown", "not now")
		server.FailPath(apitest.UserReviewsPath, 0, "")
		<-time.After(12 * time.Second)
		r.settle()
		r.wantRows("a/p=Failed")
		r.wantLive(1)
	})
}

// A cached decision of an access review applies only to a user with the same name, UID, groups and extra fields.
// Invariant: I18.
func TestDecisionsBelongToOneUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster, _ := newGuardedCluster(t)
		server.Allow(func(spec authorization.SubjectAccessReviewSpec) bool {
			return spec.User == "ann" && spec.UID == "1" && slices.Equal(spec.Groups, []string{"web", "ops"}) &&
				len(spec.Extra["scopes"]) == 1 && spec.Extra["scopes"][0] == "all"
		})
		ann := authz.User{
			Name: "ann", UID: "1", Groups: []string{"web", "ops"}, Extra: map[string][]string{"scopes": {"all"}},
		}
		see := func(u authz.User) bool {
			_, err := cluster.For(watch.Viewer{User: &u}).Snapshot(t.Context(), query.Query{Resource: pods}, 0)
			return err == nil
		}
		others := map[string]authz.User{
			"another name":  {Name: "bob", UID: ann.UID, Groups: ann.Groups, Extra: ann.Extra},
			"another uid":   {Name: ann.Name, UID: "2", Groups: ann.Groups, Extra: ann.Extra},
			"fewer groups":  {Name: ann.Name, UID: ann.UID, Groups: []string{"web"}, Extra: ann.Extra},
			"no extra":      {Name: ann.Name, UID: ann.UID, Groups: ann.Groups},
			"groups in one": {Name: ann.Name, UID: ann.UID, Groups: []string{"web,ops"}, Extra: ann.Extra},
			"nothing":       {},
			"other extra": {
				Name: ann.Name, UID: ann.UID, Groups: ann.Groups, Extra: map[string][]string{"scopes": {"all", "more"}},
			},
		}
		if !see(ann) {
			t.Fatal("ann cannot list pods")
		}
		for description, other := range others {
			if see(other) {
				t.Errorf("user with %s gets ann's cached permissions", description)
			}
		}
		_, err := cluster.For(watch.Viewer{}).Snapshot(t.Context(), query.Query{Resource: pods}, 0)
		wantProblem(t, err, status.Refused, "Forbidden", "You are not logged in")
	})
}

// A restricted reader (who may not see all objects) gets a cursor that is valid only for the same user. If the user's
// permissions change, the cursor becomes invalid.
// Invariant: I18.
func TestRestrictedCursorsBelongToPermissions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster, g := newGuardedCluster(t)
		r := subscribeAs(t, cluster.For(user("ann")), query.Query{Resource: pods}, stream.Rows, "")
		r.settle()
		for name, viewer := range map[string]watch.Viewer{
			"all": user("all"), "ann": user("ann"), "program": {Program: true},
		} {
			other := subscribeAs(t, cluster.For(viewer), query.Query{Resource: pods}, stream.Rows, r.cursor)
			if got := other.settle(); strings.Contains(got, "reset") == (name == "ann") {
				t.Errorf("Subscribe as %s with ann's cursor: got %s", name, got)
			}
			other.sub.Close()
		}
		r.settle()
		r.sub.Close()
		g["ann list pods b"], g["ann watch pods b"] = true, true
		advance(11 * time.Second) // Wait until the cached access reviews, which are valid for 10 s, have expired.
		more := subscribeAs(t, cluster.For(user("ann")), query.Query{Resource: pods}, stream.Rows, r.cursor)
		if got := more.settle(); !strings.Contains(got, "reset") {
			t.Errorf("resume with more permissions: got %s, want a reset", got)
		}
		more.wantRows("a/p=Running", "b/q=Running")
		_ = server
	})
}

var oldVersion = regexp.MustCompile(`"(\d+)":"\d+"`)

// Invariant: I30. A guest of a share link sees only what the creator of the link currently has permission to see, and
// gets no information about other objects. If a link is revoked or expires, its open streams end. The token of a link
// is neither stored nor logged. Guests have their own quotas. The dialog for new links lists what is shared, and which
// shared values are not masked. A guest's page has no token in its URL or history. A page in kiosk mode stays in kiosk
// mode after the server restarts.
// Invariant: I18.
func TestGuestsSeeSharedObjectsOnly(t *testing.T) {
	scope := func(parts ...watch.Part) *watch.Scope { return &watch.Scope{Parts: parts} }
	for name, test := range map[string]struct {
		scope *watch.Scope
		query query.Query
		want  string
	}{
		"all pods":         {scope(watch.Part{Resource: pods}), query.Query{}, "a/p a/r b/q"},
		"shared namespace": {scope(watch.Part{Resource: pods, Namespaces: []string{"b"}}), query.Query{}, "b/q"},
		"query of two namespaces, one shared": {
			scope(watch.Part{Resource: pods, Namespaces: []string{"b"}}),
			query.Query{Namespaces: []string{"a", "b"}},
			"b/q",
		},
		"query of another namespace": {
			scope(watch.Part{Resource: pods, Namespaces: []string{"b"}}),
			query.Query{Namespaces: []string{"a"}},
			"Forbidden",
		},
		"labels": {scope(watch.Part{Resource: pods, Labels: "app=web"}), query.Query{}, "a/p b/q"},
		"other labels than shared": {
			scope(watch.Part{Resource: pods, Labels: "app=web"}), query.Query{Labels: "app=db"}, "",
		},
		"text":                   {scope(watch.Part{Resource: pods, Text: "failed"}), query.Query{}, "a/r"},
		"other text than shared": {scope(watch.Part{Resource: pods, Text: "failed"}), query.Query{Text: "running"}, ""},
		"failing objects":        {scope(watch.Part{Resource: pods, Text: "is:failing"}), query.Query{}, "a/r"},
		"shared object": {
			scope(watch.Part{Resource: pods, Namespaces: []string{"a"}, Name: "p"}), query.Query{}, "a/p",
		},
		"forbidden object": {
			scope(watch.Part{Resource: pods, Namespaces: []string{"a"}, Name: "p"}),
			query.Query{Namespaces: []string{"a"}, Name: "r"},
			"Forbidden",
		},
		"another resource": {scope(watch.Part{Resource: "core/v1/namespaces"}), query.Query{}, "Forbidden"},
		"nothing":          {scope(), query.Query{}, "Forbidden"},
		"unknown resource": {
			scope(watch.Part{Resource: pods}), query.Query{Resource: "no/such/kind"}, "Forbidden",
		},
		"creator with fewer permissions": {
			scope(watch.Part{Resource: pods}), query.Query{Namespaces: []string{"creator"}}, "a/p a/r",
		},
		"creator with fewer permissions, labels": {
			scope(watch.Part{Resource: pods, Labels: "app=web"}), query.Query{Namespaces: []string{"creator"}}, "a/p",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster, _ := newGuardedCluster(t)
				server.Set(pods, pod("a", "r", "Failed"))
				synctest.Wait()
				viewer := watch.Viewer{Program: true, Scope: test.scope}
				if slices.Equal(test.query.Namespaces, []string{"creator"}) {
					viewer, test.query.Namespaces = watch.Viewer{User: user("ann").User, Scope: test.scope}, nil
				}
				if test.query.Resource == "" {
					test.query.Resource = pods
				}
				access := cluster.For(viewer)
				got := "Forbidden"
				snapshot, err := access.Snapshot(t.Context(), test.query, time.Minute)
				if err == nil {
					got = keysOf(snapshot)
				} else {
					wantProblem(t, err, status.Refused, "Forbidden", "")
				}
				if strings.TrimSpace(got) != test.want {
					t.Errorf("Snapshot: got %s, want %s", got, test.want)
				}
				collectWhileChanging := func(q query.Query, view stream.View) string {
					var changing sync.WaitGroup
					changing.Go(func() {
						<-time.After(time.Second)
						server.Set(pods, pod("a", "p", "Pending"), pod("a", "r", "Pending"), pod("b", "q", "Pending"))
						synctest.Wait()
						server.Set(
							pods,
							labelled(pod("a", "p", "Running"), "web"),
							pod("a", "r", "Failed"),
							labelled(pod("b", "q", "Running"), "web"),
						)
					})
					defer changing.Wait()
					return collectMessages(t, access, q, view)
				}
				for _, view := range []stream.View{stream.Rows, stream.Table, stream.Windowed, stream.Changes} {
					if view != stream.Changes && test.query.Name != "" {
						continue
					}
					messages := collectWhileChanging(test.query, view)
					for _, key := range []string{"a/p", "a/r", "b/q"} {
						_, object, _ := strings.Cut(key, "/")
						// The window view also names changed pods that do not match the query's text. It names only pods that the
						// link shares.
						isOther := view == stream.Windowed && test.query.Text != "" &&
							strings.Contains(sharedPods(t, cluster, viewer), key)
						if strings.Contains(messages, `"`+object+`"`) != (isOther || strings.Contains(test.want, key)) {
							t.Errorf("view %s, want objects %s: pod %s: got messages %s", view, test.want, key, messages)
						}
					}
				}
				for _, key := range []string{"a/p", "a/r", "b/q"} {
					ns, object, _ := strings.Cut(key, "/")
					q := query.Query{Resource: pods, Namespaces: []string{ns}, Name: object}
					messages := collectWhileChanging(q, stream.Object)
					if within := strings.Contains(sharedPods(t, cluster, viewer), key); strings.Contains(
						messages, `"object":`,
					) != within || strings.Contains(messages, `"op":`) != within {
						t.Errorf("view object: pod %s: got messages %s", key, messages)
					}
					found := searchAs(t, access, watch.SearchQuery{Text: object, Limit: 10})
					if within := strings.Contains(sharedPods(t, cluster, viewer), key); (len(found.Hits) > 0) != within {
						t.Errorf("Search(%s): got %+v", object, found)
					}
					_, err := access.Object(t.Context(), pods, ns, object)
					if within := strings.Contains(sharedPods(t, cluster, viewer), key); (err == nil) != within {
						t.Errorf("Object(%s): got error %v", key, err)
					}
					if _, err := access.Logs(t.Context(), ns, object, watch.LogOptions{}); err == nil {
						t.Errorf("Logs(%s): got no error, want forbidden because logs are not shared", key)
					}
				}
			})
		})
	}
}

func sharedPods(t *testing.T, cluster *watch.Cluster, viewer watch.Viewer) string {
	t.Helper()
	snapshot, err := cluster.For(viewer).Snapshot(t.Context(), query.Query{Resource: pods}, time.Minute)
	if err != nil {
		return ""
	}
	return keysOf(snapshot)
}

func keysOf(snapshot *watch.Snapshot) string {
	keys := make([]string, len(snapshot.Objects))
	for n, o := range snapshot.Objects {
		keys[n] = o.Namespace() + "/" + o.Name()
	}
	return strings.Join(keys, " ")
}
