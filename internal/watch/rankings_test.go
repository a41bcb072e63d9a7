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

// mostOrders is the maximum number of rankings of one resource for one viewer.
const mostOrders = 100

// serveOrders returns a cluster with one pod, which every user may see.
func serveOrders(t *testing.T) (*apitest.Server, *watch.Cluster) {
	t.Helper()
	server, cluster := serveCluster(t)
	server.Set(pods, pod("a", "p", "Running"))
	server.Allow(func(authorization.SubjectAccessReviewSpec) bool { return true })
	return server, cluster
}

// orders are the rankings of pods that one viewer uses. held has the subscription of each ranking by its number.
type orders struct {
	t       *testing.T
	cluster *watch.Cluster
	viewer  watch.Viewer
	held    map[int]*watch.Subscription
}

// ordersOf returns orders without rankings for the n-th user. All users may see all pods.
func ordersOf(t *testing.T, cluster *watch.Cluster, n int) *orders {
	t.Helper()
	return &orders{t, cluster, user(fmt.Sprint("user-", n)), make(map[int]*watch.Subscription)}
}

// ordersOfLink returns orders without rankings for the guests of the n-th link. Each link shares all pods.
func ordersOfLink(t *testing.T, cluster *watch.Cluster, n int) *orders {
	t.Helper()
	viewer := sharedWith(watch.Part{Resource: pods}, watch.Part{Resource: fmt.Sprint("core/v1/others-", n)})
	return &orders{t, cluster, viewer, make(map[int]*watch.Subscription)}
}

// try acquires the ranking with the number n.
func (o *orders) try(n int) error {
	o.t.Helper()
	window, err := watch.NewWindow("", 0, 10)
	if err != nil {
		o.t.Fatal(err)
	}
	sub, err := o.cluster.For(o.viewer).Subscribe(o.t.Context(),
		watch.Query{Resource: pods, Text: fmt.Sprint("word", n), Window: window}, watch.Windowed, "")
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

// hold acquires the rankings with the numbers from, from+1, up to to-1.
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

// wantFull expects that the ranking with the number n is refused, because there are too many.
func (o *orders) wantFull(n int) {
	o.t.Helper()
	wantProblem(o.t, o.try(n), watch.Unavailable, "Too many sort orders",
		"100 orders for you, in 500 for the viewers of all links, or in 1000 in total")
}

// One viewer creates a ranking, and other viewers use it, too. When the first viewer has closed it, it belongs to one
// of the others. It does not count for the first viewer any more.
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
		one.hold(0, mostOrders) // These rankings are unused, so the viewer that uses them now becomes their owner.
		one.wantFull(mostOrders + 1)
		other.hold(mostOrders+1, mostOrders+2)
	})
}

// The number of rankings of a resource is bounded for all viewers together. An unused ranking is dropped to make room
// for any viewer.
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
		late.hold(0, 1) // This ranking exists, and is shared.
		late.wantFull(most)
		viewers[3].letGo(3*mostOrders, 3*mostOrders+1)
		late.hold(most, most+1)
		late.wantFull(most + 1)
	})
}

// The guests of all links together may have half of all rankings, however many links exist. The other half stays for
// other viewers.
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

// If an update of a ranking panics, the next reader gets the present rows. It does not get the result of some of the
// changes.
func TestOrdersOutlastAPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		subscribe(t, cluster, watch.Query{}, "").settle()
		rows, total, panicked, err := cluster.LookBehindPanic(t.Context(), pods, func() {
			for _, name := range []string{"q", "r", "s"} {
				server.Set(pods, labelled(pod("a", name, "Running"), name)) // The filter checks each of these pods.
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
