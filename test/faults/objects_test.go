package faults

import (
	"testing"
	"time"
)

// Clients receive one delete for a deleted object, and a delete and an add for a replaced one.
//
// Invariant: I39.
func TestChangesWhileDisconnectedAreSentOnce(t *testing.T) {
	for _, side := range []struct {
		name         string
		cut, restore func(*testbed) error
	}{
		{
			"the API server", func(w *testbed) error { w.up.Cut(); return nil },
			func(w *testbed) error { return w.up.Restore() },
		},
		{
			"the client", func(w *testbed) error { w.down.Cut(); return nil },
			func(w *testbed) error { return w.down.Restore() },
		},
	} {
		for _, test := range []struct {
			name   string
			change func(*testing.T, *testbed)
		}{
			{"deleted", func(t *testing.T, w *testbed) {
				t.Helper()
				check(t, w.Delete(t.Context(), w.namespace, "it"))
			}},
			{"deleted and recreated", func(t *testing.T, w *testbed) {
				t.Helper()
				check(t, w.Delete(t.Context(), w.namespace, "it"))
				check(t, w.Apply(t.Context(), w.namespace, "it", "another"))
			}},
			{"recreated twice, then deleted", func(t *testing.T, w *testbed) {
				t.Helper()
				for range 2 {
					check(t, w.Delete(t.Context(), w.namespace, "it"))
					check(t, w.Apply(t.Context(), w.namespace, "it", "another"))
				}
				check(t, w.Delete(t.Context(), w.namespace, "it"))
			}},
			{"created and deleted", func(t *testing.T, w *testbed) {
				t.Helper()
				check(t, w.Apply(t.Context(), w.namespace, "other", "1"))
				check(t, w.Delete(t.Context(), w.namespace, "other"))
			}},
		} {
			t.Run(side.name+", "+test.name, func(t *testing.T) {
				t.Parallel()
				w := open(t, options{})
				check(t, w.Apply(t.Context(), w.namespace, "it", "1"))
				rows, objects := w.startViewers(2, w.rows()), w.startViewers(2, w.object("it"))
				waitForState(t, 20*time.Second, "live", append(rows, objects...)...)
				w.converges(10*time.Second, rows...)
				w.objectConverges(10*time.Second, "it", objects...)
				check(t, side.cut(w))
				test.change(t, w)
				check(t, side.restore(w))
				w.converges(30*time.Second, rows...)
				w.objectConverges(30*time.Second, "it", objects...)
				waitForState(t, 10*time.Second, "live", append(rows, objects...)...)
				checkNoFaults(t, rows...)
				checkNoFaults(t, objects...)
			})
		}
	}
}
