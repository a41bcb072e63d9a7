package faults

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/test/faults/viewer"
)

// converges waits until the rows of the viewers equal a new list of the API server, and returns how long this took. The
// test fails after the timeout.
func (w *testbed) converges(timeout time.Duration, viewers ...*viewer.Viewer) time.Duration {
	w.t.Helper()
	return eventually(w.t, timeout, "the viewers' rows equal the list of the API server", func() error {
		return w.compare(viewers)
	})
}

func (w *testbed) compare(viewers []*viewer.Viewer) error {
	lists := make(map[string]map[string]viewer.Row)
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
			return fmt.Errorf("viewer %d, view %s of %s: %w", i, want.View, key, err)
		}
	}
	return nil
}

func (w *testbed) objectConverges(timeout time.Duration, name string, viewers ...*viewer.Viewer) time.Duration {
	w.t.Helper()
	return eventually(w.t, timeout, "the viewers' object equals that of the API server", func() error {
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

// changesConverge waits until the changes that each viewer has received transform the earlier rows into the present
// ones.
func (w *testbed) changesConverge(timeout time.Duration, earlier map[string]viewer.Row, viewers ...*viewer.Viewer) {
	w.t.Helper()
	eventually(w.t, timeout, "the viewers' changes result in the list of the API server", func() error {
		return w.compareChanges(earlier, viewers)
	})
	// All viewers must get the same changes in the same order.
	for i, v := range viewers {
		if first, history := viewers[0].History(), v.History(); !slices.Equal(first, history) {
			w.t.Errorf("viewer %d got %d changes that differ from the %d of viewer 0",
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

func waitForState(t *testing.T, timeout time.Duration, state string, viewers ...*viewer.Viewer) time.Duration {
	t.Helper()
	return eventually(t, timeout, "the state is "+state, func() error {
		for i, v := range viewers {
			if now := v.State(); now.State != state {
				return fmt.Errorf("viewer %d has the state %q (%s)", i, now.State, now.Reason)
			}
		}
		return nil
	})
}

func checkNotLive(t *testing.T, from, to time.Time, viewers ...*viewer.Viewer) {
	t.Helper()
	for i, v := range viewers {
		if duration := v.LiveWithin(from, to); duration > 0 {
			states := v.States()
			t.Errorf("viewer %d had the state live for %v of %v while the link was down: %+v",
				i, duration, to.Sub(from), states[max(0, len(states)-5):])
		}
	}
}

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
