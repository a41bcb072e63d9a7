package watch_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/overview"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

// The overview contains the version of the API server, and whether the server responds. Guests get no facts about the
// server.
//
// Invariant: I18.
func TestOverviewShowsTheStateOfTheAPIServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := newCauseCluster(t, true)
		program := watch.Viewer{Program: true}
		stateFor := func(viewer watch.Viewer) overview.APIServer {
			t.Helper()
			return overviewFor(t, cluster, viewer, watch.OverviewQuery{}).Summary.APIServer
		}
		follower := cluster.For(program).Resources().Follow() // Repeats discovery, as the resource picker does.
		defer follower.Close()
		want := overview.APIServer{Version: apitest.Version, State: status.Live, LatencyMS: 0}
		got := stateFor(program)
		got.LatencyMS = 0 // Fake time makes the measured latency meaningless.
		if got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		if got := len(server.Requests("/version")); got != 1 {
			t.Errorf("got %d requests of the version, want 1", got)
		}
		guest := sharedWith(watch.Part{Resource: pods, Namespaces: []string{"a"}})
		if got, want := stateFor(guest), (overview.APIServer{State: status.Live}); got != want {
			t.Errorf("guest: got %+v, want %+v", got, want)
		}

		server.Hang("/apis")
		advance(20 * time.Second)
		got = stateFor(program)
		if got.State != status.Stale || !strings.HasPrefix(got.Reason, "Discovery has had no response since 2") {
			t.Errorf("after 20 s without a response: got %+v", got)
		}
		server.Down(true)
		advance(time.Minute)
		got = stateFor(program)
		if got.State != status.Stale || !strings.HasPrefix(got.Reason, "Discovery has failed since ") ||
			got.Version != apitest.Version || got.LatencyMS != 0 {
			t.Errorf("after the outage began: got %+v", got)
		}
		if got, want := stateFor(guest), (overview.APIServer{State: status.Stale}); got != want {
			t.Errorf("guest during the outage: got %+v, want %+v", got, want)
		}
	})
}
