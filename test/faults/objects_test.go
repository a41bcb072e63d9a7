package faults

import (
	"testing"
	"time"
)

// While a link is down, an object is deleted or replaced. Clients then receive exactly a delete, or a delete and an
// add. The viewers check the UIDs.
func TestChangedWhileDisconnected(t *testing.T) {
	for _, leg := range []struct {
		name      string
		cut, mend func(*scene) error
	}{
		{
			"the API server", func(w *scene) error { w.up.Cut(); return nil },
			func(w *scene) error { return w.up.Mend() },
		},
		{
			"the client", func(w *scene) error { w.down.Cut(); return nil },
			func(w *scene) error { return w.down.Mend() },
		},
	} {
		for _, test := range []struct {
			name    string
			happens func(*testing.T, *scene)
		}{
			{"deleted", func(t *testing.T, w *scene) {
				t.Helper()
				check(t, w.Delete(t.Context(), w.namespace, "it"))
			}},
			{"deleted and recreated", func(t *testing.T, w *scene) {
				t.Helper()
				check(t, w.Delete(t.Context(), w.namespace, "it"))
				check(t, w.Apply(t.Context(), w.namespace, "it", "another"))
			}},
			{"recreated twice, then deleted", func(t *testing.T, w *scene) {
				t.Helper()
				for range 2 {
					check(t, w.Delete(t.Context(), w.namespace, "it"))
					check(t, w.Apply(t.Context(), w.namespace, "it", "another"))
				}
				check(t, w.Delete(t.Context(), w.namespace, "it"))
			}},
			{"created and deleted", func(t *testing.T, w *scene) {
				t.Helper()
				check(t, w.Apply(t.Context(), w.namespace, "other", "1"))
				check(t, w.Delete(t.Context(), w.namespace, "other"))
			}},
		} {
			t.Run(leg.name+", "+test.name, func(t *testing.T) {
				t.Parallel()
				w := open(t, setting{})
				check(t, w.Apply(t.Context(), w.namespace, "it", "1"))
				rows, objects := w.look(2, w.rows()), w.look(2, w.object("it"))
				becomes(t, 20*time.Second, "live", append(rows, objects...)...)
				w.converges(10*time.Second, rows...)
				w.objectConverges(10*time.Second, "it", objects...)
				check(t, leg.cut(w))
				test.happens(t, w)
				check(t, leg.mend(w))
				w.converges(30*time.Second, rows...)
				w.objectConverges(30*time.Second, "it", objects...)
				becomes(t, 10*time.Second, "live", append(rows, objects...)...)
				sound(t, rows...)
				sound(t, objects...)
			})
		}
	}
}
