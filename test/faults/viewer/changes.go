package viewer

import (
	"fmt"
	"slices"
)

// A Change is an add, update or delete of one object, as the changes view sends it.
type Change struct{ Op, NS, Name, UID, RV string }

func (c *Change) key() string { return c.NS + "/" + c.Name }

// handleChange records a change of an object. It records a fault if the change is impossible after the previous
// change of the same object, for example an add after an add.
func (v *Viewer) handleChange(e *event) {
	c := Change{Op: e.Op, NS: e.NS, Name: e.Name, UID: e.UID, RV: e.RV}
	if last := lastOf(v.history, c.key()); last != nil {
		alive := last.Op != "delete"
		switch {
		case (c.Op == "add") == alive, alive && c.UID != last.UID, !alive && c.UID == last.UID:
			v.fault("%+v is followed by %+v", *last, c)
		case c.Op == "update" && !newer(c.RV, last.RV), c.Op == "delete" && newer(last.RV, c.RV):
			v.fault("%+v is followed by %+v, which is older", *last, c)
		}
	}
	if (c.Op == "update") != (e.Patch != nil) {
		v.fault("a change with the patch %.80q: %+v", e.Patch, c)
	}
	v.history = append(v.history, c)
}

func lastOf(history []Change, key string) *Change {
	for i := range slices.Backward(history) {
		if history[i].key() == key {
			return &history[i]
		}
	}
	return nil
}

// History returns the changes in the last snapshot and all changes since then, oldest first.
func (v *Viewer) History() []Change {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.history)
}

// CompareChanges checks that the received changes transform the rows in before into the rows in want. Each row that
// differs must have a change. The last change of each object must match its row in want.
func (v *Viewer) CompareChanges(before, want map[string]Row) error {
	history := v.History()
	for key, w := range want {
		last := lastOf(history, key)
		row, exists := before[key]
		switch {
		case last == nil && exists && row.UID == w.UID && row.RV == w.RV: // The object has not changed.
		case last == nil, last.Op == "delete", last.UID != w.UID, last.RV != w.RV:
			return fmt.Errorf("the last change of %s is %+v of %d, want one to %s at %s",
				key, last, len(history), w.UID, w.RV)
		}
	}
	for i := range history {
		key := history[i].key()
		if _, exists := want[key]; !exists && lastOf(history, key).Op != "delete" {
			return fmt.Errorf("the last change of %s is %+v, and it is no more", key, *lastOf(history, key))
		}
	}
	for key := range before {
		if _, exists := want[key]; !exists && lastOf(history, key) == nil {
			return fmt.Errorf("no message reports that %s was deleted", key)
		}
	}
	return nil
}

// Offers reports whether the server's list of resources contains the resource ref, such as apps/v1/deployments. The
// result known is false until the first list has arrived.
func (v *Viewer) Offers(ref string) (offered, known bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.kinds[ref], v.kinds != nil
}
