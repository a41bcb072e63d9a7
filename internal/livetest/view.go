package livetest

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"sync"
	"time"
)

// A View is the state of one subscription, as a browser maintains it. All methods are safe for concurrent use.
type View struct {
	patch func(object, patch []byte) ([]byte, error)

	mu             sync.Mutex
	want           Subscription
	columns        []Column
	rows           map[string]Row
	partial        map[string]Row // Rows of an incomplete snapshot; nil before its first message.
	partialEvents  []Event
	order          []string // Row keys of a window (part of a sorted list), in order.
	counts         Counts
	offset, count  int
	object         []byte
	identity       identity
	history        []Change
	latest         map[string]Change
	resources      map[string]bool
	synced         bool
	resetting      bool // True from a reset until the next complete snapshot.
	awaitingResume bool // True after a reconnect with a cursor, until the first data arrives.
	unknown        bool // True if the View lacks the data before its cursor.
	stats          Stats
	faults         []string
	found          []string
}

// Stats contains numbers of received messages.
type Stats struct{ Snapshots, Resets, Resumed, Events, Patches, Digests, Parts int }

// NewView returns an empty View. The function patch applies an RFC 6902 patch; if nil, patched objects are not
// verified.
func NewView(want Subscription, patch func(object, patch []byte) ([]byte, error)) *View {
	v := &View{patch: patch, want: want, rows: make(map[string]Row), latest: make(map[string]Change)}
	v.unknown = v.resumes()
	v.awaitingResume = v.unknown
	return v
}

// resumes reports whether the View continues at its cursor after a reconnect. A window never does, because it always
// gets all its rows again.
func (v *View) resumes() bool { return v.want.Cursor != "" && v.want.View != "window" }

// Reconnect prepares the View for a new connection, and returns the message that subscribes again.
func (v *View) Reconnect() Subscription {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.awaitingResume, v.partial, v.partialEvents = v.resumes(), nil, nil
	return v.want
}

// Apply applies a message of the subscription, and returns its faults.
func (v *View) Apply(m *Message) (faults []string) {
	v.mu.Lock()
	v.found = nil
	v.applyMessage(m)
	faults = v.found
	v.mu.Unlock()
	v.record(faults...)
	return faults
}

func (v *View) record(faults ...string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	const maxFaults = 20
	for _, fault := range faults[:min(len(faults), maxFaults-len(v.faults))] {
		v.faults = append(v.faults, time.Now().Format("15:04:05.000 ")+fault)
	}
}

func (v *View) fault(format string, args ...any) {
	v.found = append(v.found, fmt.Sprintf(format, args...))
}

func (v *View) applyMessage(m *Message) {
	switch m.Type {
	case "reset":
		v.stats.Resets++
		// A reset makes the cursor invalid.
		v.resetting, v.awaitingResume, v.want.Cursor, v.partial, v.partialEvents = true, false, "", nil, nil
	case "window":
		v.counts, v.order, v.offset, v.count = m.Counts, keys(m.Rows), m.Offset, m.Count
		v.applySnapshot(m)
	case "snapshot":
		v.applySnapshot(m)
	case "events", "window-events":
		v.applyEvents(m)
	case "part":
		v.stats.Parts++
	case "resources":
		v.resources = make(map[string]bool)
		for _, r := range m.Resources {
			v.resources[r.Ref] = true
		}
	case "heartbeat":
		if m.Cursor != v.want.Cursor {
			v.fault("heartbeat with the cursor %q, want the last cursor %q", m.Cursor, v.want.Cursor)
		}
	case "digest":
		v.stats.Digests++
		switch sum := Digest(v.rows); {
		case m.Cursor != v.want.Cursor:
			v.fault("digest at the cursor %q, want the last cursor %q", m.Cursor, v.want.Cursor)
		case !v.unknown && (m.Count != len(v.rows) || m.Digest != sum):
			v.fault("digest of %d rows %s, but the copy has %d rows %s", m.Count, m.Digest, len(v.rows), sum)
		}
	}
}

func keys(rows []Row) (keys []string) {
	for _, row := range rows {
		keys = append(keys, row.Key())
	}
	return keys
}

// Digest returns the hash of the rows, computed as the WebSocket protocol defines.
func Digest(rows map[string]Row) string {
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

func (v *View) applySnapshot(m *Message) {
	if v.awaitingResume {
		v.fault("snapshot without a reset, after a cursor was sent")
		v.awaitingResume = false
	}
	if m.Columns != nil {
		v.columns, v.partial = m.Columns, nil
	}
	if v.partial == nil {
		v.partial = make(map[string]Row)
	}
	rows := m.Rows
	if m.Table != nil {
		var err error
		if rows, err = m.Table.rows(); err != nil {
			v.fault("a table that is not understood: %v", err)
		}
	}
	for _, row := range rows {
		if _, exists := v.partial[row.Key()]; exists {
			v.fault("snapshot contains %s twice", row.Key())
		}
		v.partial[row.Key()] = row
	}
	v.partialEvents = append(v.partialEvents, m.Events...)
	if !m.Last && m.Type != "window" {
		return
	}
	v.stats.Snapshots++
	v.history, v.latest = nil, make(map[string]Change)
	for i := range v.partialEvents {
		v.applyChange(&v.partialEvents[i])
	}
	v.rows, v.partial, v.partialEvents, v.object, v.identity = v.partial, nil, nil, m.Object, identityOf(m.Object)
	v.synced, v.resetting, v.unknown, v.want.Cursor = true, false, false, m.Cursor
}

func (v *View) applyEvents(m *Message) {
	if v.want.View == "window" {
		v.counts = m.Counts
	}
	if v.awaitingResume {
		v.stats.Resumed++
		v.awaitingResume = false
	}
	v.want.Cursor = m.Cursor
	if v.unknown {
		v.stats.Events += len(m.Events)
		return
	}
	if !v.isComplete() {
		v.fault("events before a snapshot")
	}
	for i := range m.Events {
		v.applyEvent(&m.Events[i])
	}
}

func (v *View) applyEvent(e *Event) {
	v.stats.Events++
	switch v.want.View {
	case "object":
		v.applyObjectEvent(e)
	case "changes":
		v.applyChange(e)
	case "window":
		if event, ok := v.applyWindowEvent(*e); ok {
			v.applyRowEvent(&event)
		}
	case "table":
		event := *e
		event.UID, event.Row.UID = "", "" // Snapshots in the table view have no UIDs.
		v.applyRowEvent(&event)
	default:
		v.applyRowEvent(e)
	}
}

func (v *View) applyRowEvent(e *Event) {
	changed := Row{NS: e.NS, Name: e.Name, UID: e.UID, RV: e.RV}
	if e.Op == "add" {
		changed = e.Row
	}
	key := changed.Key()
	row, ok := v.rows[key]
	if ok == (e.Op == "add") || ok && row.UID != changed.UID {
		v.fault("%s of %s (%s), but the copy has %s %s", e.Op, key, changed.UID, row.UID, row.RV)
	}
	switch e.Op {
	case "add":
		v.rows[key] = changed
	case "delete":
		delete(v.rows, key)
	case "update":
		if !e.follows(row.RV) {
			v.fault("%s goes from version %s to %s", key, row.RV, e.RV)
		}
		changed.Cells = slices.Clone(row.Cells)
		for i, cell := range e.Cells {
			if i < 0 || i >= len(changed.Cells) {
				v.fault("%s has %d cells, and cell %d changes", key, len(changed.Cells), i)
				continue
			}
			changed.Cells[i] = cell
		}
		v.rows[key] = changed
	default:
		v.fault("unknown event %q", e.Op)
	}
}

// applyWindowEvent applies an event with a position in a window to v.order. It returns the event with a key instead of
// the position, as in an unsorted list. If the position is outside the list, ok is false.
func (v *View) applyWindowEvent(e Event) (event Event, ok bool) {
	if e.At < 0 || e.At > len(v.order) || e.At == len(v.order) && e.Op != "insert" {
		v.fault("%s at %d of %d", e.Op, e.At, len(v.order))
		return e, false
	}
	if e.Op == "insert" {
		v.order = slices.Insert(v.order, e.At, e.Row.Key())
		e.Op = "add"
		return e, true
	}
	row := v.rows[v.order[e.At]]
	e.NS, e.Name = row.NS, row.Name
	if e.Op == "remove" {
		v.order = slices.Delete(v.order, e.At, e.At+1)
		e.Op, e.UID = "delete", row.UID
	}
	return e, true
}

type identity struct{ UID, ResourceVersion string }

func identityOf(object []byte) identity {
	var o struct{ Metadata identity }
	_ = json.Unmarshal(object, &o) // If there is no object, this fails, and the identity stays empty.
	return o.Metadata
}

// applyObjectEvent verifies UID and resourceVersion after a patch. A difference shows that the patch was made for
// another version.
func (v *View) applyObjectEvent(e *Event) {
	before := v.identity
	if (before == identity{}) != (e.Op == "add") {
		v.fault("%s of an object, but the copy has %+v", e.Op, before)
	}
	switch e.Op {
	case "add":
		v.object, v.identity = e.Object, identityOf(e.Object)
	case "delete":
		if before.UID != e.UID {
			v.fault("delete of %s, but the copy has %s", e.UID, before.UID)
		}
		v.object, v.identity = nil, identity{}
	case "update":
		v.stats.Patches++
		var err error
		v.identity = identity{e.UID, e.RV}
		if v.patch != nil {
			v.object, err = v.patch(v.object, e.Patch)
			v.identity = identityOf(v.object)
		}
		if err != nil || before.UID != e.UID || v.identity != (identity{e.UID, e.RV}) ||
			!e.follows(before.ResourceVersion) {
			v.fault("patch %.300s of %+v to %s at %s results in %+v: %v", e.Patch, before, e.UID, e.RV, v.identity, err)
		}
	default:
		v.fault("unknown event %q", e.Op)
	}
}

// newer reports whether resourceVersion a is newer than b. API servers use increasing integers.
func newer(a, b string) bool {
	x, errX := strconv.ParseUint(a, 10, 64)
	y, errY := strconv.ParseUint(b, 10, 64)
	return errX == nil && errY == nil && x > y
}
