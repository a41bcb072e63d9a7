// Package viewer is a test client of the dashboard's WebSocket protocol. It maintains the same state as a browser,
// and records every message that is inconsistent with this state:
//
//   - an add of an existing row, or a change of a missing row
//   - a resourceVersion that decreases
//   - a patch that was made for another version
//   - a snapshot where the server should have resumed from a cursor
//   - a heartbeat or digest (a hash of the rows) that does not match the state
//
// Only one call of Run or Connect is allowed at a time. Call RequestChunks before them. All other methods are safe
// for concurrent use.
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

// Want is a subscription message. Its fields define what a Viewer subscribes to.
type Want struct {
	Op         string   `json:"op"`
	ID         int      `json:"id"`
	Resource   string   `json:"resource,omitempty"`
	Namespaces []string `json:"ns,omitempty"`
	Labels     string   `json:"labels,omitempty"`
	Fields     string   `json:"fields,omitempty"`
	Name       string   `json:"name,omitempty"`
	View       string   `json:"view"`
	Q          string   `json:"q,omitempty"`    // Window (part of a sorted list) only: text that names must contain.
	Sort       string   `json:"sort,omitempty"` // Window only: a numeric column in lowercase; "-" means descending.
	Offset     int      `json:"offset,omitempty"`
	Count      int      `json:"count,omitempty"`
	Cursor     string   `json:"cursor,omitempty"`
}

// Rows returns a subscription to the rows view of a resource. Without namespaces, it includes all namespaces.
func Rows(resource string, namespaces ...string) Want {
	return Want{Resource: resource, Namespaces: namespaces, View: "rows"}
}

// Object returns a subscription to the object view of one object.
func Object(resource, namespace, name string) Want {
	return Want{Resource: resource, Namespaces: []string{namespace}, Name: name, View: "object"}
}

// Changes returns a subscription to the changes view, which sends each add, update and delete separately.
func Changes(resource string, namespaces ...string) Want {
	return Want{Resource: resource, Namespaces: namespaces, View: "changes"}
}

// Kinds returns a subscription to the list of resources that the server offers.
func Kinds() Want { return Want{View: "resources"} }

// A Viewer is a test client with one subscription. It maintains the rows or the object that the server sends.
type Viewer struct {
	url string

	mu             sync.Mutex
	want           Want // Subscription, with the cursor (stream position) to resume from.
	columns        []Column
	rows           map[string]Row
	partial        map[string]Row
	order          []string // Keys of the rows in a window (a part of a sorted list), in order.
	counts         counts   // Numbers of rows that the server reports with a window.
	object         []byte
	text           string // Received chunks of an incomplete message.
	lastMessage    time.Time
	history        []Change
	kinds          map[string]bool
	synced         bool // True after the first complete snapshot.
	resetting      bool // True from a reset until the next complete snapshot.
	awaitingResume bool // True after a reconnect with a cursor to resume from, until data arrives.
	tally          Tally
	states         []State
	faults         []string
	closed         websocket.CloseError
	closes         int
	paused         chan struct{} // Closing this channel resumes reading; nil if reading is not paused.
	cut            context.CancelFunc
}

// Tally contains the number of connections and received messages of a Viewer.
type Tally struct {
	Connections, Snapshots, Resets, Resumed, Events, Patches, Digests, Parts int

	Silence time.Duration // Longest time between two messages of a connection.
}

// New returns a Viewer for the subscription want. url is the dashboard's URL.
func New(url string, want Want) *Viewer {
	want.Op, want.ID = "subscribe", 1
	return &Viewer{
		url: strings.Replace(url, "http://", "ws://", 1) + "/api/v1/live", want: want, rows: make(map[string]Row),
	}
}

// RequestChunks makes the server send long messages in chunks. Call it before Run or Connect.
func (v *Viewer) RequestChunks() { v.url += "?parts=true" }

// Want returns the Viewer's subscription, with the cursor (stream position) to resume from.
func (v *Viewer) Want() Want {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.want
}

// Run connects, and reconnects whenever the connection ends, until ctx ends. Each connection resumes from the last
// cursor (stream position).
func (v *Viewer) Run(ctx context.Context) {
	for ctx.Err() == nil {
		v.Connect(ctx)
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Connect opens a connection, subscribes, and handles messages until the connection or ctx ends.
func (v *Viewer) Connect(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, v.url, //nolint:bodyclose // Closing the connection closes the body.
		&websocket.DialOptions{Subprotocols: []string{"glasshouse.v1+json"}})
	if err != nil {
		return
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(64 << 20)
	v.mu.Lock()
	want := v.want
	// A subscription to a window (a part of a sorted list) never resumes. It gets all rows of the window again.
	v.awaitingResume, v.partial, v.cut = want.Cursor != "" && want.View != "window", nil, cancel
	v.text, v.lastMessage = "", time.Now()
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
		// If the connection ends within a message, the WebSocket library returns the incomplete message without an
		// error, because it treats any io.EOF as the end of the message (msgReader). Only another Read reports
		// whether the connection has ended.
		if !json.Valid(frame) {
			if _, _, err = conn.Read(ctx); err != nil && websocket.CloseStatus(err) == -1 {
				break
			}
		}
		v.handleFrame(frame)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.states = append(v.states, State{At: time.Now()})
	if errors.As(err, &v.closed) {
		v.closes++
	}
}

// Cut ends the connection without a close frame. Run then reconnects.
func (v *Viewer) Cut() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.cut != nil {
		v.cut()
	}
}

// Pause stops reading until resume is called. The connection stays open.
func (v *Viewer) Pause() (resume func()) {
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
	const maxFaults = 20
	if len(v.faults) < maxFaults {
		v.faults = append(v.faults, time.Now().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
	}
}
