// Package link contains proxies that break connections: Link for TCP, Gate for API servers. Both are safe for
// concurrent use.
package link

import (
	"context"
	"fmt"
	"strings"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// A Link is a TCP proxy whose connections a test can cut, freeze or slow down.
type Link struct {
	proxy *toxiproxy.Proxy
}

// New starts a Link to a host and port.
func New(upstream string) (*Link, error) {
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	l := &Link{proxy: toxiproxy.NewProxy(server, upstream, "127.0.0.1:0", upstream)}
	if err := l.proxy.Start(); err != nil {
		return nil, fmt.Errorf("start a link to %s: %w", upstream, err)
	}
	return l, nil
}

// Addr returns the Link's own host and port, which never change.
func (l *Link) Addr() string { return l.proxy.Listen }

// Cut closes all connections, and refuses new ones until Restore.
func (l *Link) Cut() { l.proxy.Stop() }

// Restore accepts connections again after Cut.
func (l *Link) Restore() error {
	if err := l.proxy.Start(); err != nil {
		return fmt.Errorf("restore the link on %s: %w", l.Addr(), err)
	}
	return nil
}

// DropConnections closes all connections, but immediately accepts new ones.
func (l *Link) DropConnections() error {
	l.Cut()
	return l.Restore()
}

// Freeze keeps connections open without passing data, until ClearFaults.
func (l *Link) Freeze() error {
	for _, stream := range []string{"upstream", "downstream"} {
		toxic := fmt.Sprintf(`{"name":%[1]q,"type":"timeout","stream":%[1]q,"attributes":{"timeout":0}}`, stream)
		if _, err := l.proxy.Toxics.AddToxicJson(strings.NewReader(toxic)); err != nil {
			return fmt.Errorf("freeze the link on %s: %w", l.Addr(), err)
		}
	}
	return nil
}

// Slow limits the data rate to each client, in kB/s per connection, until ClearFaults.
func (l *Link) Slow(rate int) error {
	toxic := fmt.Sprintf(`{"type":"bandwidth","stream":"downstream","attributes":{"rate":%d}}`, rate)
	if _, err := l.proxy.Toxics.AddToxicJson(strings.NewReader(toxic)); err != nil {
		return fmt.Errorf("slow the link on %s: %w", l.Addr(), err)
	}
	return nil
}

// ClearFaults ends Freeze and Slow. It closes frozen connections, but accepts new ones.
func (l *Link) ClearFaults(ctx context.Context) { l.proxy.Toxics.ResetToxics(ctx) }

// Close stops the Link, and closes all its connections.
func (l *Link) Close() { l.proxy.Stop() }
