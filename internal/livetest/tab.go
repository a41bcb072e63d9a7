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

// Send sends a message.
func (tab *Tab) Send(message string) {
	tab.t.Helper()
	if err := tab.Client.Send(tab.ctx, message); err != nil {
		tab.t.Fatal(err)
	}
}

// Read returns the next message, which must arrive within 30 s.
func (tab *Tab) Read() (*Message, error) {
	ctx, cancel := context.WithTimeout(tab.ctx, 30*time.Second)
	defer cancel()
	return tab.Client.Read(ctx)
}

// Next returns the next message, or fails the test.
func (tab *Tab) Next() *Message {
	tab.t.Helper()
	m, err := tab.Read()
	if err != nil {
		tab.t.Fatal(err)
	}
	return m
}

// Until returns the next message with the subscription ID (0 for none) and one of the types. It skips other messages.
func (tab *Tab) Until(id int, types ...string) *Message {
	tab.t.Helper()
	return tab.await(fmt.Sprintf("%s of %d", types, id), func(m *Message) bool {
		return m.ID == id && slices.Contains(types, m.Type)
	})
}

// UntilContains reads up to the next message that contains all given texts, and returns it.
func (tab *Tab) UntilContains(parts ...string) string {
	tab.t.Helper()
	m := tab.await(fmt.Sprint(parts), func(m *Message) bool { return containsEach(string(m.Raw), parts) })
	return string(m.Raw)
}

// WaitForClose reads until the connection ends. See Conn.WaitForClose.
func (tab *Tab) WaitForClose() (code websocket.StatusCode, reason string) {
	for {
		if _, err := tab.Read(); err != nil {
			return closeReason(err)
		}
	}
}

func containsEach(text string, parts []string) bool {
	return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(text, part) })
}

func (tab *Tab) await(name string, isWanted func(m *Message) bool) *Message {
	tab.t.Helper()
	var received strings.Builder
	for began := time.Now(); ; {
		m, err := tab.Read()
		if err == nil && time.Since(began) > tab.Timeout {
			err = context.DeadlineExceeded
		}
		if err != nil {
			tab.t.Fatalf("waiting for %s: %v, after %.2000s", name, err, received.String())
		}
		if isWanted(m) {
			return m
		}
		if received.Len() < 2000 {
			fmt.Fprintf(&received, "%.500s\n", m.Raw)
		}
	}
}
