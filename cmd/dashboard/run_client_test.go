//go:build integration

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"github.com/glasshouse-project/glasshouse/internal/livetest"
)

func applyPatch(object, patch []byte) ([]byte, error) {
	decoded, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return object, err
	}
	return decoded.Apply(object)
}

// openTab opens a WebSocket to the program at the address url. The methods of the tab wait until ctx ends.
func openTab(ctx context.Context, t *testing.T, url string, header http.Header) *livetest.Tab {
	t.Helper()
	tab := livetest.OpenTab(ctx, t, url, livetest.Options{Header: header, Patch: applyPatch, Compress: header == nil})
	tab.Timeout = time.Hour
	return tab
}

func dial(ctx context.Context, t *testing.T, d *dashboard) *livetest.Tab {
	t.Helper()
	return openTab(ctx, t, d.url, nil)
}

// client resumes the same subscription after each reconnect. It records a fault for each message that contradicts
// earlier messages.
type client struct {
	*livetest.View

	d *dashboard

	mu     sync.Mutex
	faults []string
}

func newClient(d *dashboard, subscription livetest.Subscription) *client {
	subscription.Op, subscription.ID = "subscribe", 1
	return &client{View: livetest.NewView(subscription, applyPatch), d: d}
}

func (c *client) connect(ctx context.Context, duration time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, duration)
	defer cancel()
	socket, err := livetest.Open(ctx, c.d.url, livetest.Options{})
	if err != nil {
		return
	}
	defer socket.Close()
	if err := socket.Subscribe(ctx, c.View); err != nil {
		return
	}
	for {
		m, err := socket.Read(ctx)
		if errors.Is(err, livetest.ErrFrame) {
			c.addFault(err.Error())
			continue
		}
		if err != nil {
			return
		}
		if m.Type == "error" {
			c.addFault(string(m.Raw))
		}
	}
}

func (c *client) addFault(fault string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults = append(c.faults, fault)
}

func (c *client) allFaults() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append(c.Faults(), c.faults...)
}

func (c *client) compareRows(want map[string]string) error {
	rows := c.Rows()
	if len(rows) != len(want) {
		return fmt.Errorf("got %d rows, want %d", len(rows), len(want))
	}
	for _, row := range rows {
		if got := row.UID + " " + row.RV; got != want[row.Name] {
			return fmt.Errorf("row %s: got UID and version %q, want %q", row.Name, got, want[row.Name])
		}
	}
	return nil
}
