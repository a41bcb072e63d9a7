//go:build integration

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	jsonpatch "github.com/evanphx/json-patch/v5"
)

type subscribeMessage struct {
	Op         string   `json:"op"`
	ID         int      `json:"id"`
	Resource   string   `json:"resource"`
	Namespaces []string `json:"ns,omitempty"`
	Name       string   `json:"name,omitempty"`
	View       string   `json:"view"`
	Cursor     string   `json:"cursor,omitempty"`
}

// client applies the messages of one subscription like a browser. It records each message that contradicts its
// data.
type client struct {
	t            *testing.T
	d            *dashboard
	subscription subscribeMessage

	mu             sync.Mutex
	rows           map[string]string // UID and resourceVersion of each object, by name.
	object         []byte
	by             string
	patches        int
	resumed        int
	awaitingResume bool // Set from a reconnect with a cursor until the first event or reset.
	faults         []string
	received       strings.Builder
}

func newClient(t *testing.T, d *dashboard, subscription subscribeMessage) *client {
	t.Helper()
	subscription.Op, subscription.ID = "subscribe", 1
	return &client{t: t, d: d, subscription: subscription, rows: map[string]string{}}
}

func (c *client) connect(ctx context.Context, duration time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, duration)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, strings.Replace(c.d.url, "http://", "ws://", 1)+"/api/v1/live",
		&websocket.DialOptions{Subprotocols: []string{"glasshouse.v1+json"}})
	if err != nil {
		return
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(64 << 20)
	message, err := json.Marshal(c.subscription)
	if err != nil {
		c.addFault("encode: %v", err)
	}
	if err := conn.Write(ctx, websocket.MessageText, message); err != nil {
		return
	}
	c.mu.Lock()
	c.awaitingResume = c.subscription.Cursor != ""
	c.mu.Unlock()
	for {
		_, message, err := conn.Read(ctx)
		if err != nil {
			return
		}
		c.apply(message)
	}
}

func (c *client) addFault(format string, args ...any) {
	c.faults = append(c.faults, fmt.Sprintf(format, args...))
}

type message struct {
	ID     int
	Type   string
	Cursor string
	Rows   []row
	Object json.RawMessage
	Events []struct {
		Op     string
		Row    row
		Name   string
		UID    string
		RV     string
		Object json.RawMessage
		Patch  json.RawMessage
		By     struct{ Manager string }
	}
	Problem json.RawMessage
}

type row struct{ Name, UID, RV string }

func (c *client) apply(text []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.received.Write(text)
	var m message
	if err := json.Unmarshal(text, &m); err != nil {
		c.addFault("a frame that is not JSON: %v: %.200s", err, text)
		return
	}
	if m.Cursor != "" {
		c.subscription.Cursor = m.Cursor
	}
	switch m.Type {
	case "error":
		c.addFault("error: %s", m.Problem)
	case "reset":
		c.awaitingResume = false
	case "snapshot":
		if c.awaitingResume {
			c.addFault("a snapshot without a reset, after a cursor")
		}
		c.rows, c.object = map[string]string{}, m.Object // One message has the whole snapshot.
		for _, r := range m.Rows {
			c.rows[r.Name] = r.UID + " " + r.RV
		}
	case "events":
		if c.awaitingResume {
			c.resumed++
			c.awaitingResume = false
		}
		c.applyEvents(&m)
	}
}

func (c *client) applyEvents(m *message) {
	for _, e := range m.Events {
		if c.subscription.View == "object" {
			c.applyObject(e.Op, e.Object, e.Patch)
			if e.By.Manager != "" {
				c.by = e.By.Manager
			}
			continue
		}
		name := e.Name + e.Row.Name
		current, ok := c.rows[name]
		uid, _, _ := strings.Cut(current, " ")
		if ok == (e.Op == "add") || ok && uid != e.UID {
			c.addFault("%s of %s (%s): the client has %q", e.Op, name, e.UID, current)
		}
		switch e.Op {
		case "add":
			c.rows[name] = e.Row.UID + " " + e.Row.RV
		case "update":
			c.rows[name] = e.UID + " " + e.RV
		case "delete":
			delete(c.rows, name)
		}
	}
}

func (c *client) applyObject(op string, object, patch json.RawMessage) {
	switch op {
	case "add":
		c.object = object
	case "delete":
		c.object = nil
	case "update":
		c.patches++
		decoded, err := jsonpatch.DecodePatch(patch)
		if err != nil {
			c.addFault("not a patch: %v: %s", err, patch)
			return
		}
		if c.object, err = decoded.Apply(c.object); err != nil {
			c.addFault("a patch that does not apply: %v: %s", err, patch)
		}
	}
}

func (c *client) compareRows(want map[string]string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.rows) != len(want) {
		return fmt.Errorf("%d rows, want %d", len(c.rows), len(want))
	}
	for name, w := range want {
		if c.rows[name] != w {
			return fmt.Errorf("%s is %q, want %q", name, c.rows[name], w)
		}
	}
	return nil
}

func (c *client) objectContains(text string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !strings.Contains(string(c.object), text) {
		return fmt.Errorf("%s is not in %s", text, c.object)
	}
	return nil
}
