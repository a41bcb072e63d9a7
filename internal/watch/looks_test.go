package watch_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	authorization "k8s.io/api/authorization/v1"

	"glasshouse/internal/watch"
)

// openAs opens a subscription in any view, a window from its first row on.
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

// await reads messages until one has a text, and returns how long that took.
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

// Who may see something is looked after every 10 s, whether much happens that they
// may not see, or nothing at all.
func TestLooksAgainInTime(t *testing.T) {
	for _, busy := range []bool{false, true} {
		for _, view := range []watch.View{watch.Rows, watch.Table, watch.Windowed, watch.Changes} {
			synctest.Test(t, func(t *testing.T) {
				server, cluster, _ := guarded(t)
				sub := openAs(t, cluster.For(user("ann")), watch.Query{Resource: pods}, view)
				await(t, sub, "heartbeat")
				server.Allow(nil)
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

// A window for whose turn somebody waits when it is looked again, or when Next is to
// end, shows what has changed meanwhile.
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
						_, _ = sub.Next(ctx) // Until it ends.
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

// A digest that is waited for when Next is to end is told when Next is called again.
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

// A kind that goes and comes back is told of to a user as to the program, and ends
// nobody's subscription.
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
		if program.state != "absent" || all.state != program.state || all.reason != program.reason || len(all.rows) > 0 {
			t.Errorf("a user is told %s (%s), the program %s (%s)", all.state, all.reason, program.state, program.reason)
		}
		server.Serve(kinds()[0])
		server.Set(pods, pod("a", "p", "Running"))
		pass(time.Minute)
		all.settle()
		all.wantLive(1)
	})
}

// Where all of a kind does not fit, who may see a small part of it sees that, without
// naming it.
func TestUserSeesWhatFits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := budgeted(t)
		for n := range 60 {
			server.Set(widgets, big("a", fmt.Sprint("w", n), 40<<10))
		}
		server.Set(widgets, big("b", "small", 1<<10))
		server.Allow(func(spec authorization.SubjectAccessReviewSpec) bool { return spec.ResourceAttributes.Namespace == "b" })
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
