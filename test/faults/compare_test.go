package faults

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"glasshouse/test/faults/viewer"
)

// converges waits until the rows of every viewer equal a quorum list of the API server, and returns how long that took.
func (w *testbed) converges(timeout time.Duration, viewers ...*viewer.Viewer) time.Duration {
	w.t.Helper()
	return eventually(w.t, timeout, "the viewer's copy is what the API server lists", func() error {
		return w.compare(viewers)
	})
}

// compare compares the rows of each viewer with a quorum list for its subscription.
func (w *testbed) compare(viewers []*viewer.Viewer) error {
	lists := make(map[string]map[string]viewer.Row) // All viewers with the same query share one list, in any view.
	for i, v := range viewers {
		want := v.Want()
		key := fmt.Sprint(want.Resource, want.Namespaces, want.Labels, want.Fields)
		if _, listed := lists[key]; !listed {
			list, err := w.Rows(w.t.Context(), want)
			if err != nil {
				return err
			}
			lists[key] = list
		}
		if err := v.CompareRows(lists[key]); err != nil {
			return fmt.Errorf("viewer %d, of %s of %s: %w", i, want.View, key, err)
		}
	}
	return nil
}

// objectConverges is like converges, but for viewers that subscribe to the object name.
func (w *testbed) objectConverges(timeout time.Duration, name string, viewers ...*viewer.Viewer) time.Duration {
	w.t.Helper()
	return eventually(w.t, timeout, "the viewer's object is the API server's", func() error {
		return w.compareObject(name, viewers)
	})
}

func (w *testbed) compareObject(name string, viewers []*viewer.Viewer) error {
	want, err := w.Object(w.t.Context(), configMaps, w.namespace, name)
	if err != nil {
		return err
	}
	for i, v := range viewers {
		if err := v.CompareObject(want); err != nil {
			return fmt.Errorf("viewer %d: %w", i, err)
		}
	}
	return nil
}

// changesConverge waits until the changes that every viewer has received explain how the rows in before became the
// present rows. If viewers received different changes, or in a different order, the test fails.
func (w *testbed) changesConverge(timeout time.Duration, before map[string]viewer.Row, viewers ...*viewer.Viewer) {
	w.t.Helper()
	eventually(w.t, timeout, "changes lead to what the API server lists", func() error {
		return w.compareChanges(before, viewers)
	})
	for i, v := range viewers {
		if first, history := viewers[0].History(), v.History(); !slices.Equal(first, history) {
			w.t.Errorf("viewer %d got %d changes in another order than viewer 0, or others than its %d",
				i, len(history), len(first))
		}
	}
}

func (w *testbed) compareChanges(before map[string]viewer.Row, viewers []*viewer.Viewer) error {
	want, err := w.Rows(w.t.Context(), w.rows())
	if err != nil {
		return err
	}
	for i, v := range viewers {
		if err := v.CompareChanges(before, want); err != nil {
			return fmt.Errorf("viewer %d: %w", i, err)
		}
	}
	return nil
}

// waitForState waits until every viewer has the given state, and returns how long that took.
func waitForState(t *testing.T, timeout time.Duration, state string, viewers ...*viewer.Viewer) time.Duration {
	t.Helper()
	return eventually(t, timeout, "the state is "+state, func() error {
		for i, v := range viewers {
			if now := v.State(); now.State != state {
				return fmt.Errorf("viewer %d is shown %q (%s)", i, now.State, now.Reason)
			}
		}
		return nil
	})
}

// checkNotLive fails the test if the state of a viewer was live at any time between from and to.
func checkNotLive(t *testing.T, from, to time.Time, viewers ...*viewer.Viewer) {
	t.Helper()
	for i, v := range viewers {
		if duration := v.LiveWithin(from, to); duration > 0 {
			states := v.States()
			t.Errorf("viewer %d was shown live for %v of %v in which nothing was: %+v",
				i, duration, to.Sub(from), states[max(0, len(states)-5):])
		}
	}
}

// checkNoFaults fails the test if a viewer recorded a fault. It returns the sum of the viewers' counts.
func checkNoFaults(t *testing.T, viewers ...*viewer.Viewer) (sum viewer.Tally) {
	t.Helper()
	for i, v := range viewers {
		if faults := v.Faults(); len(faults) > 0 {
			t.Errorf("viewer %d: %s", i, strings.Join(faults, "\n"))
		}
		n := v.Tally()
		sum.Connections += n.Connections
		sum.Snapshots += n.Snapshots
		sum.Resets += n.Resets
		sum.Resumed += n.Resumed
		sum.Events += n.Events
		sum.Patches += n.Patches
		sum.Digests += n.Digests
		sum.Parts += n.Parts
		sum.Silence = max(sum.Silence, n.Silence)
	}
	t.Logf("%d viewers: %+v", len(viewers), sum)
	return sum
}
