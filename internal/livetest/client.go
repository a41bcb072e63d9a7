package livetest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/coder/websocket"
)

// A Client receives messages and maintains the views of its subscriptions. One goroutine can read while others send.
type Client struct {
	*Conn

	options Options
	queue   []*Message
	parts   map[int]*strings.Builder // Incomplete messages, by subscription.

	mu sync.Mutex
	// The views of the subscriptions, by ID. A nil View means that messages with this ID are no longer verified.
	views map[int]*View
}

// Open opens a WebSocket. See Dial.
func Open(ctx context.Context, server string, options Options) (*Client, error) {
	conn, err := Dial(ctx, server, options)
	if err != nil {
		return nil, err
	}
	return &Client{Conn: conn, options: options, parts: make(map[int]*strings.Builder), views: make(map[int]*View)}, nil
}

// Subscribe subscribes to a view, which Read then updates.
func (c *Client) Subscribe(ctx context.Context, view *View) error {
	want := view.Reconnect()
	frame, err := json.Marshal(want)
	if err != nil {
		return fmt.Errorf("encode a subscription: %w", err)
	}
	c.mu.Lock()
	c.views[want.ID] = view
	c.mu.Unlock()
	return c.Write(ctx, string(frame))
}

// Send sends a message, valid or not. It also tracks the subscriptions in the message.
func (c *Client) Send(ctx context.Context, frame string) error {
	if c.options.OnFault != nil {
		c.followSubscriptions(frame)
	}
	return c.Write(ctx, frame)
}

func (c *Client) followSubscriptions(frame string) {
	operations := make([]Subscription, 1)
	var err error
	if strings.HasPrefix(frame, "[") {
		err = json.Unmarshal([]byte(frame), &operations)
	} else {
		err = json.Unmarshal([]byte(frame), &operations[0])
	}
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, operation := range operations {
		_, used := c.views[operation.ID]
		switch {
		case operation.Op == "subscribe" && !used:
			c.views[operation.ID] = NewView(operation, c.options.Patch)
		case operation.Op == "unsubscribe" && used:
			c.views[operation.ID] = nil // Keep the ID, because messages of the ended subscription can still arrive.
		}
	}
}

// View returns the view of a subscription, or nil if the client maintains none.
func (c *Client) View(id int) *View {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.views[id]
}

// Read returns the next message or chunk. After the last chunk of a message, it returns the complete message. Invalid
// frames cause ErrFrame.
func (c *Client) Read(ctx context.Context) (*Message, error) {
	for len(c.queue) == 0 {
		frame, err := c.readComplete(ctx)
		if err == nil {
			err = c.receive(frame)
		}
		if err != nil {
			return nil, err
		}
	}
	m := c.queue[0]
	c.queue = c.queue[1:]
	return m, nil
}

// readComplete returns the next frame. It omits an incomplete frame at the end of the connection, which the WebSocket
// library returns without an error.
func (c *Client) readComplete(ctx context.Context) ([]byte, error) {
	frame, err := c.ReadFrame(ctx)
	if err != nil || json.Valid(frame) {
		return frame, err
	}
	// After an incomplete frame, the next read returns the error of the connection.
	if _, err = c.ReadFrame(ctx); isCut(err) {
		return nil, err
	}
	return frame, nil
}

func isCut(err error) bool { return err != nil && websocket.CloseStatus(err) == -1 }

func (c *Client) receive(frame []byte) error {
	messages, err := Decode(frame)
	if err != nil {
		return err
	}
	for _, m := range messages {
		if c.options.OnMessage != nil {
			c.options.OnMessage(m)
		}
		c.queue = append(c.queue, m)
		if m.ID == 0 {
			continue
		}
		c.apply(m)
		if m.Type != "part" {
			delete(c.parts, m.ID) // This message cancels an incomplete message of the subscription.
			continue
		}
		if text := c.join(m); text != "" {
			if err := c.receive([]byte(text)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *Client) apply(m *Message) {
	view := c.View(m.ID)
	if view == nil {
		return
	}
	c.report(m, view.Apply(m)...)
	if m.Type == "error" || m.Type == "log-end" {
		c.mu.Lock()
		delete(c.views, m.ID)
		c.mu.Unlock()
	}
}

func (c *Client) join(m *Message) string {
	text := c.parts[m.ID]
	if text == nil {
		text = &strings.Builder{}
		c.parts[m.ID] = text
	}
	text.WriteString(m.Text)
	if text.Len() != m.Sent || m.Sent > m.Of {
		fault := fmt.Sprintf("chunk ends at %d of %d bytes, but %d bytes have arrived", m.Sent, m.Of, text.Len())
		if view := c.View(m.ID); view != nil {
			view.record(fault)
		}
		c.report(m, fault)
	}
	if m.Sent < m.Of {
		return ""
	}
	delete(c.parts, m.ID)
	return text.String()
}

func (c *Client) report(m *Message, faults ...string) {
	if c.options.OnFault == nil {
		return
	}
	for _, fault := range faults {
		c.options.OnFault(fmt.Sprintf("subscription %d: %s, in %.300s", m.ID, fault, m.Raw))
	}
}
