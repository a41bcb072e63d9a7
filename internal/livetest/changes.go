package livetest

import "slices"

// A Change is an add, update or delete of one object.
type Change struct{ Op, NS, Name, UID, RV string }

// Key returns the namespace and name of the object.
func (c *Change) Key() string { return c.NS + "/" + c.Name }

// applyChange records a fault if a change cannot follow the previous one, for example an add after an add.
func (v *View) applyChange(e *Event) {
	c := Change{Op: e.Op, NS: e.NS, Name: e.Name, UID: e.UID, RV: e.RV}
	if last, ok := v.latest[c.Key()]; ok {
		alive := last.Op != "delete"
		switch {
		case (c.Op == "add") == alive, alive && c.UID != last.UID, !alive && c.UID == last.UID && !v.isFiltered():
			v.fault("change %+v is followed by change %+v", last, c)
		case c.Op == "update" && !newer(c.RV, last.RV), c.Op == "delete" && newer(last.RV, c.RV):
			v.fault("change %+v is followed by older change %+v", last, c)
		}
	}
	if (c.Op == "update") != (e.Patch != nil) {
		v.fault("change with the patch %.80q: %+v", e.Patch, c)
	}
	v.history, v.latest[c.Key()] = append(v.history, c), c
}

// isFiltered reports whether a label or field selector filters the objects. Objects can then leave and reenter the view
// without being deleted.
func (v *View) isFiltered() bool { return v.want.Labels != "" || v.want.Fields != "" }

// History returns the changes in the latest snapshot and all changes since then, oldest first.
func (v *View) History() []Change {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.history)
}
