// Package viewer is a client of the wire that holds what a browser would hold, and notes whatever does not fit it: an
// add of what is held, a change of what is not, a version that goes back, a patch on another base, a snapshot where a
// cursor should have been gone on from, a heartbeat or digest of a state that is not the one held.
//
// A Viewer's connection belongs to Run; everything else may be called at any time.
package viewer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// Want is what a Viewer looks at.
type Want struct {
	Op         string   `json:"op"`
	ID         int      `json:"id"`
	Resource   string   `json:"resource,omitempty"`
	Namespaces []string `json:"ns,omitempty"`
	Labels     string   `json:"labels,omitempty"`
	Fields     string   `json:"fields,omitempty"`
	Name       string   `json:"name,omitempty"`
	View       string   `json:"view"`
	Q          string   `json:"q,omitempty"`    // Of a window: what is in the names.
	Sort       string   `json:"sort,omitempty"` // Of a window: a column of numbers, in lower case, behind "-" for the largest first.
	Offset     int      `json:"offset,omitempty"`
	Count      int      `json:"count,omitempty"`
	Cursor     string   `json:"cursor,omitempty"`
}

// Rows is the rows view of a resource in some namespaces, or in all.
func Rows(resource string, namespaces ...string) Want {
	return Want{Resource: resource, Namespaces: namespaces, View: "rows"}
}

// Object is the object view of one object.
func Object(resource, namespace, name string) Want {
	return Want{Resource: resource, Namespaces: []string{namespace}, Name: name, View: "object"}
}

// Changes is the view of what happens in some namespaces, one by one.
func Changes(resource string, namespaces ...string) Want {
	return Want{Resource: resource, Namespaces: namespaces, View: "changes"}
}

// Kinds is the view of what can be looked at.
func Kinds() Want { return Want{View: "resources"} }

// A Viewer rebuilds what it looks at.
type Viewer struct {
	url string

	mu      sync.Mutex
	want    Want // With the cursor to go on from.
	columns []Column
	rows    map[string]Row
	parts   map[string]Row // A snapshot that is not whole.
	order   []string       // The keys of a window's rows.
	counts  counts         // Of a window.
	object  []byte
	text    string    // Of a message that comes in parts.
	heard   time.Time // When the last message came.
	history []Change
	kinds   map[string]bool
	synced  bool // A snapshot came,
	anew    bool // and then a reset, behind which another is to come.
	fresh   bool // Nothing came since it connected with a cursor.
	tally   Tally
	states  []State
	faults  []string
	closed  websocket.CloseError
	closes  int
	paused  chan struct{} // Closed when it may read again; nil while it may.
	cut     context.CancelFunc
}

// Tally counts what was told.
type Tally struct {
	Connections, Snapshots, Resets, Resumed, Events, Patches, Digests, Parts int
	Silence                                                                  time.Duration // The longest between two messages of a connection.
}

// New makes a Viewer of what is served at url.
func New(url string, want Want) *Viewer {
	want.Op, want.ID = "subscribe", 1
	return &Viewer{
		url: strings.Replace(url, "http://", "ws://", 1) + "/api/v1/live", want: want, rows: make(map[string]Row),
	}
}

// InParts asks for long messages in parts; call it before Run.
func (v *Viewer) InParts() { v.url += "?parts=true" }

// Want is what it looks at, with the cursor to go on from.
func (v *Viewer) Want() Want {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.want
}

// Run connects, again and again, until ctx ends. It goes on from the last cursor each time.
func (v *Viewer) Run(ctx context.Context) {
	for ctx.Err() == nil {
		v.Connect(ctx)
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Connect looks until the connection ends.
func (v *Viewer) Connect(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, v.url, &websocket.DialOptions{Subprotocols: []string{"glasshouse.v1+json"}}) //nolint:bodyclose // It is the connection's.
	if err != nil {
		return // Nobody there.
	}
	defer func() { _ = conn.CloseNow() }() // It may be closed already.
	conn.SetReadLimit(64 << 20)
	v.mu.Lock()
	want := v.want
	v.fresh, v.parts, v.cut = want.Cursor != "" && want.View != "window", nil, cancel // A window is told anew.
	v.text, v.heard = "", time.Now()
	v.tally.Connections++
	v.mu.Unlock()
	frame, err := json.Marshal(want)
	if err == nil {
		err = conn.Write(ctx, websocket.MessageText, frame)
	}
	for err == nil {
		v.wait(ctx)
		if _, frame, err = conn.Read(ctx); err != nil {
			break
		}
		// The library gives what there is of a message for all of it where the
		// connection ends within (its msgReader takes any io.EOF for the message's).
		if !json.Valid(frame) {
			if _, _, err = conn.Read(ctx); err != nil && websocket.CloseStatus(err) == -1 {
				break
			}
		}
		v.take(frame)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.states = append(v.states, State{At: time.Now()})
	if errors.As(err, &v.closed) {
		v.closes++
	}
}

// Cut ends the connection without a word; Run connects again.
func (v *Viewer) Cut() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.cut != nil {
		v.cut()
	}
}

// Pause stops reading, and leaves the connection as it is, until go on is called.
func (v *Viewer) Pause() (goOn func()) {
	paused := make(chan struct{})
	v.mu.Lock()
	defer v.mu.Unlock()
	v.paused = paused
	return sync.OnceFunc(func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.paused = nil
		close(paused)
	})
}

func (v *Viewer) wait(ctx context.Context) {
	v.mu.Lock()
	paused := v.paused
	v.mu.Unlock()
	if paused == nil {
		return
	}
	select {
	case <-paused:
	case <-ctx.Done():
	}
}

func (v *Viewer) fault(format string, args ...any) {
	const enough = 20
	if len(v.faults) < enough {
		v.faults = append(v.faults, time.Now().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
	}
}
