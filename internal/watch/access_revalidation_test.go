package watch_test

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/permit"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"

	authorization "k8s.io/api/authorization/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
)

func reads() map[string]func(ctx context.Context, access *watch.Access) error {
	snapshot := func(q query.Query) func(context.Context, *watch.Access) error {
		return func(ctx context.Context, access *watch.Access) error {
			q.Resource = pods
			_, err := access.Snapshot(ctx, q, time.Minute)
			return err
		}
	}
	return map[string]func(context.Context, *watch.Access) error{
		"all": snapshot(query.Query{}), "a namespace": snapshot(query.Query{Namespaces: []string{"a"}}),
		"first row": snapshot(query.Query{Sort: "name", Limit: 1}),
		"an object": func(ctx context.Context, access *watch.Access) error {
			_, err := access.Object(ctx, pods, "a", "p")
			return err
		},
		"an object, last known": func(ctx context.Context, access *watch.Access) error {
			_, _, err := access.LastKnown(ctx, pods, "a", "p")
			return err
		},
		"an object without a watch": func(ctx context.Context, access *watch.Access) error {
			_, err := access.Object(ctx, "apps/v1/deployments", "a", "d")
			return err
		},
		"search": func(ctx context.Context, access *watch.Access) error {
			_, err := access.Search(ctx, watch.SearchQuery{Text: "p", Limit: 10}, func(a, b *resource.Resource) int {
				return strings.Compare(a.Ref(), b.Ref())
			})
			return err
		},
		"resources": func(ctx context.Context, access *watch.Access) error {
			_, _, err := access.Resources().List(ctx, 0)
			return err
		},
		"counts":       func(ctx context.Context, access *watch.Access) error { access.Resources().Counts(ctx); return nil },
		"watch status": func(ctx context.Context, access *watch.Access) error { access.WatchStatus(ctx); return nil },
	}
}

func revalidationOf(
	t *testing.T, access *watch.Access, read func(context.Context, *watch.Access) error,
) *permit.Revalidation {
	t.Helper()
	g := &permit.Revalidation{}
	t.Cleanup(g.Close)
	if err := read(t.Context(), access.With(watch.ReadOptions{Revalidation: g})); err != nil {
		t.Fatal(err)
	}
	return g
}

func revokedWithin(t *testing.T, g *permit.Revalidation, duration time.Duration) (bool, time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), duration)
	defer cancel()
	began := time.Now()
	return g.Revoked(ctx), time.Since(began)
}

// Each response that is still being sent ends within 15 s after a permission is revoked, or after access reviews start
// to fail.
// Invariant: I18.
func TestRevalidationDetectsRevocation(t *testing.T) {
	for name, read := range reads() {
		for how, revoke := range map[string]func(*apitest.Server){
			"revoked": func(server *apitest.Server) { server.Allow(nil) },
			"revoked in other namespaces": func(server *apitest.Server) {
				server.Allow(func(spec authorization.SubjectAccessReviewSpec) bool {
					return spec.ResourceAttributes.Namespace == "a"
				})
			},
			"reviews fail": func(server *apitest.Server) {
				server.MakeUnavailable(apitest.UserReviewsPath, "not now")
			},
			"reviews do not respond": func(server *apitest.Server) { server.Hang(apitest.UserReviewsPath) },
		} {
			t.Run(name+", "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server, cluster, _ := newGuardedCluster(t)
					server.AddKind(apitest.Kind{
						Ref: "apps/v1/deployments", Kind: "Deployment", Columns: `[{"name":"Name","type":"string"}]`,
					})
					server.Set("apps/v1/deployments", apitest.Item{Namespace: "a", Name: "d"})
					server.Allow(func(authorization.SubjectAccessReviewSpec) bool { return true })
					advance(time.Minute)
					access := cluster.For(user("all"))
					if err := read(t.Context(), access); err != nil {
						t.Fatal(err)
					}
					revoke(server)
					began := time.Now()
					if strings.HasPrefix(how, "revoked") {
						advance(9 * time.Second) // The read still succeeds: access decisions are cached for 10 s.
					}
					permitted := how == "revoked in other namespaces" &&
						(name == "a namespace" || strings.HasPrefix(name, "an object"))
					revoked, _ := revokedWithin(t, revalidationOf(t, access, read), time.Minute)
					if passed := time.Since(began); revoked == permitted || revoked && passed > 15*time.Second {
						t.Errorf("Revoked: got %t after %s", revoked, passed)
					}
				})
			})
		}
	}
}

// A response continues while the user has a permission that is sufficient for it. In the first second of a response, no
// access reviews are sent.
// Invariant: I18.
func TestRevalidationContinuesWithPermission(t *testing.T) {
	for name, read := range reads() {
		if name == "an object without a watch" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster, g := newGuardedCluster(t)
				revalidation := revalidationOf(t, cluster.For(user("ann")), read)
				before := len(server.Requests(apitest.UserReviewsPath))
				if revoked, _ := revokedWithin(t, revalidation, 900*time.Millisecond); revoked ||
					len(server.Requests(apitest.UserReviewsPath)) != before {
					t.Errorf(
						"Revoked: got %t, and %d access reviews within a second",
						revoked,
						len(server.Requests(apitest.UserReviewsPath))-before,
					)
				}
				delete(g, "all list pods *")
				g["ann list pods b"], g["ann watch pods b"] = true, true
				if revoked, after := revokedWithin(t, revalidation, 5*time.Minute); revoked {
					t.Errorf("Revoked: got true after %s, want false", after)
				}
				delete(g, "ann list pods a")
				delete(g, "ann watch pods a")
				delete(g, "ann get pods a")
				// These three responses do not depend on ann's permissions.
				isAffected := name != "resources" && name != "counts" && name != "watch status"
				if revoked, after := revokedWithin(t, revalidation, time.Minute); revoked != isAffected ||
					isAffected && after > 15*time.Second {
					t.Errorf("Revoked: got %t after %s", revoked, after)
				}
			})
		})
	}
}

// A response ends within 15 s after this program loses its own permission. When the response has ended, resources
// without readers are not watched any more.
// Invariant: I18.
func TestRevalidationOfProgramPermissions(t *testing.T) {
	for name, watched := range map[string]bool{
		"all": false, "a namespace": false, "an object with a watch": true, "an object": false,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := apitest.New(t, kinds()...)
				cluster := runClusterWith(t, server, watch.Options{Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
				server.Set(pods, pod("a", "p", "Running"))
				advance(time.Second)
				if watched {
					subscribe(t, cluster, query.Query{}, "").settle()
				}
				g := revalidationOf(
					t,
					cluster.For(watch.Viewer{Program: true}),
					reads()[strings.TrimSuffix(name, " with a watch")],
				)
				if revoked, after := revokedWithin(t, g, 5*time.Minute); revoked {
					t.Errorf("Revoked: got true after %s, want false", after)
				}
				server.Revoke(pods, "")
				if !watched {
					server.FailPath("/api/v1/namespaces/a/pods/p", http.StatusForbidden, "no more")
				}
				if revoked, after := revokedWithin(t, g, time.Minute); !revoked || after > 15*time.Second {
					t.Errorf("Revoked: got %t after %s", revoked, after)
				}
				g.Close()
				advance(10 * time.Second)
				if entries := cluster.WatchStatus().Entries; len(entries) > 0 && !watched {
					t.Errorf("resources are still watched after Close: %+v", entries)
				}
			})
		})
	}
}

// The response with a shared object ends when the object no longer matches the share link, but not when the object is
// deleted.
// Invariant: I18.
func TestRevalidationOfSharedObject(t *testing.T) {
	for name, part := range map[string]watch.Part{"labels": {Labels: "app=web"}, "text": {Text: "running"}} {
		for how, test := range map[string]struct {
			change  func(*apitest.Server)
			revoked bool
		}{
			"no change":              {func(*apitest.Server) {}, false},
			"another object changed": {func(server *apitest.Server) { server.Set(pods, pod("a", "r", "Failed")) }, false},
			"object changed but still matches": {func(server *apitest.Server) {
				server.Set(pods, labelled(pod("a", "p", "Running"), "web"))
			}, false},
			"object deleted":           {func(server *apitest.Server) { server.Delete(pods, "a", "p") }, false},
			"object no longer matches": {func(server *apitest.Server) { server.Set(pods, pod("a", "p", "Failed")) }, true},
		} {
			t.Run(name+", "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server, cluster := serveCluster(t)
					server.Set(
						pods, labelled(pod("a", "p", "Running"), "web"), labelled(pod("a", "r", "Running"), "web"),
					)
					part.Resource = pods
					access := cluster.For(sharedWith(part))
					revalidation := revalidationOf(t, access, func(ctx context.Context, access *watch.Access) error {
						_, err := access.Object(ctx, pods, "a", "p")
						return err
					})
					test.change(server)
					if revoked, after := revokedWithin(t, revalidation, time.Minute); revoked != test.revoked ||
						revoked && after > 2*time.Second {
						t.Errorf("Revoked: got %t after %s, want %t", revoked, after, test.revoked)
					}
				})
			})
		}
	}
}
