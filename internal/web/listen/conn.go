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
	readAfter time.Time // Read waits until this time if the address has exceeded its rate limit.
	closed    chan struct{}
	once      sync.Once

	// The following fields are guarded by listener.mu.
	requests     int
	detached     bool
	identified   bool // A user or a guest has sent a request on this connection.
	removed      bool
	waitingSince time.Time
	// queuedIdentified selects the list that contains a waiting connection: waiting[1] if true, otherwise waiting[0].
	queuedIdentified bool
	inAll            *lists.Element // Element in one of the lists listener.waiting; nil if the connection does not wait.
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

// BeginRequest protects the connection from eviction until endRequest is called.
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

// MarkIdentified records that a user or a guest uses the connection. Other connections are evicted first.
func (c *Conn) MarkIdentified() {
	if c == nil {
		return
	}
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	c.identified = true
}

// detach records that the connection has become a WebSocket. The listener never evicts a WebSocket. Other limits apply
// to WebSockets.
func (c *Conn) detach() {
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	c.listener.unqueueLocked(c)
	c.detached = true
}

func limitedConnOf(conn net.Conn) *Conn {
	if tlsConn, ok := conn.(*tls.Conn); ok {
		conn = tlsConn.NetConn()
	}
	c, _ := conn.(*Conn)
	return c
}

type connKey struct{}

// ConnContext is for the field http.Server.ConnContext. It stores conn in the context of the requests of that
// connection.
func ConnContext(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, limitedConnOf(conn))
}

// ConnOf returns the connection of a request, or nil if the server has no Listener.
func ConnOf(r *http.Request) *Conn {
	c, _ := r.Context().Value(connKey{}).(*Conn)
	return c
}

// ConnState is for the field http.Server.ConnState. It calls detach when a connection has become a WebSocket.
func ConnState(conn net.Conn, state http.ConnState) {
	if c := limitedConnOf(conn); c != nil && state == http.StateHijacked {
		c.detach()
	}
}
