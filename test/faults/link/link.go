// Package link is what stands between two programs that a test sets apart: a Link is a wire that can be cut, mended and
// frozen, a Gate a reverse proxy that counts what is asked of an API server and answers some of it itself.
//
// Everything here is safe for concurrent use.
package link

import (
	"context"
	"fmt"
	"strings"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// A Link is a TCP wire on the loopback.
type Link struct {
	proxy *toxiproxy.Proxy
}

// New lays a wire to upstream, a host with a port.
func New(upstream string) (*Link, error) {
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	l := &Link{proxy: toxiproxy.NewProxy(server, upstream, "127.0.0.1:0", upstream)}
	if err := l.proxy.Start(); err != nil {
		return nil, fmt.Errorf("lay a link to %s: %w", upstream, err)
	}
	return l, nil
}

// Addr is where it begins, which stays the same.
func (l *Link) Addr() string { return l.proxy.Listen }

// Cut ends every connection, and refuses new ones until Mend.
func (l *Link) Cut() { l.proxy.Stop() }

// Mend lets connections through again.
func (l *Link) Mend() error {
	if err := l.proxy.Start(); err != nil {
		return fmt.Errorf("mend the link on %s: %w", l.Addr(), err)
	}
	return nil
}

// Blink ends every connection; new ones are let through at once.
func (l *Link) Blink() error {
	l.Cut()
	return l.Mend()
}

// Freeze makes every connection half-open: it stays, new ones are taken, and nothing comes through in either direction.
func (l *Link) Freeze() error {
	for _, stream := range []string{"upstream", "downstream"} {
		toxic := fmt.Sprintf(`{"name":%[1]q,"type":"timeout","stream":%[1]q,"attributes":{"timeout":0}}`, stream)
		if _, err := l.proxy.Toxics.AddToxicJson(strings.NewReader(toxic)); err != nil {
			return fmt.Errorf("freeze the link on %s: %w", l.Addr(), err)
		}
	}
	return nil
}

// Slow lets that many kB/s of each connection through to clients. It ends by Thaw.
func (l *Link) Slow(rate int) error {
	toxic := fmt.Sprintf(`{"type":"bandwidth","stream":"downstream","attributes":{"rate":%d}}`, rate)
	if _, err := l.proxy.Toxics.AddToxicJson(strings.NewReader(toxic)); err != nil {
		return fmt.Errorf("slow the link on %s: %w", l.Addr(), err)
	}
	return nil
}

// Thaw ends the connections that were frozen; new ones work.
func (l *Link) Thaw(ctx context.Context) { l.proxy.Toxics.ResetToxics(ctx) }

// Close takes the wire away.
func (l *Link) Close() { l.proxy.Stop() }
