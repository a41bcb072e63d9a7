package viewer

import (
	"fmt"
	"slices"
)

func lastOf(history []Change, key string) *Change {
	for i := range slices.Backward(history) {
		if history[i].Key() == key {
			return &history[i]
		}
	}
	return nil
}

// CompareChanges checks that the received changes transform the rows in before into the rows in want.
func (v *Viewer) CompareChanges(before, want map[string]Row) error {
	history := v.History()
	for key, w := range want {
		last := lastOf(history, key)
		row, exists := before[key]
		switch {
		case last == nil && exists && row.UID == w.UID && row.RV == w.RV: // The object has not changed.
		case last == nil, last.Op == "delete", last.UID != w.UID, last.RV != w.RV:
			return fmt.Errorf("last change of %s is %+v of %d, want UID %s at version %s",
				key, last, len(history), w.UID, w.RV)
		}
	}
	for i := range history {
		key := history[i].Key()
		if _, exists := want[key]; !exists && lastOf(history, key).Op != "delete" {
			return fmt.Errorf("last change of %s is %+v, but the object does not exist", key, *lastOf(history, key))
		}
	}
	for key := range before {
		if _, exists := want[key]; !exists && lastOf(history, key) == nil {
			return fmt.Errorf("no change reports the deletion of %s", key)
		}
	}
	return nil
}
