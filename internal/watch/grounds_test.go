package watch_test

import (
	"context"
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

// readings returns all reads that are not subscriptions, by name.
func readings() map[string]func(ctx context.Context, access *watch.Access) error {
	snapshot := func(q watch.Query) func(context.Context, *watch.Access) error {
		return func(ctx context.Context, access *watch.Access) error {
			q.Resource = pods
			_, err := access.Snapshot(ctx, q, time.Minute)
			return err
		}
	}
	return map[string]func(context.Context, *watch.Access) error{
		"all": snapshot(watch.Query{}), "a namespace": snapshot(watch.Query{Namespaces: []string{"a"}}),
		"the first of them": snapshot(watch.Query{Sort: "name", Limit: 1}),
		"an object": func(ctx context.Context, access *watch.Access) error {
			_, err := access.Object(ctx, pods, "a", "p")
			return err
		},
		"an object as it is known last": func(ctx context.Context, access *watch.Access) error {
			_, _, err := access.LastKnown(ctx, pods, "a", "p")
			return err
		},
		"an object that is not watched": func(ctx context.Context, access *watch.Access) error {
			_, err := access.Object(ctx, "apps/v1/deployments", "a", "d")
			return err
		},
		"search": func(ctx context.Context, access *watch.Access) error {
			_, err := access.Search(ctx, "p", 10, func(a, b *watch.Resource) int {
				return strings.Compare(a.Ref(), b.Ref())
			})
			return err
		},
		"kinds": func(ctx context.Context, access *watch.Access) error {
			_, _, err := access.Resources(ctx, 0)
			return err
		},
		"counts": func(ctx context.Context, access *watch.Access) error { access.Counts(ctx); return nil },
		"ledger": func(ctx context.Context, access *watch.Access) error { access.Coverage(ctx); return nil },
	}
}

// groundsOf calls read, and returns the permissions that its response depends on.
func groundsOf(t *testing.T, access *watch.Access, read func(context.Context, *watch.Access) error) *watch.Grounds {
	t.Helper()
	g := &watch.Grounds{}
	t.Cleanup(g.Close)
	if err := read(t.Context(), access.On(g)); err != nil {
		t.Fatal(err)
	}
	return g
}

// lostWithin reports whether one of the permissions in g is revoked within the given duration, and after which time.
func lostWithin(t *testing.T, g *watch.Grounds, long time.Duration) (bool, time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), long)
	defer cancel()
	began := time.Now()
	return g.Lost(ctx), time.Since(began)
}

// If a permission is revoked, for all or for some namespaces, each response that depends on it detects this within 15
// s. The same applies if reviews fail, and if the permission was checked some time before the read.
func TestGroundsAreLost(t *testing.T) {
	for name, read := range readings() {
		for how, lose := range map[string]func(*apitest.Server){
			"lost": func(server *apitest.Server) { server.Allow(nil) },
			"lost in others": func(server *apitest.Server) {
				server.Allow(func(spec authorization.SubjectAccessReviewSpec) bool {
					return spec.ResourceAttributes.Namespace == "a"
				})
			},
			"failing": func(server *apitest.Server) { server.Break(apitest.UserReviews, "not now") },
			"hanging": func(server *apitest.Server) { server.Hang(apitest.UserReviews) },
		} {
			t.Run(name+", "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server, cluster, _ := guarded(t)
					server.Serve(apitest.Kind{
						Ref: "apps/v1/deployments", Kind: "Deployment", Columns: `[{"name":"Name","type":"string"}]`,
					})
					server.Set("apps/v1/deployments", apitest.Item{Namespace: "a", Name: "d"})
					server.Allow(func(authorization.SubjectAccessReviewSpec) bool { return true })
					pass(time.Minute)
					access := cluster.For(user("all"))
					if err := read(t.Context(), access); err != nil {
						t.Fatal(err)
					}
					lose(server)
					began := time.Now()
					if strings.HasPrefix(how, "lost") {
						pass(9 * time.Second) // Decisions are cached for 10 s.
					}
					stays := how == "lost in others" && (name == "a namespace" || strings.HasPrefix(name, "an object"))
					lost, _ := lostWithin(t, groundsOf(t, access, read), time.Minute)
					if passed := time.Since(began); lost == stays || lost && passed > 15*time.Second {
						t.Errorf("lost %t, after %s", lost, passed)
					}
				})
			})
		}
	}
}

// A response continues while one permission suffices for it. Permissions that others lose, and new permissions, change
// nothing. There are no access reviews in the first second.
func TestGroundsHold(t *testing.T) {
	for name, read := range readings() {
		if name == "an object that is not watched" {
			continue // The user ann has no permission for this read.
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster, g := guarded(t)
				grounds := groundsOf(t, cluster.For(user("ann")), read)
				before := len(server.Requests(apitest.UserReviews))
				if lost, _ := lostWithin(t, grounds, 900*time.Millisecond); lost ||
					len(server.Requests(apitest.UserReviews)) != before {
					t.Errorf(
						"lost %t, and %d times asked within a second",
						lost,
						len(server.Requests(apitest.UserReviews))-before,
					)
				}
				delete(g, "all list pods *")
				g["ann list pods b"], g["ann watch pods b"] = true, true
				if lost, after := lostWithin(t, grounds, 5*time.Minute); lost {
					t.Errorf("lost after %s", after)
				}
				delete(g, "ann list pods a")
				delete(g, "ann watch pods a")
				delete(g, "ann get pods a")
				mine := name != "kinds" && name != "counts" && name != "ledger" // These reveal nothing of hers.
				if lost, after := lostWithin(t, grounds, time.Minute); lost != mine || mine && after > 15*time.Second {
					t.Errorf("lost %t after %s", lost, after)
				}
			})
		})
	}
}

// Viewers who read with the program's own permissions lose access when the program loses a permission. The resource
// stays watched while the response is sent, and no longer.
func TestGroundsOfTheProgram(t *testing.T) {
	for name, watched := range map[string]bool{
		"all": false, "a namespace": false, "an object that is watched": true, "an object": false,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := apitest.New(t, kinds()...)
				cluster := runClusterWith(t, server, watch.Options{Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
				server.Set(pods, pod("a", "p", "Running"))
				pass(time.Second)
				if watched {
					subscribe(t, cluster, watch.Query{}, "").settle()
				}
				g := groundsOf(
					t,
					cluster.For(watch.Viewer{Program: true}),
					readings()[strings.TrimSuffix(name, " that is watched")],
				)
				if lost, after := lostWithin(t, g, 5*time.Minute); lost {
					t.Errorf("lost after %s", after)
				}
				server.Revoke(pods, "")
				if !watched { // Watched objects need list, not get.
					server.RefuseGet("/api/v1/namespaces/a/pods/p", http.StatusForbidden, "no more")
				}
				if lost, after := lostWithin(t, g, time.Minute); !lost || after > 15*time.Second {
					t.Errorf("lost %t, after %s", lost, after)
				}
				g.Close()
				pass(10 * time.Second)
				if entries := cluster.Ledger().Entries; len(entries) > 0 && !watched {
					t.Errorf("there is still watched %+v", entries)
				}
			})
		})
	}
}

// A share can select objects by labels or by words of their rows. A response with such an object ends when the object
// no longer matches. It does not end when the object is deleted, or when another object changes.
func TestGroundsOfWhatIsShared(t *testing.T) {
	for name, part := range map[string]watch.Part{"labels": {Labels: "app=web"}, "words": {Text: "running"}} {
		for how, test := range map[string]struct {
			change func(*apitest.Server)
			lost   bool
		}{
			"nothing": {func(*apitest.Server) {}, false},
			"another": {func(server *apitest.Server) { server.Set(pods, pod("a", "r", "Failed")) }, false},
			"the same": {func(server *apitest.Server) {
				server.Set(pods, labelled(pod("a", "p", "Running"), "web"))
			}, false},
			"no more": {func(server *apitest.Server) { server.Delete(pods, "a", "p") }, false},
			"other":   {func(server *apitest.Server) { server.Set(pods, pod("a", "p", "Failed")) }, true},
		} {
			t.Run(name+", "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server, cluster := serveCluster(t)
					server.Set(
						pods, labelled(pod("a", "p", "Running"), "web"), labelled(pod("a", "r", "Running"), "web"),
					)
					part.Resource = pods
					access := cluster.For(sharedWith(part))
					grounds := groundsOf(t, access, func(ctx context.Context, access *watch.Access) error {
						_, err := access.Object(ctx, pods, "a", "p")
						return err
					})
					test.change(server)
					if lost, after := lostWithin(t, grounds, time.Minute); lost != test.lost ||
						lost && after > 2*time.Second {
						t.Errorf("lost %t after %s, want %t", lost, after, test.lost)
					}
				})
			})
		}
	}
}
