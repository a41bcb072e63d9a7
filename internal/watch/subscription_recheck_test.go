package watch_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"

	authorization "k8s.io/api/authorization/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
)

func openAs(t *testing.T, access *watch.Access, q query.Query, view stream.View) *watch.Subscription {
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
		t.Fatal(err)
	}
	t.Cleanup(sub.Close)
	return sub
}

func awaitText(t *testing.T, sub *watch.Subscription, text string) time.Duration {
	t.Helper()
	began := time.Now()
	var messages strings.Builder
	for time.Since(began) < 3*time.Minute {
		message, err := sub.Next(t.Context())
		if err != nil {
			t.Fatalf("Next: got error %v after the messages %s", err, messages.String())
		}
		if messages.Write(message); strings.Contains(string(message), text) {
			return time.Since(began)
		}
		messages.WriteByte('\n')
	}
	t.Errorf("never got %s:\n%s", text, messages.String())
	return 0
}

// Permissions are rechecked every 10 s, even while hidden objects change constantly.
// Invariant: I18.
func TestPermissionsAreRecheckedInTime(t *testing.T) {
	for _, busy := range []bool{false, true} {
		for _, view := range []stream.View{stream.Rows, stream.Table, stream.Windowed, stream.Changes} {
			t.Run(fmt.Sprintf("%s, busy %t", view, busy), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server, cluster, _ := newGuardedCluster(t)
					sub := openAs(t, cluster.For(user("ann")), query.Query{Resource: pods}, view)
					awaitText(t, sub, `"live"`)
					server.Allow(nil)
					ended := make(chan struct{})
					go func() {
						defer close(ended)
						for n := 0; busy && n < 300; n++ {
							server.Set(pods, pod("b", "q", strings.Repeat("x", n)))
							<-time.After(50 * time.Millisecond)
						}
					}()
					if passed := awaitText(t, sub, `"forbidden"`); passed > 12*time.Second {
						t.Errorf("hidden objects were sent for %s, want at most 12 s", passed)
					}
					<-ended
				})
			})
		}
	}
}

// A cached decision can allow a read after the permission was revoked. The reader then loses access within 15 s.
// Invariant: I18.
func TestPermissionRevokedBeforeRead(t *testing.T) {
	for name, read := range map[string]func(*testing.T, *watch.Access){
		"a subscription": func(t *testing.T, access *watch.Access) {
			t.Helper()
			awaitText(t, openAs(t, access, query.Query{Resource: pods}, stream.Rows), `"forbidden"`)
		},
		"a log": func(t *testing.T, access *watch.Access) {
			t.Helper()
			body, err := access.Logs(t.Context(), "a", "p", watch.LogOptions{Follow: true})
			if err == nil {
				_, err = io.ReadAll(body)
				_ = body.Close()
			}
			wantProblem(t, err, status.Refused, "Forbidden", "You cannot get pods/log")
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster, _ := newGuardedCluster(t)
				server.Handle("/api/v1/namespaces/a/pods/p/log", func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.WriteString(w, "a line\n")
					w.(http.Flusher).Flush() //nolint:errcheck,forcetypeassert // The server's writer is a Flusher.
					<-r.Context().Done()
				})
				ann := cluster.For(user("ann"))
				openAs(t, ann, query.Query{Resource: pods}, stream.Rows)
				body, err := ann.Logs(t.Context(), "a", "p", watch.LogOptions{})
				if err != nil {
					t.Fatal(err)
				}
				_ = body.Close()
				server.Allow(nil)
				began := time.Now()
				advance(9 * time.Second)
				read(t, ann)
				if passed := time.Since(began); passed > 15*time.Second {
					t.Errorf("hidden data was sent for %s, want at most 15 s", passed)
				}
			})
		})
	}
}

// After a permission is revoked or the readers are reset, StillValid is false within 15 s. The rest of a long message
// is then not sent.
// Invariant: I44.
func TestMessageStaysValidWithPermission(t *testing.T) {
	for name, revoke := range map[string]func(*apitest.Server, *watch.Cluster){
		"the list is forbidden": func(server *apitest.Server, _ *watch.Cluster) { server.Allow(nil) },
		"readers are reset": func(_ *apitest.Server, cluster *watch.Cluster) {
			cluster.Informer(pods).Faults().ResetReaders()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster, _ := newGuardedCluster(t)
				sub := openAs(
					t, cluster.For(user("ann")),
					query.Query{Resource: pods, Namespaces: []string{"a"}, Name: "p"},
					stream.Object,
				)
				awaitText(t, sub, `"snapshot"`)
				for range 60 {
					advance(time.Second)
					if !sub.StillValid(t.Context()) {
						t.Fatal("StillValid: got false for a permitted message")
					}
				}
				revoke(server, cluster)
				began := time.Now()
				for sub.StillValid(t.Context()) && time.Since(began) < time.Minute {
					advance(time.Second)
				}
				if passed := time.Since(began); passed > 15*time.Second {
					t.Errorf("StillValid: got true for %s, want at most 15 s", passed)
				}
				awaitText(t, sub, `"reset"`)
			})
		})
	}
}

// A reader that missed a part of a message gets a reset, because later patches would not fit its data.
// Invariant: I6.
func TestIncompleteMessageCausesReset(t *testing.T) {
	for _, outage := range []time.Duration{0, 12 * time.Second} {
		for _, view := range []stream.View{stream.Rows, stream.Table, stream.Windowed, stream.Object} {
			t.Run(fmt.Sprintf("%s, reviews unavailable for %s more", view, outage), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server, cluster, _ := newGuardedCluster(t)
					q := query.Query{Resource: pods, Namespaces: []string{"a"}}
					if view == stream.Object {
						q.Name = "p"
					}
					sub := openAs(t, cluster.For(user("ann")), q, view)
					awaitText(t, sub, "Running")
					server.Set(pods, pod("a", "p", "Failed"))
					awaitText(t, sub, "Failed")
					server.MakeUnavailable(apitest.UserReviewsPath, "not now")
					advance(12 * time.Second)
					if sub.StillValid(t.Context()) {
						t.Fatal("StillValid: got true with an unknown permission")
					}
					time.AfterFunc(outage, func() { server.FailPath(apitest.UserReviewsPath, 0, "") })
					synctest.Wait()
					server.Set(pods, pod("a", "p", "Again"))
					var messages strings.Builder
					for began := time.Now(); !strings.Contains(messages.String(), "Again") &&
						time.Since(began) < time.Minute; {
						message, err := sub.Next(t.Context())
						if err != nil {
							t.Fatal(err)
						}
						messages.Write(message)
						messages.WriteByte('\n')
					}
					reset, again := strings.Index(messages.String(), `"reset"`), strings.Index(messages.String(), "Again")
					if reset < 0 || again < reset || strings.Count(messages.String(), `"reset"`) > 1 {
						t.Errorf("reader with a partial message: want one reset and then the change, got\n%s", messages.String())
					}
				})
			})
		}
	}
}

// Changes are not lost while a window (a range of sorted rows) waits for the lock of its sorted list.
// Invariant: I10.
func TestWindowWaitsForRankingLock(t *testing.T) {
	for name, viewer := range map[string]watch.Viewer{"user": user("all"), "program": {Program: true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster, _ := newGuardedCluster(t)
				sub := openAs(t, cluster.For(viewer), query.Query{Resource: pods}, stream.Windowed)
				awaitText(t, sub, `"rows"`)
				release := sub.Reader().LockRanking(t.Context())
				server.Set(pods, pod("a", "p", "Failed"))
				if viewer.Program {
					ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
					defer cancel()
					for ctx.Err() == nil {
						_, _ = sub.Next(ctx)
					}
					release()
				} else {
					time.AfterFunc(12*time.Second, release)
				}
				if passed := awaitText(t, sub, "Failed"); passed > 13*time.Second {
					t.Errorf("change sent after %s, want at most 13 s", passed)
				}
			})
		})
	}
}

// If the context of Next ends during the computation of a digest, a later call returns the digest.
func TestDigestSurvivesItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, cluster, _ := newGuardedCluster(t)
		sub := openAs(t, cluster.For(watch.Viewer{Program: true}), query.Query{Resource: pods}, stream.Rows)
		awaitText(t, sub, `"digest"`)
		release := sub.Reader().BlockDigest(t.Context())
		ctx, cancel := context.WithTimeout(t.Context(), 61*time.Second)
		defer cancel()
		for ctx.Err() == nil {
			if message, _ := sub.Next(ctx); strings.Contains(string(message), `"digest"`) {
				t.Fatal("digest was not delayed by the access review")
			}
		}
		release()
		if passed := awaitText(t, sub, `"digest"`); passed > time.Second {
			t.Errorf("digest sent after %s, want at most 1 s", passed)
		}
	})
}

// If a resource is removed and added again, users' subscriptions get the same states as those of the program.
// Invariant: I18.
func TestRemovedResourceOfUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster, _ := newGuardedCluster(t)
		program := subscribe(t, cluster, query.Query{}, "")
		all := subscribeAs(t, cluster.For(user("all")), query.Query{Resource: pods}, stream.Rows, "")
		program.settle()
		all.settle()
		server.RemoveKind(pods)
		advance(time.Minute)
		program.settle()
		all.settle()
		if program.state != "absent" || all.state != program.state || all.reason != program.reason ||
			len(all.rows) > 0 {
			t.Errorf(
				"user: got state %s (%s), program: got state %s (%s); want absent for both",
				all.state, all.reason, program.state, program.reason,
			)
		}
		server.AddKind(kinds()[0])
		server.Set(pods, pod("a", "p", "Running"))
		advance(time.Minute)
		all.settle()
		all.wantLive(1)
	})
}

// Invariant: I18.
func TestUserSeesPermittedPartOfOversizedResource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := newBudgetedCluster(t)
		for n := range 60 {
			server.Set(widgets, bigItem("a", fmt.Sprint("w", n), 40<<10))
		}
		server.Set(widgets, bigItem("b", "small", 1<<10))
		server.Allow(func(spec authorization.SubjectAccessReviewSpec) bool {
			return spec.ResourceAttributes.Namespace == "b"
		})
		all := subscribe(t, cluster, query.Query{Resource: widgets}, "")
		all.settle()
		if all.state != "failed" {
			t.Fatalf("all namespaces: got state %s, want failed", all.state)
		}
		r := subscribeAs(t, cluster.For(user("ann")), query.Query{Resource: widgets}, stream.Rows, "")
		r.settle()
		r.wantLive(1)
	})
}

// If a deleted namespace is still in the list of namespaces, only queries that name this namespace fail.
func TestUnnamedNamespaceCausesNoError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Allow(func(spec authorization.SubjectAccessReviewSpec) bool {
			return spec.ResourceAttributes.Namespace != "" || spec.ResourceAttributes.Resource == "namespaces"
		})
		server.FailPath("/api/v1/namespaces/a", http.StatusNotFound, "gone")
		ann := cluster.For(user("ann"))
		if snapshot, err := ann.Snapshot(t.Context(), query.Query{Resource: pods}, time.Minute); err != nil ||
			!snapshot.Synced {
			t.Errorf("Snapshot of all namespaces: got %v, error %v, want a synced one", snapshot, err)
		}
		r := subscribeAs(t, ann, query.Query{Resource: pods}, stream.Rows, "")
		r.settle()
		r.wantLive(0)
		_, err := ann.Snapshot(t.Context(), query.Query{Resource: pods, Namespaces: []string{"a"}}, time.Minute)
		wantProblem(t, err, status.Unknown, "Unknown namespace", `"a"`)
	})
}

// If access reviews get no response, the state is not live after 20 s, even with 300 namespaces.
// Invariant: I18.
func TestStaleWhileReviewsHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		for n := range 300 {
			server.Set(namespaces, apitest.Item{Name: fmt.Sprint("n", n)})
		}
		server.Set(pods, pod("n0", "p", "Running"))
		server.Allow(func(spec authorization.SubjectAccessReviewSpec) bool {
			return spec.ResourceAttributes.Namespace != ""
		})
		r := subscribeAs(t, cluster.For(user("ann")), query.Query{Resource: pods}, stream.Rows, "")
		r.settle()
		r.wantLive(1)
		server.Hang(apitest.UserReviewsPath)
		began := time.Now()
		for r.state == "live" && time.Since(began) < 5*time.Minute {
			r.next()
		}
		if passed := time.Since(began); passed > 20*time.Second {
			t.Errorf("got state %s after %s, want a change within 20 s", r.state, passed)
		}
	})
}

// While access reviews get no response, users get no counts, no states and no watch status. Each response to a user
// takes at most 3 seconds.
// Invariant: I18.
func TestResourcesWhileReviewsHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster, _ := newGuardedCluster(t)
		for n := range 8 {
			server.AddKind(apitest.Kind{
				Ref: fmt.Sprintf("example.com/v1/k%d", n), Kind: "K", Columns: `[{"name":"Name","type":"string"}]`,
			})
		}
		advance(30 * time.Second)
		_, _, _ = cluster.For(watch.Viewer{Program: true}).Resources().List(t.Context(), 10*time.Second)
		for n := range 8 {
			r := subscribe(t, cluster, query.Query{Resource: fmt.Sprintf("example.com/v1/k%d", n)}, "")
			r.settle()
		}
		server.Hang(apitest.UserReviewsPath)
		all := cluster.For(user("all"))
		wantSoon := func(name string, read func()) {
			began := time.Now()
			if read(); time.Since(began) > 3*time.Second {
				t.Errorf("%s: took %s, want at most 3 s", name, time.Since(began))
			}
		}
		wantSoon("Resources", func() {
			known, _, err := all.Resources().List(t.Context(), 0)
			if err != nil || len(known) != 10 {
				t.Errorf("Resources: got %d, error %v, want 10", len(known), err)
			}
			for _, k := range known {
				if k.Count != nil || k.Status != nil {
					t.Errorf("Resources: got a count or status of %s, want none", k.Ref())
				}
			}
		})
		wantSoon("counts", func() {
			if counts, _ := all.Resources().Counts(t.Context()); len(counts) > 0 {
				t.Errorf("Counts: got %v, want none", counts)
			}
		})
		wantSoon("WatchStatus", func() {
			if entries := all.WatchStatus(t.Context()).Entries; len(entries) > 0 {
				t.Errorf("WatchStatus: got %v, want none", entries)
			}
		})
		wantSoon("Search", func() {
			found, err := all.Search(t.Context(), watch.SearchQuery{Text: "p", Limit: 10}, func(a, b *resource.Resource) int {
				return strings.Compare(a.Ref(), b.Ref())
			})
			if err != nil || len(found.Hits) > 0 || len(found.Searched) != 9 {
				t.Fatalf("Search: got %+v, error %v, want no hits", found, err)
			}
			for _, k := range found.Searched {
				if k.Count != nil || k.Status.State != status.Stale || k.Status.Reason == "" {
					t.Errorf("Search in %s: got status %+v, want stale without a count", k.Ref(), k.Status)
				}
			}
		})
	})
}

// If the program may not list namespaces, users see the kubeconfig's namespace. After any other failure of the list,
// users get the error Unavailable.
// Invariant: I18.
func TestUnknownNamespacesAreUnavailable(t *testing.T) {
	start := func(t *testing.T, defaultNamespace string) (*apitest.Server, *watch.Access) {
		t.Helper()
		server := apitest.New(t, kinds()...)
		server.Set(pods, pod("a", "p", "Running"))
		allow(server, "ann list pods a", "ann watch pods a")
		cluster := runClusterWith(
			t, server,
			watch.Options{Linger: time.Minute, Namespace: defaultNamespace, Log: slog.New(slog.NewTextHandler(t.Output(), nil))},
		)
		return server, cluster.For(user("ann"))
	}
	t.Run("refused", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			server, ann := start(t, "a")
			server.Refuse(namespaces, "", http.StatusForbidden, "no")
			server.Refuse(pods, "", http.StatusForbidden, "no")
			server.Refuse(pods, "a", 0, "")
			snapshot, err := ann.Snapshot(t.Context(), query.Query{Resource: pods}, time.Minute)
			if err != nil || keysOf(snapshot) != "a/p" {
				t.Errorf("Snapshot as ann: got %v, error %v, want a/p", snapshot, err)
			}
		})
	})
	t.Run("list forbidden and no namespace in the kubeconfig", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			server, ann := start(t, "")
			server.Refuse(namespaces, "", http.StatusForbidden, "no")
			_, err := ann.Snapshot(t.Context(), query.Query{Resource: pods}, time.Minute)
			wantProblem(t, err, status.Refused, "Forbidden", "nor in any known namespace")
		})
	})
	t.Run("namespaces not known yet", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			server, ann := start(t, "a")
			server.Refuse(namespaces, "", http.StatusInternalServerError, "not now")
			_, err := ann.Snapshot(t.Context(), query.Query{Resource: pods}, time.Minute)
			wantProblem(
				t, err, status.Unavailable, "Namespaces unknown", "Select namespaces with ns",
			)
		})
	})
}

// Invariant: I10.
func TestUsersHaveSeparateWindows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		for n := range 110 {
			server.Set(namespaces, apitest.Item{Name: fmt.Sprint("n", n)})
			server.Set(pods, pod(fmt.Sprint("n", n), "p", "Running"))
		}
		server.Allow(func(spec authorization.SubjectAccessReviewSpec) bool {
			return spec.ResourceAttributes.Namespace == spec.User
		})
		for n := range 110 {
			q := query.Query{Resource: pods, Namespaces: []string{fmt.Sprint("n", n)}}
			awaitText(t, openAs(t, cluster.For(user(q.Namespaces[0])), q, stream.Windowed), `"rows"`)
		}
		if orders := cluster.WatchStatus().Entries[0].OrderBytes; orders < 110*40 {
			t.Errorf("WatchStatus: got %d bytes of sort orders, want at least 4400", orders)
		}
	})
}
