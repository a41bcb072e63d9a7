// Package link contains two proxies with which a test can break connections. A Link is a TCP proxy that a test can
// cut, restore, freeze and slow down. A Gate is a reverse proxy for an API server. It records all requests, and can
// respond to some of them itself.
//
// All types are safe for concurrent use.
package link

import (
	"context"
	"fmt"
	"strings"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// A Link is a TCP proxy on a loopback address. A test can cut, freeze or slow down its connections.
type Link struct {
	proxy *toxiproxy.Proxy
}

// New starts a Link that forwards connections to upstream (a host and port).
func New(upstream string) (*Link, error) {
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	l := &Link{proxy: toxiproxy.NewProxy(server, upstream, "127.0.0.1:0", upstream)}
	if err := l.proxy.Start(); err != nil {
		return nil, fmt.Errorf("lay a link to %s: %w", upstream, err)
	}
	return l, nil
}

// Addr returns the host and port on which the Link listens. They never change.
func (l *Link) Addr() string { return l.proxy.Listen }

// Cut closes all connections, and refuses new ones until Restore is called.
func (l *Link) Cut() { l.proxy.Stop() }

// Restore accepts connections again after Cut.
func (l *Link) Restore() error {
	if err := l.proxy.Start(); err != nil {
		return fmt.Errorf("restore the link on %s: %w", l.Addr(), err)
	}
	return nil
}

// DropConnections closes all connections. New connections are accepted immediately.
func (l *Link) DropConnections() error {
	l.Cut()
	return l.Restore()
}

// Freeze makes all connections half-open until ClearFaults is called. Connections stay open and new ones are
// accepted, but no data passes in either direction.
func (l *Link) Freeze() error {
	for _, stream := range []string{"upstream", "downstream"} {
		toxic := fmt.Sprintf(`{"name":%[1]q,"type":"timeout","stream":%[1]q,"attributes":{"timeout":0}}`, stream)
		if _, err := l.proxy.Toxics.AddToxicJson(strings.NewReader(toxic)); err != nil {
			return fmt.Errorf("freeze the link on %s: %w", l.Addr(), err)
		}
	}
	return nil
}

// Slow limits the rate at which each client receives data to the given number of kB/s. The limit applies to each
// connection, until ClearFaults is called. Data from the client is not limited.
func (l *Link) Slow(rate int) error {
	toxic := fmt.Sprintf(`{"type":"bandwidth","stream":"downstream","attributes":{"rate":%d}}`, rate)
	if _, err := l.proxy.Toxics.AddToxicJson(strings.NewReader(toxic)); err != nil {
		return fmt.Errorf("slow the link on %s: %w", l.Addr(), err)
	}
	return nil
}

// ClearFaults ends the effects of Freeze and Slow. It closes frozen connections, but accepts new ones.
func (l *Link) ClearFaults(ctx context.Context) { l.proxy.Toxics.ResetToxics(ctx) }

// Close stops the Link, and closes all its connections.
func (l *Link) Close() { l.proxy.Stop() }
