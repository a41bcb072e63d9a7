package watch_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	authorization "k8s.io/api/authorization/v1"

	"glasshouse/internal/watch"
	"glasshouse/internal/watch/apitest"
)

// mostOrders is how many orders of one resource one viewer may have begun.
const mostOrders = 100

// serveOrders is a cluster with a pod, which every user may see.
func serveOrders(t *testing.T) (*apitest.Server, *watch.Cluster) {
	t.Helper()
	server, cluster := serveCluster(t)
	server.Set(pods, pod("a", "p", "Running"))
	server.Allow(func(authorization.SubjectAccessReviewSpec) bool { return true })
	return server, cluster
}

// orders are what a viewer holds of the orders of pods, each by its number.
type orders struct {
	t       *testing.T
	cluster *watch.Cluster
	viewer  watch.Viewer
	held    map[int]*watch.Subscription
}

// ordersOf are those of the n-th user, who sees all pods as the others do.
func ordersOf(t *testing.T, cluster *watch.Cluster, n int) *orders {
	t.Helper()
	return &orders{t, cluster, user(fmt.Sprint("user-", n)), make(map[int]*watch.Subscription)}
}

// ordersOfLink are those of whoever uses the n-th link to all pods.
func ordersOfLink(t *testing.T, cluster *watch.Cluster, n int) *orders {
	t.Helper()
	viewer := sharedWith(watch.Part{Resource: pods}, watch.Part{Resource: fmt.Sprint("core/v1/others-", n)})
	return &orders{t, cluster, viewer, make(map[int]*watch.Subscription)}
}

// try holds one more.
func (o *orders) try(n int) error {
	o.t.Helper()
	window, err := watch.NewWindow("", 0, 10)
	if err != nil {
		o.t.Fatal(err)
	}
	sub, err := o.cluster.For(o.viewer).Subscribe(o.t.Context(), watch.Query{Resource: pods, Text: fmt.Sprint("word", n), Window: window}, watch.Windowed, "")
	if err != nil {
		o.t.Fatal(err)
	}
	o.t.Cleanup(sub.Close)
	for {
		text, err := sub.Next(o.t.Context())
		if err != nil {
			sub.Close()
			return err
		}
		if strings.Contains(string(text), `"type":"window"`) {
			o.held[n] = sub
			return nil
		}
	}
}

// hold holds those from one to before another.
func (o *orders) hold(from, to int) {
	o.t.Helper()
	for n := from; n < to; n++ {
		if err := o.try(n); err != nil {
			o.t.Fatalf("the order %d: %v", n, err)
		}
	}
}

func (o *orders) letGo(from, to int) {
	for n := from; n < to; n++ {
		o.held[n].Close()
	}
}

// wantFull wants that one is too many.
func (o *orders) wantFull(n int) {
	o.t.Helper()
	wantProblem(o.t, o.try(n), watch.Unavailable, "Too many orders", "100 orders for you, in 500 for all whom something is shared with, or in 1000 for all")
}

// An order that one viewer began, and others hold, is one of theirs once that one has
// left, and keeps that one from no other.
func TestRankingsArePassedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, cluster := serveOrders(t)
		one, other := ordersOf(t, cluster, 1), ordersOf(t, cluster, 2)
		one.hold(0, mostOrders)
		other.hold(0, mostOrders)
		one.wantFull(mostOrders)
		one.letGo(0, mostOrders)
		one.hold(mostOrders, mostOrders+1)
		other.wantFull(mostOrders + 1)
		other.letGo(0, mostOrders)
		one.hold(0, mostOrders) // Nobody holds them: whoever takes them up has them.
		one.wantFull(mostOrders + 1)
		other.hold(mostOrders+1, mostOrders+2)
	})
}

// All viewers together have so many orders of a resource, and no more; one that nobody
// holds makes room for anybody's.
func TestRankingsOfAllAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, cluster := serveOrders(t)
		const most = 10 * mostOrders
		viewers := make([]*orders, most/mostOrders)
		for n := range viewers {
			viewers[n] = ordersOf(t, cluster, n)
			viewers[n].hold(n*mostOrders, (n+1)*mostOrders)
		}
		late := ordersOf(t, cluster, len(viewers))
		late.wantFull(most)
		late.hold(0, 1) // It shares.
		late.wantFull(most)
		viewers[3].letGo(3*mostOrders, 3*mostOrders+1)
		late.hold(most, most+1)
		late.wantFull(most + 1)
	})
}

// The guests of all links together have half of the orders, however many links there
// are: somebody who is none still has theirs.
func TestRankingsOfGuestsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, cluster := serveOrders(t)
		const most = 5 * mostOrders
		links := make([]*orders, most/mostOrders)
		for n := range links {
			links[n] = ordersOfLink(t, cluster, n)
			links[n].hold(n*mostOrders, (n+1)*mostOrders)
		}
		late := ordersOfLink(t, cluster, len(links))
		late.wantFull(most)
		ordersOf(t, cluster, 1).hold(most, most+mostOrders)
		links[3].letGo(3*mostOrders, 3*mostOrders+1)
		late.hold(most+mostOrders, most+mostOrders+1)
		late.wantFull(most + mostOrders + 1)
	})
}

// Who looks behind somebody who panicked is shown what there is, and not a part of what
// has changed.
func TestOrdersOutlastAPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		subscribe(t, cluster, watch.Query{}, "").settle()
		rows, total, panicked, err := cluster.LookBehindPanic(t.Context(), pods, func() {
			for _, name := range []string{"q", "r", "s"} {
				server.Set(pods, labelled(pod("a", name, "Running"), name)) // Each of them is looked at.
			}
			synctest.Wait()
		})
		if panicked != "broken" || err != nil {
			t.Fatalf("the panic was %v, and then came %v", panicked, err)
		}
		if rows != 4 || total != 4 {
			t.Errorf("%d rows are shown, and %d counted, of 4", rows, total)
		}
	})
}
