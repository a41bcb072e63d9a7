package watch_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"glasshouse/internal/watch"
)

// Rows are gone through in turn, and not where it does not come; a turn ends before the
// answer is told.
func TestReadsInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.Set(pods, pod("a", "p", "Running"))
		turns, held := 0, 0
		var refused error
		access := cluster.For(watch.Viewer{Program: true}).InTurn(func(context.Context) (leave func(), err error) {
			turns++
			held++
			return func() { held-- }, refused
		})
		look := func() (all []error) {
			_, err := access.Snapshot(t.Context(), watch.Query{Resource: pods}, 0)
			_, found := access.Search(t.Context(), "p", 1, func(_, _ *watch.Resource) int { return 0 })
			return []error{err, found}
		}
		for n, err := range look() {
			if err != nil {
				t.Errorf("%d: %v", n, err)
			}
		}
		if turns != 2 || held != 0 {
			t.Errorf("of %d turns %d are held, want 2 and none", turns, held)
		}
		refused = errors.New("not now")
		for n, err := range look() {
			if !errors.Is(err, refused) {
				t.Errorf("%d: got %v without a turn", n, err)
			}
		}
	})
}
