package livetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// A Tab is a Client that reports errors and faults to its test.
type Tab struct {
	*Client

	Timeout time.Duration // Maximum wait for a wanted message. Other messages, such as heartbeats, do not extend it.

	t   *testing.T
	ctx context.Context //nolint:containedctx // The context limits the duration of the test.
}

// OpenTab opens a Tab, and closes it when the test or ctx ends.
func OpenTab(ctx context.Context, t *testing.T, server string, options Options) *Tab {
	t.Helper()
	c, err := DialTab(ctx, t, server, options)
	if err != nil {
		t.Fatalf("dial: %v", err)
	}
	return c
}

// DialTab is OpenTab for connections that the server can refuse.
func DialTab(ctx context.Context, t *testing.T, server string, options Options) (*Tab, error) {
	t.Helper()
	options.OnFault = func(fault string) { t.Errorf("an inconsistent message: %s", fault) }
	client, err := Open(ctx, server, options)
	if err != nil {
		return nil, err
	}
	t.Cleanup(client.Close)
	return &Tab{Client: client, Timeout: time.Minute, t: t, ctx: ctx}, nil
}

// Send sends a frame.
func (c *Tab) Send(frame string) {
	c.t.Helper()
	if err := c.Client.Send(c.ctx, frame); err != nil {
		c.t.Fatal(err)
	}
}

// Read returns the next message, which must arrive within 30 s.
func (c *Tab) Read() (*Message, error) {
	ctx, cancel := context.WithTimeout(c.ctx, 30*time.Second)
	defer cancel()
	return c.Client.Read(ctx)
}

// Next returns the next message, or fails the test.
func (c *Tab) Next() *Message {
	c.t.Helper()
	m, err := c.Read()
	if err != nil {
		c.t.Fatal(err)
	}
	return m
}

// Until returns the next message with the subscription ID (0 for none) and one of the types. It skips other messages.
func (c *Tab) Until(id int, types ...string) *Message {
	c.t.Helper()
	return c.await(fmt.Sprintf("%s of %d", types, id), func(m *Message) bool {
		return m.ID == id && slices.Contains(types, m.Type)
	})
}

// UntilContains reads up to the next message that contains all given texts, and returns it.
func (c *Tab) UntilContains(parts ...string) string {
	c.t.Helper()
	m := c.await(fmt.Sprint(parts), func(m *Message) bool { return containsEach(string(m.Raw), parts) })
	return string(m.Raw)
}

// WaitForClose reads until the connection ends. See Conn.WaitForClose.
func (c *Tab) WaitForClose() (code websocket.StatusCode, reason string) {
	for {
		if _, err := c.Read(); err != nil {
			return closeReason(err)
		}
	}
}

func containsEach(text string, parts []string) bool {
	return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(text, part) })
}

func (c *Tab) await(name string, isWanted func(m *Message) bool) *Message {
	c.t.Helper()
	var received strings.Builder
	for began := time.Now(); ; {
		m, err := c.Read()
		if err == nil && time.Since(began) > c.Timeout {
			err = context.DeadlineExceeded
		}
		if err != nil {
			c.t.Fatalf("waiting for %s: %v, after %.2000s", name, err, received.String())
		}
		if isWanted(m) {
			return m
		}
		if received.Len() < 2000 {
			fmt.Fprintf(&received, "%.500s\n", m.Raw)
		}
	}
}
