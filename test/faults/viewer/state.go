package viewer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/coder/websocket"
	jsonpatch "github.com/evanphx/json-patch/v5"
)

// A State is the state of a viewer's data at one time. The field State is, for example, "live". It is empty after the
// connection has ended.
type State struct {
	At     time.Time
	State  string
	Reason string
}

// Faults describes each inconsistent message. A correct server causes none.
func (v *Viewer) Faults() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append(v.view.Faults(), v.faults...)
}

// Tally returns the counts of the messages so far.
func (v *Viewer) Tally() Tally {
	v.mu.Lock()
	defer v.mu.Unlock()
	return Tally{Stats: v.view.Stats(), Connections: v.connections, Silence: v.silence}
}

// States returns all states so far, oldest first.
func (v *Viewer) States() []State {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]State(nil), v.states...)
}

// Closed returns the last close frame from the server, if any.
func (v *Viewer) Closed() (closeError websocket.CloseError, ok bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.closed, v.closes > 0
}

// State returns the latest state, or an empty one.
func (v *Viewer) State() State {
	states := v.States()
	if len(states) == 0 {
		return State{}
	}
	return states[len(states)-1]
}

// LiveWithin returns how long the state was live in the given period.
func (v *Viewer) LiveWithin(from, to time.Time) (total time.Duration) {
	states := append(v.States(), State{At: to})
	for i, s := range states[:len(states)-1] {
		begin, end := s.At, states[i+1].At
		if begin.Before(from) {
			begin = from
		}
		if end.After(to) {
			end = to
		}
		if s.State == "live" && end.After(begin) {
			total += end.Sub(begin)
		}
	}
	return total
}

// CompareRows returns an error if the rows differ from want. For a window, it compares only the rows of want that are
// in the window.
func (v *Viewer) CompareRows(want map[string]Row) error {
	if !v.view.IsComplete() {
		return fmt.Errorf("no snapshot yet; the state is %+v", v.States())
	}
	kind, rows, columns := v.Want().View, v.view.Rows(), v.view.Columns()
	if kind == "window" {
		var err error
		if want, err = v.window(want); err != nil {
			return err
		}
	}
	for key, w := range want {
		row, ok := rows[key]
		if !ok {
			return fmt.Errorf("%s is missing in %d rows, want %d", key, len(rows), len(want))
		}
		if kind == "table" {
			w.UID = "" // Messages of the form table contain no UIDs.
		}
		if row.UID != w.UID || row.RV != w.RV {
			return fmt.Errorf("%s is %s at %s, want %s at %s", key, row.UID, row.RV, w.UID, w.RV)
		}
		for i, cell := range w.Cells {
			if i < len(columns) && !columns[i].Relative && (i >= len(row.Cells) || !sameJSON(row.Cells[i], cell)) {
				return fmt.Errorf("%s has cells %s, want %s", key, row.Cells, w.Cells)
			}
		}
	}
	if len(rows) != len(want) {
		return fmt.Errorf("%d rows, want %d", len(rows), len(want))
	}
	return nil
}

// CompareObject returns an error if the received object is not equal to the JSON in want. If want is nil, the Viewer
// must have no object.
func (v *Viewer) CompareObject(want []byte) error {
	object := v.view.Object()
	switch {
	case !v.view.IsComplete():
		return fmt.Errorf("no snapshot yet; the state is %+v", v.States())
	case want == nil && object == nil:
		return nil
	case want == nil || object == nil || !jsonpatch.Equal(want, object):
		return fmt.Errorf("the object is %.300s, want %.300s", object, want)
	}
	return nil
}

// Rows returns a copy of the rows, by key.
func (v *Viewer) Rows() map[string]Row { return v.view.Rows() }

// Len returns the number of rows.
func (v *Viewer) Len() int { return v.view.Len() }

// Offers reports whether the server offers a resource, such as apps/v1/deployments. Until the first list of resources
// has arrived, isLoaded is false.
func (v *Viewer) Offers(ref string) (offered, isLoaded bool) { return v.view.Offers(ref) }

// History returns the changes in the latest snapshot and all changes since then, oldest first.
func (v *Viewer) History() []Change { return v.view.History() }

func sameJSON(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	return jsonpatch.Equal(a, b)
}
