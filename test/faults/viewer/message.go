package viewer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"strconv"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
)

// A Row is one object as the rows view sends it.
type Row struct {
	NS, Name, UID, RV string
	Cells             []json.RawMessage
}

// Key returns the namespace and name of a Row. No other row of the same resource has this key.
func (r *Row) Key() string { return r.NS + "/" + r.Name }

// A table contains rows as the table view sends them: one array for each field, with one element for each row.
type table struct {
	NS, Name, RV []string
	Created      []json.RawMessage
	// Cells has one element for each column. It is an array of cells, or the name of another field of the table that
	// already has the cells: "name" or "created".
	Cells []json.RawMessage
}

// rows returns the rows of a table. The rows have no UIDs, because the table view does not send them.
func (t *table) rows() ([]Row, error) {
	rows := make([]Row, len(t.Name))
	for i, name := range t.Name {
		rows[i] = Row{NS: t.NS[i], Name: name, RV: t.RV[i]}
	}
	names, err := json.Marshal(t.Name)
	for _, column := range t.Cells {
		var cells []json.RawMessage
		switch string(column) {
		case `"name"`:
			column = names
		case `"created"`:
			cells = t.Created
		}
		if cells == nil {
			err = errors.Join(err, json.Unmarshal(column, &cells))
		}
		if len(cells) != len(rows) {
			return nil, errors.Join(err, fmt.Errorf("%d rows, and a column with %d cells", len(rows), len(cells)))
		}
		for i, cell := range cells {
			rows[i].Cells = append(rows[i].Cells, cell)
		}
	}
	return rows, err
}

// A Column describes one column of cells. If Relative is true, its cells are times that are displayed as ages.
type Column struct {
	Name     string
	Relative bool
}

type message struct {
	Type    string
	Cursor  string
	State   string
	Reason  string
	Columns []Column
	Rows    []Row
	Table   *table
	Last    bool
	Object  json.RawMessage
	Events  []event
	Count   int
	Digest  string
	Problem json.RawMessage
	Text    string
	Sent    int `json:"told"`
	Of      int

	counts
	Resources []struct{ Ref string }
}

type event struct {
	Op, NS, Name, UID, RV string
	At                    int
	Row                   Row
	Cells                 map[int]json.RawMessage
	Object, Patch         json.RawMessage
}

func (v *Viewer) handleFrame(frame []byte) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.tally.Silence = max(v.tally.Silence, time.Since(v.lastMessage))
	v.lastMessage = time.Now()
	v.handleText(frame)
}

func (v *Viewer) handleText(frame []byte) {
	messages := make([]message, 1)
	var err error
	if bytes.HasPrefix(frame, []byte("[")) {
		err = json.Unmarshal(frame, &messages)
	} else {
		err = json.Unmarshal(frame, &messages[0])
	}
	if err != nil {
		v.fault("a frame that is not understood: %v: %.200s", err, frame)
		return
	}
	for i := range messages {
		v.handleMessage(&messages[i])
	}
}

func (v *Viewer) handleMessage(m *message) {
	switch m.Type {
	case "state":
		v.states = append(v.states, State{At: time.Now(), State: m.State, Reason: m.Reason})
	case "reset":
		v.tally.Resets++
		// The reset makes the cursor (stream position) invalid. The Viewer cannot resume until the next snapshot.
		v.resetting, v.awaitingResume, v.want.Cursor = true, false, ""
	case "window":
		m.Last, v.counts, v.order = true, m.counts, keys(m.Rows)
		v.handleSnapshot(m)
	case "snapshot":
		v.handleSnapshot(m)
	case "events", "window-events":
		v.counts = m.counts
		if v.awaitingResume {
			v.tally.Resumed++
			v.awaitingResume = false
		}
		if !v.isComplete() {
			v.fault("events before a snapshot")
		}
		for i := range m.Events {
			v.handleEvent(&m.Events[i])
		}
		v.want.Cursor = m.Cursor
	case "part":
		v.tally.Parts++
		v.text += m.Text
		if len(v.text) != m.Sent || m.Sent > m.Of {
			v.fault("a part up to %d of %d, but %d bytes have arrived", m.Sent, m.Of, len(v.text))
		}
		if text := v.text; m.Sent >= m.Of {
			v.text = ""
			v.handleText([]byte(text))
		}
	case "resources":
		v.kinds = make(map[string]bool)
		for _, r := range m.Resources {
			v.kinds[r.Ref] = true
		}
	case "heartbeat":
		if v.synced && m.Cursor != v.want.Cursor {
			v.fault("a heartbeat with the cursor %s, where %s was the last", m.Cursor, v.want.Cursor)
		}
	case "digest":
		v.tally.Digests++
		if sum := digest(v.rows); m.Cursor != v.want.Cursor || m.Count != len(v.rows) || m.Digest != sum {
			v.fault("a digest of %d rows %s at %s, but the copy has %d rows %s at %s",
				m.Count, m.Digest, m.Cursor, len(v.rows), sum, v.want.Cursor)
		}
	case "error":
		v.fault("an error: %s", m.Problem)
	}
}

// digest returns the hash of rows that the WebSocket protocol defines. A client verifies its copy with this hash.
func digest(rows map[string]Row) string {
	var sum uint32
	for key, row := range rows {
		h := fnv.New32a()
		_, _ = h.Write([]byte(key + "/" + row.RV))
		x := h.Sum32()
		x = (x ^ x>>16) * 0x85ebca6b
		x = (x ^ x>>13) * 0xc2b2ae35
		sum += x ^ x>>16
	}
	return fmt.Sprintf("%08x", sum)
}

func (v *Viewer) handleSnapshot(m *message) {
	if v.awaitingResume {
		v.fault("a snapshot without a reset, after a cursor")
		v.awaitingResume = false
	}
	if m.Columns != nil {
		v.columns, v.partial = m.Columns, nil
	}
	if v.partial == nil {
		v.partial = make(map[string]Row)
	}
	if m.Table != nil {
		var err error
		if m.Rows, err = m.Table.rows(); err != nil {
			v.fault("a table that is not understood: %v", err)
		}
	}
	for _, row := range m.Rows {
		if _, exists := v.partial[row.Key()]; exists {
			v.fault("a snapshot with %s twice", row.Key())
		}
		v.partial[row.Key()] = row
	}
	if !m.Last {
		return
	}
	v.tally.Snapshots++
	v.history = nil
	for i := range m.Events {
		v.handleChange(&m.Events[i])
	}
	v.rows, v.partial, v.object, v.synced, v.resetting, v.want.Cursor = v.partial, nil, m.Object, true, false, m.Cursor
}

func (v *Viewer) handleEvent(e *event) {
	v.tally.Events++
	switch v.want.View {
	case "object":
		v.handleObjectEvent(e)
		return
	case "changes":
		v.handleChange(e)
		return
	case "table":
		e.UID, e.Row.UID = "", "" // Snapshots in the table view have no UIDs.
	case "window":
		if !v.applyWindowEvent(e) {
			return
		}
	}
	if e.Op == "add" {
		e.NS, e.Name, e.UID, e.RV = e.Row.NS, e.Row.Name, e.Row.UID, e.Row.RV
	}
	key := e.NS + "/" + e.Name
	row, ok := v.rows[key]
	if ok == (e.Op == "add") || ok && row.UID != e.UID {
		v.fault("%s of %s (%s), but the copy has %s %s", e.Op, key, e.UID, row.UID, row.RV)
	}
	switch e.Op {
	case "add":
		v.rows[key] = e.Row
	case "delete":
		delete(v.rows, key)
	case "update":
		if !newer(e.RV, row.RV) {
			v.fault("%s goes from version %s to %s", key, row.RV, e.RV)
		}
		cells := append([]json.RawMessage(nil), row.Cells...)
		for i, cell := range e.Cells {
			if i >= len(cells) {
				v.fault("%s has %d cells, and cell %d changes", key, len(cells), i)
				continue
			}
			cells[i] = cell
		}
		v.rows[key] = Row{NS: e.NS, Name: e.Name, UID: e.UID, RV: e.RV, Cells: cells}
	default:
		v.fault("an event %q", e.Op)
	}
}

// handleObjectEvent applies an event of the object view (changes of a single object) to the Viewer's object. After a
// patch, the object must have the UID and resourceVersion in the event. If it has others, the server made the patch
// for a different version.
func (v *Viewer) handleObjectEvent(e *event) {
	if (v.object == nil) != (e.Op == "add") {
		v.fault("%s of an object, but the copy has %.80q", e.Op, v.object)
	}
	before := identity(v.object)
	switch e.Op {
	case "add":
		v.object = e.Object
	case "delete":
		if before.UID != e.UID {
			v.fault("delete of %s, but the copy has %s", e.UID, before.UID)
		}
		v.object = nil
	case "update":
		v.tally.Patches++
		patch, err := jsonpatch.DecodePatch(e.Patch)
		if err == nil {
			v.object, err = patch.Apply(v.object)
		}
		after := identity(v.object)
		if err != nil || after.UID != e.UID || after.ResourceVersion != e.RV || !newer(e.RV, before.ResourceVersion) {
			v.fault("the patch %.300s of %+v to %s at %s gives %+v: %v", e.Patch, before, e.UID, e.RV, after, err)
		}
	}
}

type meta struct{ UID, ResourceVersion string }

func identity(object []byte) meta {
	var o struct{ Metadata meta }
	_ = json.Unmarshal(object, &o)
	return o.Metadata
}

// newer reports whether a is a newer resourceVersion than b. The demo's API server uses increasing integers as
// resourceVersions.
func newer(a, b string) bool {
	x, errX := strconv.ParseUint(a, 10, 64)
	y, errY := strconv.ParseUint(b, 10, 64)
	return errX == nil && errY == nil && x > y
}

// Rows returns a copy of the Viewer's rows, by key.
func (v *Viewer) Rows() map[string]Row {
	v.mu.Lock()
	defer v.mu.Unlock()
	return maps.Clone(v.rows)
}
