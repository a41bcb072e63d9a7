package web

import (
	lists "container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"

	"glasshouse/internal/limit"
)

const (
	// maxConnections is the maximum number of open connections, and addressConnections that of one address.
	// maxConnections is larger than the maximum number of WebSockets, to leave room for page loads.
	maxConnections, addressConnections = 8000, 2000
	// maxWaiting is how many connections may be without a request: idle, in a TLS handshake, or with an incomplete
	// header. Each of them uses up to 40 KB. If one more begins to wait, a waiting connection is closed; see
	// evictableLocked.
	maxWaiting = 2000
	// minIdle is how long a connection may be idle while maxWaiting connections wait for a request. While at most half
	// of maxWaiting wait, a connection may be idle for idleTimeout.
	minIdle = 5 * time.Second
)

// limitedListener limits the number of connections. To accept one more, it closes a connection that waits for a
// request. It first closes connections of unidentified clients. Among these, it chooses the address with the most
// waiting connections, and closes the one that has waited longest. A flood therefore closes its own connections.
type limitedListener struct {
	net.Listener

	rates *limit.Rates
	peers peers

	mu        sync.Mutex
	open      int
	addresses map[string]*addressQueue
	// waiting contains the *limitedConn that wait for a request, ordered by waitingSince. The first list contains those
	// of unidentified clients, and the second list those of identified clients.
	waiting [2]lists.List
}

// addressQueue counts the connections of one address.
type addressQueue struct {
	open         int
	waiting      lists.List // The waiting *limitedConn of the address, ordered by waitingSince.
	unidentified int        // How many connections in waiting have unidentified clients.
}

// limitedConn is a connection that counts toward the limits of its listener until it is closed.
type limitedConn struct {
	net.Conn

	listener  *limitedListener
	address   string    // The key of its address; empty if no limit per address applies.
	readAfter time.Time // Read waits until this time, to enforce the rate limit of the address.
	closed    chan struct{}
	once      sync.Once

	// The fields from here on are guarded by listener.mu.
	requests     int  // Number of requests in progress.
	detached     bool // The connection is a WebSocket.
	identified   bool // A user or a guest has sent a request on the connection.
	removed      bool // The connection no longer counts toward the limits.
	waitingSince time.Time
	// queuedIdentified is the value of identified when the connection began to wait.
	queuedIdentified bool
	inAll            *lists.Element // The element in listener.waiting; nil while the connection does not wait.
	inAddress        *lists.Element
}

func newLimitedListener(l net.Listener, rates *limit.Rates, trusted peers) *limitedListener {
	return &limitedListener{Listener: l, rates: rates, peers: trusted, addresses: make(map[string]*addressQueue)}
}

// Accept returns the next connection that the limits allow. It closes new connections that exceed the limits, without
// returning them.
func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &limitedConn{Conn: conn, listener: l, closed: make(chan struct{})}
		if address, known := addressOf(conn.RemoteAddr().String()); known && !l.peers.contains(address) {
			c.address = addressKey(address)
			reserved := l.rates.For(c.address).Reserve()
			wait := reserved.Delay()
			if wait > addressWait {
				reserved.Cancel()
				// No request was read, so no response can explain the refusal.
				_ = conn.Close()
				continue
			}
			if wait > 0 {
				c.readAfter = time.Now().Add(wait)
			}
		}
		evicted, accepted := l.add(c)
		for _, old := range evicted {
			_ = old.Close() // An error means that the client has closed it already.
		}
		if accepted {
			return c, nil
		}
		_ = conn.Close() // An error means that the client has closed it already.
	}
}

// add counts a connection toward the limits if they have room for it. To make room, add removes other connections
// from the count. The caller must close these evicted connections.
func (l *limitedListener) add(c *limitedConn) (evicted []*limitedConn, accepted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	evict := func(old *limitedConn) bool {
		if old != nil {
			l.removeLocked(old)
			evicted = append(evicted, old)
		}
		return old != nil
	}
	for oldest := l.oldestLocked(); oldest != nil &&
		time.Since(oldest.waitingSince) > l.idleLocked(); oldest = l.oldestLocked() {
		evict(oldest)
	}
	q := l.addresses[c.address]
	if c.address != "" && q != nil && q.open >= addressConnections && !evict(front(&q.waiting)) {
		return evicted, false
	}
	if l.waitingLocked() >= maxWaiting || l.open >= maxConnections {
		if !evict(l.evictableLocked()) && l.open >= maxConnections {
			return evicted, false
		}
	}
	l.open++
	if c.address != "" {
		if l.addresses[c.address] == nil {
			l.addresses[c.address] = &addressQueue{}
		}
		l.addresses[c.address].open++
	}
	l.queueLocked(c)
	return evicted, true
}

func front(waiting *lists.List) *limitedConn {
	if e := waiting.Front(); e != nil {
		c, _ := e.Value.(*limitedConn)
		return c
	}
	return nil
}

// evictableLocked returns the waiting connection to close when a new connection needs room; nil if none waits. It
// checks all addresses, which is slow. It is therefore called only when maxWaiting or maxConnections is reached.
func (l *limitedListener) evictableLocked() *limitedConn {
	var most *addressQueue
	for _, q := range l.addresses {
		if q.unidentified > 1 && (most == nil || q.unidentified > most.unidentified) {
			most = q
		}
	}
	if most == nil {
		return l.oldestLocked()
	}
	for e := most.waiting.Front(); e != nil; e = e.Next() {
		if c, _ := e.Value.(*limitedConn); c != nil && !c.queuedIdentified {
			return c
		}
	}
	return l.oldestLocked()
}

// oldestLocked returns the connection of an unidentified client that has waited longest. If there is none, it returns
// the connection of an identified client that has waited longest, or nil if no connection waits.
func (l *limitedListener) oldestLocked() *limitedConn {
	if c := front(&l.waiting[0]); c != nil {
		return c
	}
	return front(&l.waiting[1])
}

func (l *limitedListener) waitingLocked() int { return l.waiting[0].Len() + l.waiting[1].Len() }

// idleLocked returns how long a connection may wait for a request. The time falls from idleTimeout to minIdle as the
// number of waiting connections grows from half of maxWaiting to maxWaiting.
func (l *limitedListener) idleLocked() time.Duration {
	const half = maxWaiting / 2
	excess := min(max(0, l.waitingLocked()-half), half)
	return idleTimeout - (idleTimeout-minIdle)*time.Duration(excess)/half
}

// queueLocked appends a connection to the lists of waiting connections.
func (l *limitedListener) queueLocked(c *limitedConn) {
	c.waitingSince = time.Now()
	queue := &l.waiting[0]
	if c.identified {
		queue = &l.waiting[1]
	}
	c.inAll = queue.PushBack(c)
	c.queuedIdentified = c.identified
	if q := l.addresses[c.address]; c.address != "" {
		c.inAddress = q.waiting.PushBack(c)
		if !c.identified {
			q.unidentified++
		}
	}
}

// unqueueLocked removes a connection from the lists of waiting connections.
func (l *limitedListener) unqueueLocked(c *limitedConn) {
	if c.inAll == nil {
		return
	}
	// Only one of the lists contains the element. List.Remove does nothing for an element of another list.
	l.waiting[0].Remove(c.inAll)
	l.waiting[1].Remove(c.inAll)
	if c.inAddress != nil {
		q := l.addresses[c.address]
		q.waiting.Remove(c.inAddress)
		if !c.queuedIdentified {
			q.unidentified--
		}
	}
	c.inAll, c.inAddress = nil, nil
}

// removeLocked stops counting a connection toward the limits.
func (l *limitedListener) removeLocked(c *limitedConn) {
	if c.removed {
		return
	}
	c.removed = true
	l.unqueueLocked(c)
	l.open--
	if q := l.addresses[c.address]; c.address != "" {
		if q.open--; q.open == 0 {
			delete(l.addresses, c.address)
		}
	}
}

// Read waits until the rate limit of the address allows the connection, and then reads.
func (c *limitedConn) Read(p []byte) (int, error) {
	if !c.readAfter.IsZero() && time.Now().Before(c.readAfter) {
		select {
		case <-time.After(time.Until(c.readAfter)):
		case <-c.closed:
		}
	}
	return c.Conn.Read(p)
}

// Close closes the connection, and stops counting it toward the limits.
func (c *limitedConn) Close() error {
	c.once.Do(func() {
		close(c.closed)
		c.listener.mu.Lock()
		defer c.listener.mu.Unlock()
		c.listener.removeLocked(c)
	})
	return c.Conn.Close()
}

// beginRequest records that a request is in progress on the connection until endRequest is called. In that time, the
// connection is not evicted.
func (c *limitedConn) beginRequest() (endRequest func()) {
	if c == nil {
		return func() {}
	}
	c.count(1)
	return func() { c.count(-1) }
}

func (c *limitedConn) count(requests int) {
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

// markIdentified records that a user or a guest has sent a request on the connection. Connections of unidentified
// clients are evicted before those of identified clients.
func (c *limitedConn) markIdentified() {
	if c == nil {
		return
	}
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	c.identified = true
}

// detach records that the connection is now a WebSocket. A WebSocket is never evicted, because WebSockets have their
// own limits.
func (c *limitedConn) detach() {
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	c.listener.unqueueLocked(c)
	c.detached = true
}

// limitedConnOf returns the limitedConn of a connection: the connection itself, or the one inside a TLS connection.
// It returns nil if the connection has none.
func limitedConnOf(conn net.Conn) *limitedConn {
	if tlsConn, ok := conn.(*tls.Conn); ok {
		conn = tlsConn.NetConn()
	}
	c, _ := conn.(*limitedConn)
	return c
}

// connKey is the context key of a request's limitedConn.
type connKey struct{}

func withConn(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, limitedConnOf(conn))
}

func connOf(r *http.Request) *limitedConn {
	c, _ := r.Context().Value(connKey{}).(*limitedConn)
	return c
}

// onState is the ConnState function of the server. It detaches connections that have become WebSockets.
func onState(conn net.Conn, state http.ConnState) {
	if c := limitedConnOf(conn); c != nil && state == http.StateHijacked {
		c.detach()
	}
}
