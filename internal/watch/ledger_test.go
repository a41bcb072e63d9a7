package watch_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"glasshouse/internal/watch"
)

// The ledger has every scope that is watched, in order, with who reads it; a
// look at it keeps nothing alive.
func TestCoverage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"), pod("b", "q", "Running"))
		access := cluster.For(watch.Viewer{})
		lines := func() (lines []string) {
			for _, c := range access.Coverage().Entries {
				lines = append(lines, fmt.Sprint(c.Resource, " ", c.Namespace, c.Fields, ": ", c.State, ", ", c.Objects, " read by ", c.Readers, ", changes: ", c.RingBytes > 0))
			}
			return lines
		}
		want := func(want ...string) {
			t.Helper()
			if got := lines(); !slices.Equal(got, want) {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		}
		want()
		first, second := subscribe(t, cluster, watch.Query{}, ""), subscribe(t, cluster, watch.Query{}, "")
		spaces := subscribe(t, cluster, watch.Query{Resource: "core/v1/namespaces"}, "")
		first.settle()
		spaces.settle()
		want("core/v1/namespaces : live, 2 read by 1, changes: false", pods+" : live, 2 read by 2, changes: false")
		server.Set(pods, pod("a", "p", "Failed"))
		first.settle()
		second.sub.Close()
		want("core/v1/namespaces : live, 2 read by 1, changes: false", pods+" : live, 2 read by 1, changes: true")
		for _, c := range access.Coverage().Entries {
			if c.Since.IsZero() || c.Reason != "" {
				t.Errorf("got %+v", c)
			}
		}

		spaces.sub.Close()
		for range 10 {
			<-time.After(time.Minute)
			lines()
		}
		server.Refuse(pods, "", http.StatusForbidden, "you may not")
		first.settle()
		want(pods + " : forbidden, 0 read by 1, changes: true")
		if c := access.Coverage().Entries[0]; c.Reason != "you may not" {
			t.Errorf("the reason is %q", c.Reason)
		}
	})
}
