// Package viewer is a test client of the dashboard that reconnects like a browser, and records inconsistent messages.
package viewer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/coder/websocket"
	jsonpatch "github.com/evanphx/json-patch/v5"

	"github.com/glasshouse-project/glasshouse/internal/livetest"
)

type (
	// Want is a subscription.
	Want = livetest.Subscription
	// Row is a received row.
	Row = livetest.Row
	// Change is a received change.
	Change = livetest.Change
)

// Rows subscribes to the rows of a resource in the given namespaces. If none is given, it subscribes to all namespaces.
func Rows(resource string, namespaces ...string) Want {
	return Want{Resource: resource, Namespaces: namespaces, View: "rows"}
}

// Object subscribes to one object.
func Object(resource, namespace, name string) Want {
	return Want{Resource: resource, Namespaces: []string{namespace}, Name: name, View: "object"}
}

// Changes subscribes to each single add, update and delete of a resource's objects. Other views combine changes.
func Changes(resource string, namespaces ...string) Want {
	return Want{Resource: resource, Namespaces: namespaces, View: "changes"}
}

// Kinds subscribes to the list of resources that the server offers.
func Kinds() Want { return Want{View: "resources"} }

// A Viewer has one subscription. Do not call Run or Connect while one of them runs. The other methods are safe for
// concurrent use.
type Viewer struct {
	url     string
	options livetest.Options
	view    *livetest.View

	mu          sync.Mutex
	lastMessage time.Time
	connections int
	silence     time.Duration
	states      []State
	faults      []string // Connection faults. The View has the faults of messages.
	closed      websocket.CloseError
	closes      int
	paused      chan struct{} // Nil unless reading is paused. Closing it resumes reading.
	cut         context.CancelFunc
}

// Tally contains the number of connections and received messages.
type Tally struct {
	livetest.Stats

	Connections int
	Silence     time.Duration // Longest time between two messages of a connection.
}

// New returns a Viewer of the dashboard at the given URL.
func New(url string, want Want) *Viewer {
	want.Op, want.ID = "subscribe", 1
	return &Viewer{url: url, view: livetest.NewView(want, applyPatch)}
}

func applyPatch(object, patch []byte) ([]byte, error) {
	decoded, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return object, fmt.Errorf("decode a patch: %w", err)
	}
	return decoded.Apply(object)
}

// RequestChunks makes the server send long messages in chunks. Call it before Run or Connect.
func (v *Viewer) RequestChunks() { v.options.Query = "parts=true" }

// Want returns the subscription with its cursor (stream position) for resuming.
func (v *Viewer) Want() Want { return v.view.Subscription() }

// Run connects again and again until ctx ends, and resumes from the latest cursor (stream position).
func (v *Viewer) Run(ctx context.Context) {
	for ctx.Err() == nil {
		v.Connect(ctx)
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Connect handles messages until the connection or ctx ends.
func (v *Viewer) Connect(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	client, err := livetest.Open(ctx, v.url, v.options)
	if err != nil {
		return
	}
	defer client.Close()
	v.mu.Lock()
	v.cut, v.lastMessage = cancel, time.Now()
	v.connections++
	v.mu.Unlock()
	for err = client.Subscribe(ctx, v.view); err == nil; {
		v.wait(ctx)
		var m *livetest.Message
		if m, err = client.Read(ctx); err == nil {
			v.handleMessage(m)
		} else if errors.Is(err, livetest.ErrFrame) {
			v.fault(err.Error())
			err = nil
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.states = append(v.states, State{At: time.Now()})
	if errors.As(err, &v.closed) {
		v.closes++
	}
}

func (v *Viewer) handleMessage(m *livetest.Message) {
	v.mu.Lock()
	v.silence = max(v.silence, time.Since(v.lastMessage))
	v.lastMessage = time.Now()
	if m.Type == "state" {
		v.states = append(v.states, State{At: time.Now(), State: m.State, Reason: m.Reason})
	}
	v.mu.Unlock()
	if m.Type == "error" {
		v.fault(fmt.Sprintf("an error: %+v", m.Problem))
	}
}

// Cut ends the connection without a close frame.
func (v *Viewer) Cut() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.cut != nil {
		v.cut()
	}
}

// Pause stops reading, but keeps the connection open.
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

func (v *Viewer) fault(text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	const maxFaults = 20
	if len(v.faults) < maxFaults {
		v.faults = append(v.faults, time.Now().Format("15:04:05.000 ")+text)
	}
}
