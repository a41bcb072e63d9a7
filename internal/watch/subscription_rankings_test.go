package watch_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	authorization "k8s.io/api/authorization/v1"
	apilabels "k8s.io/apimachinery/pkg/labels"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/ranking"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"
)

const maxRankings = 100

func serveRankings(t *testing.T) (*apitest.Server, *watch.Cluster) {
	t.Helper()
	server, cluster := serveCluster(t)
	server.Set(pods, pod("a", "p", "Running"))
	server.Allow(func(authorization.SubjectAccessReviewSpec) bool { return true })
	return server, cluster
}

// viewerRankings opens rankings (sorted lists of pods) as one viewer. The map subscriptions contains the subscription
// of each ranking, by the number of the ranking.
type viewerRankings struct {
	t             *testing.T
	cluster       *watch.Cluster
	viewer        watch.Viewer
	subscriptions map[int]*watch.Subscription
}

func rankingsOfUser(t *testing.T, cluster *watch.Cluster, n int) *viewerRankings {
	t.Helper()
	return &viewerRankings{t, cluster, user(fmt.Sprint("user-", n)), make(map[int]*watch.Subscription)}
}

func rankingsOfLink(t *testing.T, cluster *watch.Cluster, n int) *viewerRankings {
	t.Helper()
	viewer := sharedWith(watch.Part{Resource: pods}, watch.Part{Resource: fmt.Sprint("core/v1/others-", n)})
	return &viewerRankings{t, cluster, viewer, make(map[int]*watch.Subscription)}
}

// tryAcquire opens a window (a range of sorted rows) on the ranking (the sorted list) with the number n.
func (v *viewerRankings) tryAcquire(n int) error {
	v.t.Helper()
	window, err := query.NewWindow("", 0, 10)
	if err != nil {
		v.t.Fatal(err)
	}
	sub, err := v.cluster.For(v.viewer).Subscribe(v.t.Context(),
		query.Query{Resource: pods, Text: fmt.Sprint("word", n), Window: window}, stream.Windowed, "")
	if err != nil {
		v.t.Fatal(err)
	}
	v.t.Cleanup(sub.Close)
	for {
		text, err := sub.Next(v.t.Context())
		if err != nil {
			sub.Close()
			return err
		}
		if strings.Contains(string(text), `"type":"window"`) {
			v.subscriptions[n] = sub
			return nil
		}
	}
}

func (v *viewerRankings) acquire(from, to int) {
	v.t.Helper()
	for n := from; n < to; n++ {
		if err := v.tryAcquire(n); err != nil {
			v.t.Fatalf("acquire sort order %d: %v", n, err)
		}
	}
}

func (v *viewerRankings) release(from, to int) {
	for n := from; n < to; n++ {
		v.subscriptions[n].Close()
	}
}

func (v *viewerRankings) wantRefused(n int) {
	v.t.Helper()
	wantProblem(v.t, v.tryAcquire(n), status.Unavailable, "Too many sort orders",
		"100 lists for you, 500 for the viewers of all links, and 1000 in total")
}

// A sorted list counts towards the quota of its first viewer. When this viewer no longer uses the list, the list
// counts towards the quota of another viewer.
// Invariant: I10.
func TestRankingCountsForNextViewer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, cluster := serveRankings(t)
		first, second := rankingsOfUser(t, cluster, 1), rankingsOfUser(t, cluster, 2)
		first.acquire(0, maxRankings)
		second.acquire(0, maxRankings)
		first.wantRefused(maxRankings)
		first.release(0, maxRankings)
		first.acquire(maxRankings, maxRankings+1)
		second.wantRefused(maxRankings + 1)
		second.release(0, maxRankings)
		first.acquire(0, maxRankings) // The released ranking 0 now counts towards the quota of first.
		first.wantRefused(maxRankings + 1)
		second.acquire(maxRankings+1, maxRankings+2)
	})
}

// All viewers together have a limited number of rankings (sorted lists). Unused rankings are removed for new ones.
// Invariant: I10.
func TestRankingsOfAllViewersAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, cluster := serveRankings(t)
		const total = 10 * maxRankings
		viewers := make([]*viewerRankings, total/maxRankings)
		for n := range viewers {
			viewers[n] = rankingsOfUser(t, cluster, n)
			viewers[n].acquire(n*maxRankings, (n+1)*maxRankings)
		}
		late := rankingsOfUser(t, cluster, len(viewers))
		late.wantRefused(total)
		late.acquire(0, 1)
		late.wantRefused(total)
		viewers[3].release(3*maxRankings, 3*maxRankings+1)
		late.acquire(total, total+1)
		late.wantRefused(total + 1)
	})
}

// The viewers of all share links together can have half of all rankings (sorted lists).
// Invariant: I10.
func TestRankingsOfGuestsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, cluster := serveRankings(t)
		const total = 5 * maxRankings
		links := make([]*viewerRankings, total/maxRankings)
		for n := range links {
			links[n] = rankingsOfLink(t, cluster, n)
			links[n].acquire(n*maxRankings, (n+1)*maxRankings)
		}
		late := rankingsOfLink(t, cluster, len(links))
		late.wantRefused(total)
		rankingsOfUser(t, cluster, 1).acquire(total, total+maxRankings)
		links[3].release(3*maxRankings, 3*maxRankings+1)
		late.acquire(total+maxRankings, total+maxRankings+1)
		late.wantRefused(total + maxRankings + 1)
	})
}

// panicOnceSelector is a label selector that matches everything, and panics once after a number of matches.
type panicOnceSelector struct {
	apilabels.Selector

	left int // The number of matches until the panic; negative for no panic.
}

func (p *panicOnceSelector) Matches(apilabels.Labels) bool {
	if p.left == 0 {
		p.left = -1
		panic("broken")
	}
	p.left--
	return true
}

// If an update of a sorted list panics, the next reader gets all current rows, not a partly updated list.
// Invariant: I6.
func TestRankingRecoversFromPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		subscribe(t, cluster, query.Query{}, "").settle()
		i, broken := cluster.Informer(pods), &panicOnceSelector{apilabels.Everything(), -1}
		f := &query.Filter{Selector: query.NewSelector(broken)}
		r := ranking.New(i.Informer, f, i.CurrentState(nil).Columns, ranking.Sort{Column: -1})
		at := &query.RangeRequest{Range: query.Range{Count: query.MaxWindow}}
		if _, err := r.View(t.Context(), at); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"q", "r", "s"} {
			server.Set(pods, labelled(pod("a", name, "Running"), name)) // New labels make the selector check each pod.
		}
		synctest.Wait()
		broken.left = 1
		func() {
			defer func() {
				if panicked := recover(); panicked != "broken" {
					t.Fatalf("got panic %v, want broken", panicked)
				}
			}()
			_, _ = r.View(t.Context(), at)
		}()
		found, err := r.View(t.Context(), at) // Read the ranking again, as the next reader does.
		if err != nil {
			t.Fatal(err)
		}
		if len(found.Rows) != 4 || found.Counts.Total != 4 {
			t.Errorf("got %d rows and a total of %d, want 4", len(found.Rows), found.Counts.Total)
		}
	})
}
