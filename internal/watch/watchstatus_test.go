package watch_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

// Reading the watch status does not prolong a watch.
// Invariant: I23. For each watched resource, the watch status shows how often the program has listed the resource, how
// often its watch was interrupted, and how much memory its data uses.
func TestWatchStatusDoesNotProlongWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"), pod("b", "q", "Running"))
		access := cluster.For(watch.Viewer{Program: true})
		lines := func() (lines []string) {
			for _, c := range access.WatchStatus(t.Context()).Entries {
				lines = append(lines, fmt.Sprint(
					c.Resource, " ", strings.Join(c.Namespaces, " "), c.Fields, ": ", c.State, ", ", c.Objects,
					" read by ", c.Readers, ", changes: ", c.RingBytes > 0,
				))
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
		first, second := subscribe(t, cluster, query.Query{}, ""), subscribe(t, cluster, query.Query{}, "")
		spaces := subscribe(t, cluster, query.Query{Resource: "core/v1/namespaces"}, "")
		first.settle()
		spaces.settle()
		want("core/v1/namespaces : live, 2 read by 1, changes: false", pods+" : live, 2 read by 2, changes: false")
		server.Set(pods, pod("a", "p", "Failed"))
		first.settle()
		second.sub.Close()
		want("core/v1/namespaces : live, 2 read by 1, changes: false", pods+" : live, 2 read by 1, changes: true")
		for _, c := range access.WatchStatus(t.Context()).Entries {
			if c.Since.IsZero() || c.Reason != "" {
				t.Errorf("got %+v, want the changes counted", c)
			}
			if kind := map[string]string{pods: "Pod", "core/v1/namespaces": "Namespace"}[c.Resource]; c.Kind != kind {
				t.Errorf("%s: got kind %q, want %q", c.Resource, c.Kind, kind)
			}
		}

		spaces.sub.Close()
		for range 10 {
			advance(time.Minute)
			lines()
		}
		server.Refuse(pods, "", http.StatusForbidden, "you may not")
		first.settle()
		// After the refusal, the program itself watches namespaces, to check the permission for pods in each of them.
		want("core/v1/namespaces : live, 2 read by 0, changes: false", pods+" : forbidden, 0 read by 1, changes: false")
		if c := access.WatchStatus(t.Context()).Entries[1]; !strings.HasSuffix(c.Reason, "you may not") {
			t.Errorf("got reason %q", c.Reason)
		}
	})
}

// After a feed (list and watch) ends, the watch status still includes the counts of this feed.
// Invariant: I23.
func TestWatchStatusKeepsCountsOfEndedFeeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		entry := func() watch.WatchStatusEntry {
			entries := cluster.WatchStatus().Entries
			return entries[len(entries)-1]
		}
		r := subscribe(t, cluster, query.Query{}, "")
		r.settle()
		if c := entry(); c.Lists != 1 || c.Drops != 0 || c.Interruptions != 0 || c.CacheBytes == 0 || !c.LastEvent.IsZero() {
			t.Errorf("after the first list: got %+v", c)
		}
		server.Set(pods, pod("a", "p", "Failed"))
		r.settle()
		if c := entry(); c.LastEvent.IsZero() || c.RingChanges != 1 || c.RingSince.IsZero() {
			t.Errorf("after a change: got %+v", c)
		}

		server.EndWatches(pods) // The watch is reopened at once, so this is not an interruption.
		r.settle()
		if c := entry(); c.Drops != 1 || c.Interruptions != 0 {
			t.Errorf("after a watch ended: got %+v", c)
		}

		server.RefuseWatches(pods, http.StatusInternalServerError)
		advance(20 * time.Second)
		if c := entry(); c.Interruptions != 1 || c.InterruptedSeconds != 20 || c.InterruptedSince.IsZero() {
			t.Errorf("after 20 s without a watch: got %+v", c)
		}
		server.RefuseWatches(pods, 0)
		advance(time.Minute)
		interrupted := entry().InterruptedSeconds
		if c := entry(); c.Interruptions != 1 || interrupted < 20 || !c.InterruptedSince.IsZero() || c.State != status.Live {
			t.Errorf("after the watch is reopened: got %+v", c)
		}

		server.Refuse(pods, "", http.StatusForbidden, "")
		advance(time.Minute)
		server.Refuse(pods, "", 0, "")
		advance(time.Minute)
		r.settle()
		if c := entry(); c.Lists < 2 || c.Resets != 1 || c.LastEvent.IsZero() || c.Drops < 3 {
			t.Errorf("after a change of feeds: got %+v", c)
		}
	})
}

func TestInterruptedSinceFirstInterruption(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		allowOnly(server, "a", "b")
		subscribe(t, cluster, query.Query{}, "").settle()
		interruptedSince := func() time.Time {
			entries := cluster.WatchStatus().Entries
			return entries[len(entries)-1].InterruptedSince
		}
		server.Refuse(pods, "a", http.StatusInternalServerError, "ill")
		advance(30 * time.Second)
		first := interruptedSince()
		server.Refuse(pods, "b", http.StatusInternalServerError, "ill")
		advance(30 * time.Second)
		for range 50 {
			if since := interruptedSince(); first.IsZero() || !since.Equal(first) {
				t.Fatalf("interrupted since: got %v, want %v", since, first)
			}
		}
	})
}
