package watch_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"
)

// A subscription acquires the ScanLimiter before each scan of all rows, and releases it before it sends a message.
// Invariant: I44.
func TestSubscriptionsWaitForScanLimiter(t *testing.T) {
	for _, test := range []struct {
		name  string
		query query.Query
		view  stream.View
		scans int // How often all rows are scanned in two minutes, including for digests (hashes of rows).
	}{
		// Without a filter, the first rows are read from a shared list without a scan, so only the digest needs one.
		{"all rows", query.Query{}, stream.Rows, 1},
		{"some rows", query.Query{Labels: "a!=b"}, stream.Rows, 2},
		{"a table", query.Query{Labels: "a!=b"}, stream.Table, 2},
		{"a window", query.Query{}, stream.Windowed, 1},
		{"changes", query.Query{}, stream.Changes, 1},
		{"an object", query.Query{Namespaces: []string{"a"}, Name: "p"}, stream.Object, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster := serveCluster(t)
				server.Set(pods, pod("a", "p", "Running"))
				scans, running := 0, 0
				access := cluster.For(watch.Viewer{Program: true}).
					With(watch.ReadOptions{ScanLimiter: func(context.Context) (func(), error) {
						scans++
						running++
						return func() { running-- }, nil
					}})
				test.query.Resource = pods
				if test.view == stream.Windowed {
					window, err := query.NewWindow("", 0, 10)
					if err != nil {
						t.Fatal(err)
					}
					test.query.Window = window
				}
				subscription, err := access.Subscribe(t.Context(), test.query, test.view, "")
				if err != nil {
					t.Fatal(err)
				}
				defer subscription.Close()
				for began := time.Now(); time.Since(began) < 2*time.Minute; {
					if _, err := subscription.Next(t.Context()); err != nil {
						t.Fatal(err)
					}
					if running != 0 {
						t.Fatal("the scan limiter is still acquired while a message is sent")
					}
					if scans >= test.scans && test.scans > 0 {
						break
					}
				}
				if scans != test.scans {
					t.Errorf("got %d scans, want %d", scans, test.scans)
				}
			})
		})
	}
}

// If the ScanLimiter returns an error, Snapshot and Search return this error and do not scan.
func TestReadsWaitForScanLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		scans, running := 0, 0
		var refused error
		limiter := func(context.Context) (release func(), err error) {
			scans++
			running++
			return func() { running-- }, refused
		}
		access := cluster.For(watch.Viewer{Program: true}).With(watch.ReadOptions{ScanLimiter: limiter})
		read := func() (all []error) {
			_, err := access.Snapshot(t.Context(), query.Query{Resource: pods}, 0)
			_, found := access.Search(
				t.Context(), watch.SearchQuery{Text: "p", Limit: 1}, func(_, _ *resource.Resource) int { return 0 },
			)
			return []error{err, found}
		}
		for n, err := range read() {
			if err != nil {
				t.Errorf("read %d: got error %v", n, err)
			}
		}
		if scans != 2 || running != 0 {
			t.Errorf("got %d acquisitions of the scan limiter, %d not released; want 2 and 0", scans, running)
		}
		refused = errors.New("not now")
		for n, err := range read() {
			if !errors.Is(err, refused) {
				t.Errorf("read %d without the scan limiter: got error %v, want the limiter's error", n, err)
			}
		}
	})
}
