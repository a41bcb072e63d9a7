package watch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/event"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"

	jsonpatch "github.com/evanphx/json-patch/v5"
	authorization "k8s.io/api/authorization/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// sharedWith returns a guest (a viewer of a share link) for a link that the program itself created.
func sharedWith(parts ...watch.Part) watch.Viewer {
	return watch.Viewer{Program: true, Scope: &watch.Scope{Parts: parts}}
}

// readUntil reads messages until one has a given type. It returns the text of all these messages, and the last message,
// decoded.
func readUntil(t *testing.T, sub *watch.Subscription, types ...string) (all string, last message) {
	t.Helper()
	for {
		text, err := sub.Next(t.Context())
		if err != nil {
			t.Fatalf("Next: %v, after %s", err, all)
		}
		all += string(text) + "\n"
		last = message{}
		if err := json.Unmarshal([]byte("{"+string(text)+"}"), &last); err != nil {
			t.Fatalf("decode message %s: %v", text, err)
		}
		if slices.Contains(types, last.Type) {
			return all, last
		}
	}
}

// When an object no longer matches a share link, the viewers of the link get a delete event. The event contains nothing
// of the object's new version.
// Invariant: I18.
func TestObjectLeavesShare(t *testing.T) {
	for name, part := range map[string]watch.Part{
		"labels": {Labels: "app=web"}, "text": {Text: "running"},
		"both": {Labels: "app=web", Text: "running"}, "severity": {Text: "is:waiting"},
	} {
		part.Resource = pods
		now, state := "Running", `"Running"`
		if name == "severity" {
			now, state = "ContainerCreating", `"ContainerCreating"`
		}
		for viewName, test := range map[string]struct {
			view       stream.View
			sort, text string
			removal    string
		}{
			"rows": {stream.Rows, "", "", `"op":"delete"`}, "table": {stream.Table, "", "", `"op":"delete"`},
			"changes": {stream.Changes, "", "", `"op":"delete"`}, "object": {stream.Object, "", "", `"op":"delete"`},
			"window":           {stream.Windowed, "", "", `"why":"gone"`},
			"window by status": {stream.Windowed, "status", "", `"why":"gone"`},
			"window with text": {stream.Windowed, "", strings.ToLower(now), `"why":"gone"`},
		} {
			t.Run(name+", "+viewName, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server, cluster := serveCluster(t)
					within, beyond := labelled(pod("a", "p", now), "web"), labelled(pod("a", "p", "CANARY"), "db")
					if name == "severity" {
						beyond = withSeverity(beyond, verdict.Failed)
					}
					server.Set(pods, within, labelled(pod("a", "q", now), "web"))
					q := query.Query{Resource: pods, Text: test.text}
					switch test.view {
					case stream.Object:
						q.Namespaces, q.Name = []string{"a"}, "p"
					case stream.Windowed:
						window, err := query.NewWindow(test.sort, 0, 10)
						if err != nil {
							t.Fatal(err)
						}
						q.Window = window
					case stream.Rows, stream.Table, stream.Changes:
					}
					sub, err := cluster.For(sharedWith(part)).Subscribe(t.Context(), q, test.view, "")
					if err != nil {
						t.Fatal(err)
					}
					defer sub.Close()
					first, _ := readUntil(t, sub, "heartbeat")
					server.Set(pods, beyond)
					changed, _ := readUntil(t, sub, "heartbeat")
					server.Set(pods, beyond)
					later, _ := readUntil(t, sub, "heartbeat")
					server.Set(pods, within)
					back, _ := readUntil(t, sub, "heartbeat")
					if all := first + changed + later + back; strings.Contains(all, "CANARY") {
						t.Errorf("got messages about hidden objects: %s", all)
					}
					if !strings.Contains(changed, test.removal) || strings.Contains(later, `"op"`) ||
						!strings.Contains(back, state) && test.view != stream.Changes {
						t.Errorf("want %s, then no change, then the object again; got %s, %s, %s", test.removal, changed, later, back)
					}
				})
			})
		}
	}
}

// If a link selects logs only by namespace and name, a guest can read the log of every matching pod, even if the link
// does not share the pod itself. If the link also requires labels or words for logs, the link must also share the pod,
// and the pod must have these labels or words.
// Invariant: I18.
func TestSharedLogsMatchParts(t *testing.T) {
	all := watch.Part{Resource: pods}
	logs := func(p watch.Part) watch.Part {
		p.Resource = pods + "/log"
		return p
	}
	for name, test := range map[string]struct {
		parts []watch.Part
		want  string
	}{
		"no logs":                  {[]watch.Part{all}, ""},
		"all":                      {[]watch.Part{all, logs(watch.Part{})}, "a/p a/r b/q"},
		"a namespace":              {[]watch.Part{all, logs(watch.Part{Namespaces: []string{"a"}})}, "a/p a/r"},
		"a namespace without pods": {[]watch.Part{logs(watch.Part{Namespaces: []string{"a"}})}, "a/p a/r"},
		"a namespace, and pods by labels": {
			[]watch.Part{{Resource: pods, Labels: "app=web"}, logs(watch.Part{Namespaces: []string{"a"}})}, "a/p a/r",
		},
		"a pod":    {[]watch.Part{all, logs(watch.Part{Namespaces: []string{"a"}, Name: "r"})}, "a/r"},
		"labels":   {[]watch.Part{all, logs(watch.Part{Labels: "app=web"})}, "a/p b/q"},
		"text":     {[]watch.Part{all, logs(watch.Part{Text: "failed"})}, "a/r"},
		"severity": {[]watch.Part{all, logs(watch.Part{Text: "is:failing"})}, "a/r"},
		"labels, and pods in a namespace": {
			[]watch.Part{{Resource: pods, Namespaces: []string{"a"}}, logs(watch.Part{Labels: "app=web"})}, "a/p",
		},
		"labels, and pods with other text": {
			[]watch.Part{{Resource: pods, Text: "failed"}, logs(watch.Part{Labels: "app=web"})}, "",
		},
		"labels without pods": {[]watch.Part{logs(watch.Part{Labels: "app=web"})}, ""},
		"labels and text, and pods by labels": {
			[]watch.Part{{Resource: pods, Labels: "app=web"}, logs(watch.Part{Labels: "app=web", Text: "running"})},
			"a/p b/q",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster := serveCluster(t)
				server.Set(
					pods,
					labelled(pod("a", "p", "Running"), "web"),
					pod("a", "r", "Failed"),
					labelled(pod("b", "q", "Running"), "web"),
				)
				access := cluster.For(sharedWith(test.parts...))
				var got []string
				for _, key := range []string{"a/none", "a/p", "a/r", "b/q"} {
					ns, pod, _ := strings.Cut(key, "/")
					server.Handle(
						"/api/v1/namespaces/"+ns+"/pods/"+pod+"/log",
						func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "a line\n") },
					)
					body, err := access.Logs(t.Context(), ns, pod, watch.LogOptions{})
					if err != nil {
						wantProblem(t, err, status.Refused, "Forbidden", "The share link does not include the requested data.")
						continue
					}
					if text, err := io.ReadAll(body); err != nil || string(text) != "a line\n" {
						t.Errorf("log of %s: got %q, error %v", key, text, err)
					}
					_ = body.Close()
					// Ignore the pod "none", which does not exist. A guest can read its log only if the link shares all logs of
					// the namespace.
					if pod != "none" {
						got = append(got, key)
					}
				}
				if strings.Join(got, " ") != test.want {
					t.Errorf("got readable logs of %s, want %s", got, test.want)
				}
			})
		})
	}
}

// Viewers of a share link get the Events whose regarding object is shared, but no Event whose text only contains the
// name of this object.
// Invariant: I18.
func TestSharedEventsRegardObject(t *testing.T) {
	const events = "core/v1/events"
	event := func(name, about, text string) apitest.Item {
		return apitest.Item{
			Namespace: "a",
			Name:      name,
			Cells:     fmt.Sprintf(`["5s",%q,%q]`, about, text),
			Rest:      fmt.Sprintf(`"message":%q`, text),
		}
	}
	for viewName, view := range map[string]stream.View{
		"rows":    stream.Rows,
		"table":   stream.Table,
		"changes": stream.Changes,
		"object":  stream.Object,
		"window":  stream.Windowed,
	} {
		t.Run(viewName, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster := serveCluster(t)
				server.AddKind(apitest.Kind{
					Ref:  events,
					Kind: "Event",
					Columns: `[{"name":"Last Seen","type":"string"},{"name":"Object","type":"string"},` +
						`{"name":"Message","type":"string"}]`,
				})
				set := func(n int) {
					server.Set(events, event("own", "pod/web", fmt.Sprint("own ", n)))
					for name, about := range map[string]string{
						"longer": "pod/web-1",
						"other":  "replicaset/web",
						"more":   "xpod/web",
						"text":   "node/n",
						"none":   "",
					} {
						server.Set(events, event(name, about, fmt.Sprint("CANARY pod/web ", n)))
					}
				}
				set(0)
				advance(3 * time.Second)
				access := cluster.For(sharedWith(
					watch.Part{Resource: pods, Namespaces: []string{"a"}, Name: "web"},
					watch.Part{Resource: events, Namespaces: []string{"a"}, Regarding: "pod/web"},
				))
				snapshot, err := access.Snapshot(t.Context(), query.Query{Resource: events}, time.Second)
				if err != nil || len(snapshot.Objects) != 1 || snapshot.Total != 1 ||
					snapshot.Objects[0].Name() != "own" {
					t.Errorf("Snapshot as a guest: got %+v, error %v, want only the event of the shared object", snapshot, err)
				}
				if _, err := access.Object(t.Context(), events, "a", "own"); err != nil {
					t.Errorf("event of the shared object: got error %v", err)
				}
				for _, name := range []string{"longer", "other", "more", "text", "none", "no-such"} {
					_, err := access.Object(t.Context(), events, "a", name)
					wantProblem(t, err, status.Refused, "Forbidden", "The share link does not include the requested data.")
				}
				q := query.Query{Resource: events}
				if view == stream.Windowed {
					if q.Window, err = query.NewWindow("", 0, 10); err != nil {
						t.Fatal(err)
					}
				}
				if view == stream.Object {
					q.Namespaces, q.Name = []string{"a"}, "own"
				}
				sub, err := access.Subscribe(t.Context(), q, view, "")
				if err != nil {
					t.Fatal(err)
				}
				defer sub.Close()
				first, _ := readUntil(t, sub, "heartbeat")
				set(1)
				changed, _ := readUntil(t, sub, "heartbeat")
				set(2)
				later, _ := readUntil(t, sub, "heartbeat")
				all := first + changed + later
				if !strings.Contains(all, "own 2") && view != stream.Changes || strings.Contains(all, "CANARY") {
					t.Errorf("messages to a guest: got %s", all)
				}
			})
		})
	}
}

// A link that shares the Events of deployment.apps/web shares no Events of a Deployment in another API group.
// Invariant: I18.
func TestSharedEventsOfAGroup(t *testing.T) {
	const events = "core/v1/events"
	regarding := map[string]string{
		"own":       `"involvedObject":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"}`,
		"own-later": `"regarding":{"apiVersion":"apps/v1beta1","kind":"Deployment","name":"web"}`,
		"others":    `"involvedObject":{"apiVersion":"other.example.com/v1","kind":"Deployment","name":"web"}`,
		"core":      `"involvedObject":{"apiVersion":"v1","kind":"Deployment","name":"web"}`,
		"unsaid":    `"involvedObject":{"kind":"Deployment","name":"web"}`,
		"odd":       `"involvedObject":{"apiVersion":["apps/v1"],"kind":"Deployment","name":"web"}`,
	}
	for about, want := range map[string]string{
		"deployment.apps/web": "own own-later", "deployment.other.example.com/web": "others",
		"deployment.core/web": "core unsaid",
		"deployment/web":      "core odd others own own-later unsaid", "deployment.example.com/web": "",
		"deployment.apps/w": "",
	} {
		t.Run(about, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster := serveCluster(t)
				server.AddKind(apitest.Kind{
					Ref:     events,
					Kind:    "Event",
					Columns: `[{"name":"Object","type":"string"},{"name":"Message","type":"string"}]`,
				})
				set := func(n int) {
					for name, member := range regarding {
						server.Set(
							events,
							apitest.Item{
								Namespace: "a",
								Name:      name,
								Cells:     fmt.Sprintf(`["deployment/web","of %s %d"]`, name, n),
								Rest:      member,
							},
						)
					}
				}
				set(0)
				advance(3 * time.Second)
				access := cluster.For(sharedWith(watch.Part{Resource: events, Namespaces: []string{"a"}, Regarding: about}))
				sub, err := access.Subscribe(t.Context(), query.Query{Resource: events}, stream.Rows, "")
				if err != nil {
					t.Fatal(err)
				}
				defer sub.Close()
				readUntil(t, sub, "heartbeat")
				set(1)
				messages, _ := readUntil(t, sub, "heartbeat")
				var read, received []string
				for _, name := range slices.Sorted(maps.Keys(regarding)) {
					if _, err := access.Object(t.Context(), events, "a", name); err == nil {
						read = append(read, name)
					} else {
						wantProblem(t, err, status.Refused, "Forbidden", "The share link does not include the requested data.")
					}
					if strings.Contains(messages, "of "+name+" 1") {
						received = append(received, name)
					}
				}
				snapshot, err := access.Snapshot(t.Context(), query.Query{Resource: events}, time.Second)
				if err != nil {
					t.Fatal(err)
				}
				listed := strings.ReplaceAll(keysOf(snapshot), "a/", "")
				if strings.Join(read, " ") != want || strings.Join(received, " ") != want || listed != want {
					t.Errorf("guest: got %s from Object, %s from messages, %s from Snapshot; want %s", read, received, listed, want)
				}
			})
		})
	}
}

// A followed log ends within 15 s after its pod no longer matches the share link.
// Invariant: I18.
func TestLogEndsWhenPodLeavesShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, labelled(pod("a", "p", "Running"), "web"))
		server.Handle("/api/v1/namespaces/a/pods/p/log", func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "a line\n")
			w.(http.Flusher).Flush() //nolint:errcheck,forcetypeassert // The server's writer is a Flusher.
			<-r.Context().Done()
		})
		viewer := sharedWith(watch.Part{Resource: pods}, watch.Part{Resource: pods + "/log", Labels: "app=web"})
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		defer cancel()
		body, err := cluster.For(viewer).Logs(ctx, "a", "p", watch.LogOptions{Follow: true})
		if err != nil {
			t.Fatal(err)
		}
		defer body.Close() //nolint:errcheck // The body is read to its end.
		const duration = time.Minute
		began := time.Now()
		left := time.AfterFunc(duration, func() { server.Set(pods, labelled(pod("a", "p", "Running"), "db")) })
		defer left.Stop()
		text, err := io.ReadAll(body)
		wantProblem(t, err, status.Refused, "Forbidden", "The share link does not include the requested data.")
		if passed := time.Since(began); passed < duration || passed > duration+15*time.Second || string(text) != "a line\n" {
			t.Errorf("got %q after %s", text, passed)
		}
	})
}

// While no watch provides the current pods, the program requests the pod of a shared log from the API server, to check
// whether its labels still match the link.
// Invariant: I18.
func TestSharedLogWithoutLivePods(t *testing.T) {
	const duration = time.Minute
	byLabels := watch.Part{Resource: pods + "/log", Labels: "app=web"}
	for name, test := range map[string]struct {
		parts      []watch.Part
		leave      func(*apitest.Server)
		endsAtOnce bool
		cause      status.Cause
		title      string
	}{
		"labels": {
			[]watch.Part{{Resource: pods}, byLabels},
			func(server *apitest.Server) { server.Set(pods, labelled(pod("a", "p", "Running"), "db")) }, false,
			status.Refused, "Forbidden",
		},
		"labels of shared pods": {
			[]watch.Part{
				{Resource: pods, Labels: "app in (web,other)"}, {Resource: pods + "/log", Labels: "app in (web,db)"},
			},
			func(server *apitest.Server) { server.Set(pods, labelled(pod("a", "p", "Running"), "db")) }, false,
			status.Refused, "Forbidden",
		},
		// The words of a share link apply to table rows, not to objects, so the program ends the log within 15 s.
		"text": {
			[]watch.Part{{Resource: pods}, {Resource: pods + "/log", Text: "running"}},
			nil, true, status.Unavailable,
			"Not known yet",
		},
		"text of shared pods": {
			[]watch.Part{{Resource: pods, Text: "running"}, byLabels}, nil, true, status.Unavailable, "Not known yet",
		},
		"deleted pod": {
			[]watch.Part{{Resource: pods}, byLabels},
			func(server *apitest.Server) { server.Delete(pods, "a", "p") }, false, status.Unknown, "Not found",
		},
		"API server does not respond": {
			[]watch.Part{{Resource: pods}, byLabels},
			func(server *apitest.Server) { server.Hang("/api/v1/namespaces/a/pods/p") }, false, status.Unavailable,
			"The API server does not respond",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster := serveCluster(t)
				server.Set(pods, labelled(pod("a", "p", "Running"), "web"))
				server.Handle("/api/v1/namespaces/a/pods/p/log", func(w http.ResponseWriter, r *http.Request) {
					w.(http.Flusher).Flush() //nolint:errcheck,forcetypeassert // The server's writer is a Flusher.
					<-r.Context().Done()
				})
				r := subscribe(t, cluster, query.Query{Resource: pods}, "")
				r.settle()
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
				defer cancel()
				body, err := cluster.For(sharedWith(test.parts...)).Logs(ctx, "a", "p", watch.LogOptions{Follow: true})
				if err != nil {
					t.Fatal(err)
				}
				defer body.Close() //nolint:errcheck // The body is read to its end.
				server.Refuse(pods, "", http.StatusInternalServerError, "no lists today")
				began, minimum := time.Now(), time.Duration(0)
				if !test.endsAtOnce {
					minimum = duration
					left := time.AfterFunc(duration, func() { test.leave(server) })
					defer left.Stop()
				}
				_, err = io.ReadAll(body)
				wantProblem(t, err, test.cause, test.title, "")
				if passed := time.Since(began); passed < minimum || passed > minimum+15*time.Second {
					t.Errorf("log ended after %s, want within 15 s after the minimum", passed)
				}
			})
		})
	}
}

// Before the first list of a resource, the program cannot know whether a share link includes an object. The cause of
// the error is then Unavailable, not Refused.
// Invariant: I18.
func TestUnknownShareIsUnavailable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, labelled(pod("a", "p", "Running"), "web"))
		server.HangStreamingLists(pods)
		access := cluster.For(sharedWith(watch.Part{Resource: pods, Labels: "app=web"}))
		for _, name := range []string{"p", "none"} {
			_, err := access.Object(t.Context(), pods, "a", name)
			wantProblem(t, err, status.Unavailable, "Not known yet", "The list of Pods")
		}
	})
}

// Without a watch, the labels of a cached object can be outdated. The program then requests the object, to check
// whether the share link still includes it.
// Invariant: I18.
func TestUnwatchedObjectLeavesShare(t *testing.T) {
	const deployments = "apps/v1/deployments"
	for name, part := range map[string]watch.Part{
		"labels": {Labels: "app=web"}, "text": {Text: "running"}, "both": {Labels: "app=web", Text: "running"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster := serveCluster(t)
				server.AddKind(apitest.Kind{
					Ref:     deployments,
					Kind:    "Deployment",
					Columns: `[{"name":"Name","type":"string"},{"name":"Status","type":"string"}]`,
					Verbs:   []string{"get", "list"},
				})
				server.Set(deployments, labelled(pod("a", "it", "Running"), "web"))
				r := subscribe(t, cluster, query.Query{Resource: deployments}, "")
				if r.settle(); r.state != "stale" {
					t.Fatalf("got state %s, want stale because the resource is not watchable", r.state)
				}
				part.Resource = deployments
				access := cluster.For(sharedWith(part))
				byWords := part.Text != ""
				read := func(hasLeft bool) {
					t.Helper()
					object, err := access.Object(t.Context(), deployments, "a", "it")
					last, current, errLast := access.LastKnown(t.Context(), deployments, "a", "it")
					if strings.Contains(string(object)+string(last), "CANARY") {
						t.Errorf("got messages about what is not shared: %s, %s", object, last)
					}
					switch {
					// A request to the API server returns no row, so Object cannot check the words that the link requires, and
					// returns an error. LastKnown still returns the cached version.
					case byWords:
						wantProblem(t, err, status.Unavailable, "Not known yet", "whether the link includes this object")
						if errLast != nil || current.State != status.Stale || !strings.Contains(string(last), "Running") {
							t.Errorf("LastKnown: got %s, status %+v, error %v; want the former object, stale", last, current, errLast)
						}
					case hasLeft:
						wantProblem(t, err, status.Refused, "Forbidden", "The share link does not include the requested data.")
						wantProblem(t, errLast, status.Refused, "Forbidden", "The share link does not include the requested data.")
					case err != nil || errLast != nil || current.State != status.Live ||
						!strings.Contains(string(object), "Running"):
						t.Errorf("Object: got %s, error %v; LastKnown: got status %+v, error %v; want the live object",
							object, err, current, errLast)
					}
				}
				read(false)
				server.Set(deployments, labelled(pod("a", "it", "CANARY"), "db"))
				read(true)
			})
		})
	}
}

// The accounted size of the cache of encoded values includes the copies of objects that are masked for guests.
// Invariant: I14.
func TestCacheSizeIncludesMaskedChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		set := func(n int) {
			p := pod("a", "p", fmt.Sprint("S", n))
			p.Rest = fmt.Sprintf(`"spec":{"note":%q,"n":%d}`, strings.Repeat("x", 300_000), n)
			server.Set(pods, p)
		}
		set(0)
		sub, err := cluster.For(sharedWith(watch.Part{Resource: pods})).Subscribe(
			t.Context(), query.Query{Resource: pods}, stream.Changes, "",
		)
		if err != nil {
			t.Fatal(err)
		}
		defer sub.Close()
		readUntil(t, sub, "heartbeat")
		for n := range 100 {
			set(n + 1)
			readUntil(t, sub, "events")
		}
		values, accounted := cluster.CachedValues()
		changes, objectBytes := 0, 0 // The number of masked changes in the cache, and the size of their objects.
		for _, value := range values {
			if masked, ok := value.(*event.Change); ok {
				changes++
				for _, o := range []*compact.Object{masked.Old, masked.New} {
					if o != nil {
						objectBytes += o.Size()
					}
				}
			}
		}
		if changes == 0 || accounted < objectBytes || accounted > 5<<20 {
			t.Errorf(
				"got %d changes with %d bytes in memory, accounted as %d bytes; want at most 4 MiB and the last change",
				changes, objectBytes, accounted,
			)
		}
	})
}

// Users and viewers of share links get the same changes, no matter which of them reads a change first. When a reader
// has applied all patches, its copy equals the current object.
// Invariant: I15.
func TestGuestsAndUsersReadSameChanges(t *testing.T) {
	const configmaps = "core/v1/configmaps"
	for _, guestFirst := range []bool{true, false} {
		for _, view := range []stream.View{stream.Object, stream.Changes} {
			t.Run(fmt.Sprintf("%s, guest first %t", view, guestFirst), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server, cluster := serveCluster(t)
					server.AddKind(apitest.Kind{
						Ref:     configmaps,
						Kind:    "ConfigMap",
						Columns: `[{"name":"Name","type":"string","format":"name"}]`,
					})
					set := func(data string) {
						server.Set(
							configmaps,
							apitest.Item{Namespace: "a", Name: "it", Cells: `["it"]`, Rest: `"data":{` + data + `}`},
						)
					}
					set(`"k":"CANARY0"`)
					advance(3 * time.Second)
					readers := map[bool]*objectReader{}
					for guest, viewer := range map[bool]watch.Viewer{
						false: {Program: true}, true: sharedWith(watch.Part{Resource: configmaps}),
					} {
						access := cluster.For(viewer)
						sub, err := access.Subscribe(
							t.Context(),
							query.Query{Resource: configmaps, Namespaces: []string{"a"}, Name: "it"},
							view,
							"",
						)
						if err != nil {
							t.Fatal(err)
						}
						defer sub.Close()
						readers[guest] = &objectReader{access: access, sub: sub}
						readers[guest].read(t)
					}
					for _, data := range []string{
						`"k":"CANARY1"`, `"k":"CANARY2"`, `"k":"CANARY2","other":"CANARY3"`, `"other":"CANARY3"`,
					} {
						set(data)
						synctest.Wait()
						for _, guest := range []bool{guestFirst, !guestFirst} {
							readers[guest].read(t)
							current, err := readers[guest].access.Object(t.Context(), configmaps, "a", "it")
							if copied := strings.ReplaceAll(
								string(readers[guest].text), "(masked, changed)", "(masked)",
							); err != nil || !jsonpatch.Equal([]byte(copied), current) {
								t.Errorf("guest %t: the reader's copy is %s, the object is %s, error %v", guest, copied, current, err)
							}
						}
					}
					if messages := readers[true].messages; strings.Contains(messages, "CANARY") ||
						strings.Count(messages, "(masked, changed)") != 2 {
						t.Errorf("messages to a guest: got %s", messages)
					}
					if messages := readers[false].messages; !strings.Contains(messages, "CANARY3") ||
						strings.Contains(messages, "(masked") {
						t.Errorf("messages to a user with all permissions: got %s", messages)
					}
				})
			})
		}
	}
}

type objectReader struct {
	access   *watch.Access
	sub      *watch.Subscription
	messages string
	text     []byte
}

func (o *objectReader) read(t *testing.T) {
	t.Helper()
	all, m := readUntil(t, o.sub, "snapshot", "events")
	o.messages += all
	if m.Object != nil {
		o.text = m.Object
	}
	for _, e := range m.Events {
		patch, err := jsonpatch.DecodePatch(e.Patch)
		if err == nil {
			o.text, err = patch.Apply(o.text)
		}
		if err != nil {
			t.Fatalf("apply patch %s to %s: %v", e.Patch, o.text, err)
		}
	}
}

// A guest (a viewer of a share link) does not get the names of the namespaces for which the creator of the link has
// permissions.
// Invariant: I18.
func TestGuestsSeeNoOtherNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(
			pods, labelled(pod("a", "p", "Running"), "web"), labelled(pod("secret-project", "q", "Running"), "db"),
		)
		server.Allow(func(spec authorization.SubjectAccessReviewSpec) bool {
			return slices.Contains([]string{"a", "secret-project"}, spec.ResourceAttributes.Namespace)
		})
		for _, test := range []struct {
			part       watch.Part
			namespaces []string
			reason     string
		}{
			{watch.Part{Resource: pods, Labels: "app=web"}, nil, ""},
			{watch.Part{Resource: pods, Namespaces: []string{"a"}}, []string{"a"}, "this link includes no other namespaces."},
		} {
			guest := watch.Viewer{User: &authz.User{Name: "ann"}, Scope: &watch.Scope{Parts: []watch.Part{test.part}}}
			sub, err := cluster.For(guest).Subscribe(t.Context(), query.Query{Resource: pods}, stream.Rows, "")
			if err != nil {
				t.Fatal(err)
			}
			all, _ := readUntil(t, sub, "snapshot")
			sub.Close()
			snapshot, err := cluster.For(guest).Snapshot(t.Context(), query.Query{Resource: pods}, time.Second)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(all, "secret") || !strings.Contains(all, `"p"`) ||
				test.reason != "" && !strings.Contains(all, test.reason) {
				t.Errorf("share %+v: got messages %s", test.part, all)
			}
			if s := snapshot.Status; !slices.Equal(s.Namespaces, test.namespaces) || s.Reason != test.reason ||
				len(snapshot.Objects) != 1 {
				t.Errorf("share %+v: got a snapshot with status %+v and %d objects", test.part, s, len(snapshot.Objects))
			}
		}
	})
}
