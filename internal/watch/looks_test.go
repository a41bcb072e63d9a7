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

	authorization "k8s.io/api/authorization/v1"

	"glasshouse/internal/watch"
	"glasshouse/internal/watch/apitest"
)

// openAs opens a subscription in any view. A window starts at the first row.
func openAs(t *testing.T, access *watch.Access, q watch.Query, view watch.View) *watch.Subscription {
	t.Helper()
	if view == watch.Windowed {
		window, err := watch.NewWindow("", 0, 100)
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

// await reads messages until one contains text, and returns how long that took.
func await(t *testing.T, sub *watch.Subscription, text string) time.Duration {
	t.Helper()
	began := time.Now()
	var told strings.Builder
	for time.Since(began) < 3*time.Minute {
		message, err := sub.Next(t.Context())
		if err != nil {
			t.Fatalf("%v, after %s", err, told.String())
		}
		if told.Write(message); strings.Contains(string(message), text) {
			return time.Since(began)
		}
		told.WriteByte('\n')
	}
	t.Errorf("never told %s:\n%s", text, told.String())
	return 0
}

// Permissions are rechecked every 10 s, whether many objects change that the viewer may not see, or none.
func TestLooksAgainInTime(t *testing.T) {
	for _, busy := range []bool{false, true} {
		for _, view := range []watch.View{watch.Rows, watch.Table, watch.Windowed, watch.Changes} {
			synctest.Test(t, func(t *testing.T) {
				server, cluster, _ := guarded(t)
				sub := openAs(t, cluster.For(user("ann")), watch.Query{Resource: pods}, view)
				await(t, sub, `"live"`)
				server.Allow(nil) // This is before the first recheck, and long before the first heartbeat.
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					for n := 0; busy && n < 300; n++ {
						server.Set(pods, pod("b", "q", strings.Repeat("x", n)))
						<-time.After(50 * time.Millisecond)
					}
				}()
				if passed := await(t, sub, `"forbidden"`); passed > 12*time.Second {
					t.Errorf("view %s, busy %t: what may not be seen was there for %s", view, busy, passed)
				}
				<-ended
			})
		}
	}
}

// A permission is revoked just after its review, so the cached decision is wrong. A reader that starts then still loses
// access within 15 s, because the cached decision is not used for longer.
func TestRightLostBeforeLooking(t *testing.T) {
	for what, look := range map[string]func(*testing.T, *watch.Access){
		"a subscription": func(t *testing.T, access *watch.Access) {
			t.Helper()
			await(t, openAs(t, access, watch.Query{Resource: pods}, watch.Rows), `"forbidden"`)
		},
		"a log": func(t *testing.T, access *watch.Access) {
			t.Helper()
			body, err := access.Logs(t.Context(), "a", "p", watch.LogOptions{Follow: true})
			if err == nil {
				_, err = io.ReadAll(body)
				_ = body.Close()
			}
			wantProblem(t, err, watch.Refused, "Forbidden", "You cannot get pods/log")
		},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster, _ := guarded(t)
				server.Answer("/api/v1/namespaces/a/pods/p/log", func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.WriteString(w, "a line\n")
					w.(http.Flusher).Flush() //nolint:errcheck,forcetypeassert // The server's writer is a Flusher.
					<-r.Context().Done()
				})
				ann := cluster.For(user("ann"))
				openAs(t, ann, watch.Query{Resource: pods}, watch.Rows)
				body, err := ann.Logs(t.Context(), "a", "p", watch.LogOptions{})
				if err != nil {
					t.Fatal(err)
				}
				_ = body.Close()
				server.Allow(nil)
				began := time.Now()
				pass(9 * time.Second) // The decision in the cache is still valid for a single request.
				look(t, ann)
				if passed := time.Since(began); passed > 15*time.Second {
					t.Errorf("what may not be seen was there for %s", passed)
				}
			})
		})
	}
}

// While its viewer has the permission, a message may be sent, however long sending takes.
func TestWhatWasReadStands(t *testing.T) {
	for what, end := range map[string]func(*apitest.Server, *watch.Cluster){
		"a right that goes":            func(server *apitest.Server, _ *watch.Cluster) { server.Allow(nil) },
		"a past that is to be no more": func(_ *apitest.Server, cluster *watch.Cluster) { cluster.BeginAnew(pods) },
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster, _ := guarded(t)
				sub := openAs(
					t, cluster.For(user("ann")),
					watch.Query{Resource: pods, Namespaces: []string{"a"}, Name: "p"},
					watch.Object,
				)
				await(t, sub, `"snapshot"`)
				for range 60 {
					pass(time.Second)
					if !sub.Stands(t.Context()) {
						t.Fatal("it does not stand, and may be seen")
					}
				}
				end(server, cluster)
				began := time.Now()
				for sub.Stands(t.Context()) && time.Since(began) < time.Minute {
					pass(time.Second)
				}
				if passed := time.Since(began); passed > 15*time.Second {
					t.Errorf("it stands for %s", passed)
				}
				await(t, sub, `"reset"`)
			})
		})
	}
}

// A reader that did not receive a complete message gets a reset, because later messages would not fit its copy. This
// applies even if its permissions turn out to be unchanged.
func TestHalfAMessageIsNoBase(t *testing.T) {
	for _, away := range []time.Duration{0, 12 * time.Second} {
		for _, view := range []watch.View{watch.Rows, watch.Table, watch.Windowed, watch.Object} {
			t.Run(fmt.Sprintf("%s, reviews are away for %s more", view, away), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server, cluster, _ := guarded(t)
					query := watch.Query{Resource: pods, Namespaces: []string{"a"}}
					if view == watch.Object {
						query.Name = "p"
					}
					sub := openAs(t, cluster.For(user("ann")), query, view)
					await(t, sub, "Running")
					server.Set(pods, pod("a", "p", "Failed"))
					await(t, sub, "Failed")
					server.Break(apitest.UserReviews, "not now")
					pass(12 * time.Second) // Sending the message takes this long.
					if sub.Stands(t.Context()) {
						t.Fatal("it stands, and whether it may be seen is not known")
					}
					time.AfterFunc(away, func() { server.RefuseGet(apitest.UserReviews, 0, "") })
					synctest.Wait()
					server.Set(pods, pod("a", "p", "Again"))
					var told strings.Builder
					for began := time.Now(); !strings.Contains(told.String(), "Again") &&
						time.Since(began) < time.Minute; {
						message, err := sub.Next(t.Context())
						if err != nil {
							t.Fatal(err)
						}
						told.Write(message)
						told.WriteByte('\n')
					}
					reset, again := strings.Index(told.String(), `"reset"`), strings.Index(told.String(), "Again")
					if reset < 0 || again < reset || strings.Count(told.String(), `"reset"`) > 1 {
						t.Errorf("who was told half a message is told on, and does not begin anew:\n%s", told.String())
					}
				})
			})
		}
	}
}

// A window that waits until it may scan the rows sends the changes of that time afterwards. This applies also if a
// recheck is due during the wait, and if the context of Next ends.
func TestWindowWaitsForItsTurn(t *testing.T) {
	for name, who := range map[string]watch.Viewer{"a user": user("all"), "the program": {Program: true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster, _ := guarded(t)
				sub := openAs(t, cluster.For(who), watch.Query{Resource: pods}, watch.Windowed)
				await(t, sub, `"rows"`)
				release := sub.HoldTurn()
				server.Set(pods, pod("a", "p", "Failed"))
				if who.Program {
					ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
					defer cancel()
					for ctx.Err() == nil {
						_, _ = sub.Next(ctx) // Next returns when ctx ends.
					}
					release()
				} else {
					time.AfterFunc(12*time.Second, release)
				}
				if passed := await(t, sub, "Failed"); passed > 13*time.Second {
					t.Errorf("the change is told after %s", passed)
				}
			})
		})
	}
}

// If the context of Next ends while a digest is being computed, the next call of Next returns the digest.
func TestDigestOutlastsItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, cluster, _ := guarded(t)
		sub := openAs(t, cluster.For(watch.Viewer{Program: true}), watch.Query{Resource: pods}, watch.Rows)
		await(t, sub, `"digest"`)
		release := sub.HoldDigest()
		ctx, cancel := context.WithTimeout(t.Context(), 61*time.Second)
		defer cancel()
		for ctx.Err() == nil {
			if message, _ := sub.Next(ctx); strings.Contains(string(message), `"digest"`) {
				t.Fatal("the digest was not held")
			}
		}
		release()
		if passed := await(t, sub, `"digest"`); passed > time.Second {
			t.Errorf("the digest came after %s", passed)
		}
	})
}

// When a resource is removed from the API server and served again, a user receives the same messages as the program
// does. No subscription ends.
func TestKindOfAUserGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster, _ := guarded(t)
		program := subscribe(t, cluster, watch.Query{}, "")
		all := subscribeAs(t, cluster.For(user("all")), watch.Query{Resource: pods}, watch.Rows, "")
		program.settle()
		all.settle()
		server.Remove(pods)
		pass(time.Minute)
		program.settle()
		all.settle()
		if program.state != "absent" || all.state != program.state || all.reason != program.reason ||
			len(all.rows) > 0 {
			t.Errorf(
				"a user is told %s (%s), the program %s (%s)", all.state, all.reason, program.state, program.reason,
			)
		}
		server.Serve(kinds()[0])
		server.Set(pods, pod("a", "p", "Running"))
		pass(time.Minute)
		all.settle()
		all.wantLive(1)
	})
}

// A resource is too large for the memory budget. A user who may see only a small part of it still sees that part,
// without a query for its namespace.
func TestUserSeesWhatFits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := budgeted(t)
		for n := range 60 {
			server.Set(widgets, big("a", fmt.Sprint("w", n), 40<<10))
		}
		server.Set(widgets, big("b", "small", 1<<10))
		server.Allow(func(spec authorization.SubjectAccessReviewSpec) bool {
			return spec.ResourceAttributes.Namespace == "b"
		})
		all := subscribe(t, cluster, watch.Query{Resource: widgets}, "")
		all.settle()
		if all.state != "failed" {
			t.Fatalf("all of it is %s", all.state)
		}
		r := subscribeAs(t, cluster.For(user("ann")), watch.Query{Resource: widgets}, watch.Rows, "")
		r.settle()
		r.wantLive(1)
	})
}

// A query of all namespaces does not fail because of one namespace that the query does not name. This applies even if
// that namespace has been deleted but is still in the list of namespaces.
func TestNamespaceThatNobodyNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Allow(func(spec authorization.SubjectAccessReviewSpec) bool {
			return spec.ResourceAttributes.Namespace != "" || spec.ResourceAttributes.Resource == "namespaces"
		})
		server.RefuseGet("/api/v1/namespaces/a", http.StatusNotFound, "gone")
		ann := cluster.For(user("ann"))
		if snapshot, err := ann.Snapshot(t.Context(), watch.Query{Resource: pods}, time.Minute); err != nil ||
			!snapshot.Synced {
			t.Errorf("all namespaces: %v, %v", snapshot, err)
		}
		r := subscribeAs(t, ann, watch.Query{Resource: pods}, watch.Rows, "")
		r.settle()
		r.wantLive(0)
		_, err := ann.Snapshot(t.Context(), watch.Query{Resource: pods, Namespaces: []string{"a"}}, time.Minute)
		wantProblem(t, err, watch.Unknown, "Unknown namespace", `"a"`)
	})
}

// While access reviews fail for one of many namespaces, the state is not live.
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
		r := subscribeAs(t, cluster.For(user("ann")), watch.Query{Resource: pods}, watch.Rows, "")
		r.settle()
		r.wantLive(1)
		server.Hang(apitest.UserReviews)
		began := time.Now()
		for r.state == "live" && time.Since(began) < 5*time.Minute {
			r.next()
		}
		if passed := time.Since(began); passed > 20*time.Second {
			t.Errorf("it is %s after %s", r.state, passed)
		}
	})
}

// While access reviews fail, the responses about resources, counts and the watch status lack the parts that need a
// decision. A search reports that it could not search.
func TestKindsWhileReviewsHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster, _ := guarded(t)
		for n := range 8 {
			server.Serve(apitest.Kind{
				Ref: fmt.Sprintf("example.com/v1/k%d", n), Kind: "K", Columns: `[{"name":"Name","type":"string"}]`,
			})
		}
		pass(30 * time.Second)
		_, _, _ = cluster.For(watch.Viewer{Program: true}).Resources(t.Context(), 10*time.Second)
		for n := range 8 {
			r := subscribe(t, cluster, watch.Query{Resource: fmt.Sprintf("example.com/v1/k%d", n)}, "")
			r.settle()
		}
		server.Hang(apitest.UserReviews)
		all := cluster.For(user("all"))
		soon := func(what string, look func()) {
			began := time.Now()
			if look(); time.Since(began) > 3*time.Second {
				t.Errorf("%s: after %s", what, time.Since(began))
			}
		}
		soon("the kinds", func() {
			known, _, err := all.Resources(t.Context(), 0)
			if err != nil || len(known) != 10 {
				t.Errorf("%d kinds are known, %v", len(known), err)
			}
			for _, k := range known {
				if k.Count != nil || k.Status != nil {
					t.Errorf("%s is counted", k.Ref())
				}
			}
		})
		soon("counts", func() {
			if counts := all.Counts(t.Context()); len(counts) > 0 {
				t.Errorf("counts are told: %v", counts)
			}
		})
		soon("the ledger", func() {
			if entries := all.Coverage(t.Context()).Entries; len(entries) > 0 {
				t.Errorf("the ledger has %v", entries)
			}
		})
		soon("a search", func() {
			found, err := all.Search(t.Context(), "p", 10, func(a, b *watch.Resource) int {
				return strings.Compare(a.Ref(), b.Ref())
			})
			if err != nil || len(found.Hits) > 0 || len(found.Searched) != 9 {
				t.Fatalf("a search finds %+v, %v", found, err)
			}
			for _, k := range found.Searched {
				if k.Count != nil || k.Status.State != watch.Stale || k.Status.Reason == "" {
					t.Errorf("%s was searched: %+v", k.Ref(), k.Status)
				}
			}
		})
	})
}

// If the program may not list namespaces, a user sees the permitted objects of the namespace in the kubeconfig. While
// the namespaces are unknown, no user gets the answer that they may see no namespace.
func TestNamespacesThatAreNotKnown(t *testing.T) {
	start := func(t *testing.T, home string) (*apitest.Server, *watch.Access) {
		t.Helper()
		server := apitest.New(t, kinds()...)
		server.Set(pods, pod("a", "p", "Running"))
		allow(server, "ann list pods a", "ann watch pods a")
		cluster := runClusterWith(
			t, server,
			watch.Options{Linger: time.Minute, Namespace: home, Log: slog.New(slog.NewTextHandler(t.Output(), nil))},
		)
		return server, cluster.For(user("ann"))
	}
	t.Run("refused", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			server, ann := start(t, "a")
			server.Refuse(namespaces, "", http.StatusForbidden, "no")
			server.Refuse(pods, "", http.StatusForbidden, "no")
			server.Refuse(pods, "a", 0, "")
			snapshot, err := ann.Snapshot(t.Context(), watch.Query{Resource: pods}, time.Minute)
			if err != nil || keysOf(snapshot) != "a/p" {
				t.Errorf("ann sees %v, %v", snapshot, err)
			}
		})
	})
	t.Run("refused, and none is the kubeconfig's", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			server, ann := start(t, "")
			server.Refuse(namespaces, "", http.StatusForbidden, "no")
			_, err := ann.Snapshot(t.Context(), watch.Query{Resource: pods}, time.Minute)
			wantProblem(t, err, watch.Refused, "Forbidden", "nor in any known namespace")
		})
	})
	t.Run("not known yet", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			server, ann := start(t, "a")
			server.Refuse(namespaces, "", http.StatusInternalServerError, "not now")
			_, err := ann.Snapshot(t.Context(), watch.Query{Resource: pods}, time.Minute)
			wantProblem(
				t, err, watch.Unavailable, "Namespaces unknown", "Select namespaces with ns",
			)
		})
	})
}

// Any number of users may have a window on one resource. Each window shows what its user may see.
func TestNobodysWindowKeepsAnothersOut(t *testing.T) {
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
			q := watch.Query{Resource: pods, Namespaces: []string{fmt.Sprint("n", n)}}
			await(t, openAs(t, cluster.For(user(q.Namespaces[0])), q, watch.Windowed), `"rows"`)
		}
		if orders := cluster.Ledger().Entries[0].OrderBytes; orders < 110*40 {
			t.Errorf("the ledger has %d bytes of orders", orders)
		}
	})
}
