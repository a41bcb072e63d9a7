package viewer

import (
	"fmt"
	"slices"
)

// A Change is what the view of changes tells has happened to an object.
type Change struct{ Op, NS, Name, UID, RV string }

func (c *Change) key() string { return c.NS + "/" + c.Name }

// takeChange notes a change, which must follow from what was told of its name before.
func (v *Viewer) takeChange(e *event) {
	c := Change{Op: e.Op, NS: e.NS, Name: e.Name, UID: e.UID, RV: e.RV}
	if last := lastOf(v.history, c.key()); last != nil {
		alive := last.Op != "delete"
		switch {
		case (c.Op == "add") == alive, alive && c.UID != last.UID, !alive && c.UID == last.UID:
			v.fault("after %+v comes %+v", *last, c)
		case c.Op == "update" && !newer(c.RV, last.RV), c.Op == "delete" && newer(last.RV, c.RV):
			v.fault("after %+v comes %+v, which is older", *last, c)
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

// History is what was told since the last snapshot, with what that had, oldest first.
func (v *Viewer) History() []Change {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.history)
}

// Led compares what changes led to with what there is, where before is what there was at their beginning: every change
// of then to now was told, and the last of each name is what there is.
func (v *Viewer) Led(before, want map[string]Row) error {
	history := v.History()
	for key, w := range want {
		last := lastOf(history, key)
		held, there := before[key]
		switch {
		case last == nil && there && held.UID == w.UID && held.RV == w.RV: // It has not changed.
		case last == nil, last.Op == "delete", last.UID != w.UID, last.RV != w.RV:
			return fmt.Errorf("the last change of %s is %+v of %d, want one to %s at %s",
				key, last, len(history), w.UID, w.RV)
		}
	}
	for i := range history {
		key := history[i].key()
		if _, there := want[key]; !there && lastOf(history, key).Op != "delete" {
			return fmt.Errorf("the last change of %s is %+v, and it is no more", key, *lastOf(history, key))
		}
	}
	for key := range before {
		if _, there := want[key]; !there && lastOf(history, key) == nil {
			return fmt.Errorf("nothing tells that %s is no more", key)
		}
	}
	return nil
}

// Offers tells whether there is such a kind; known is false as long as nothing was told of any.
func (v *Viewer) Offers(ref string) (offered, known bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.kinds[ref], v.kinds != nil
}
