package listen

import (
	lists "container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"
)

// Conn is a connection that counts toward the limits of its listener until it is closed or evicted.
type Conn struct {
	net.Conn

	listener  *Listener
	address   string    // The AddressKey of the client; empty if no limit per address applies.
	readAfter time.Time // Read waits until this time (rate limit of the address).
	closed    chan struct{}
	once      sync.Once

	// The following fields are guarded by listener.mu.
	requests     int  // Number of requests in progress.
	detached     bool // The connection is a WebSocket.
	identified   bool // A user or a guest has sent a request on this connection.
	removed      bool // The connection was closed or evicted, and no longer counts.
	waitingSince time.Time
	// queuedIdentified is the value of identified at waitingSince. It selects the list in listener.waiting.
	queuedIdentified bool
	inAll            *lists.Element // The element in listener.waiting; nil if the connection does not wait.
	inAddress        *lists.Element
}

// Read waits until readAfter, and then reads from the connection.
func (c *Conn) Read(p []byte) (int, error) {
	if !c.readAfter.IsZero() && time.Now().Before(c.readAfter) {
		select {
		case <-time.After(time.Until(c.readAfter)):
		case <-c.closed:
		}
	}
	return c.Conn.Read(p)
}

// Close closes the connection and removes it from the counts of the listener.
func (c *Conn) Close() error {
	c.once.Do(func() {
		close(c.closed)
		c.listener.mu.Lock()
		defer c.listener.mu.Unlock()
		c.listener.removeLocked(c)
	})
	return c.Conn.Close()
}

// BeginRequest records that a request is in progress, until endRequest is called. The connection is not evicted
// meanwhile.
func (c *Conn) BeginRequest() (endRequest func()) {
	if c == nil {
		return func() {}
	}
	c.count(1)
	return func() { c.count(-1) }
}

func (c *Conn) count(requests int) {
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	if c.detached || c.removed {
		return
	}
	c.requests += requests
	c.listener.unqueueLocked(c)
	if c.requests == 0 {
		c.listener.queueLocked(c)
	}
}

// MarkIdentified records that a user or a guest has sent a request on the connection. Such connections are evicted
// last.
func (c *Conn) MarkIdentified() {
	if c == nil {
		return
	}
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	c.identified = true
}

// detach records that the connection has become a WebSocket. A WebSocket is never evicted, because WebSockets have
// other limits.
func (c *Conn) detach() {
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	c.listener.unqueueLocked(c)
	c.detached = true
}

// limitedConnOf returns conn as a *Conn, or the *Conn inside a TLS connection. It returns nil if there is none.
func limitedConnOf(conn net.Conn) *Conn {
	if tlsConn, ok := conn.(*tls.Conn); ok {
		conn = tlsConn.NetConn()
	}
	c, _ := conn.(*Conn)
	return c
}

// connKey is the context key of the Conn of a request.
type connKey struct{}

// ConnContext is http.Server.ConnContext. It stores conn in the context of its requests.
func ConnContext(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, limitedConnOf(conn))
}

// ConnOf returns the connection of a request, or nil if the server has no Listener.
func ConnOf(r *http.Request) *Conn {
	c, _ := r.Context().Value(connKey{}).(*Conn)
	return c
}

// ConnState is http.Server.ConnState. It calls detach for a connection that has become a WebSocket.
func ConnState(conn net.Conn, state http.ConnState) {
	if c := limitedConnOf(conn); c != nil && state == http.StateHijacked {
		c.detach()
	}
}
