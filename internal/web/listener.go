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
	// maxConnections is the maximum number of open connections, and addressConnections that of one IP address.
	// maxConnections is higher than the maximum number of WebSockets, to leave room for page loads.
	maxConnections, addressConnections = 8000, 2000
	// maxWaiting is the maximum number of connections without a request: idle, in a TLS handshake, or with an
	// incomplete header. Each of them uses up to 40 KB. Above the maximum, evictableLocked chooses a waiting connection
	// to close.
	maxWaiting = 2000
	// minIdle is the idle timeout of a connection while maxWaiting connections wait for a request. While at most half
	// of maxWaiting wait, the idle timeout is idleTimeout.
	minIdle = 5 * time.Second
)

// limitedListener limits the number of connections. To accept a new connection above a limit, it closes (evicts) one
// that waits for a request. Connections of unidentified clients are evicted first. Among these, the listener chooses
// the address with the most waiting connections, and closes its oldest waiting connection. A flood of connections
// from one address therefore evicts its own connections.
type limitedListener struct {
	net.Listener

	rates *limit.Rates
	peers peers

	mu        sync.Mutex
	open      int
	addresses map[string]*addressQueue
	// waiting contains the connections (*limitedConn) that wait for a request, ordered by waitingSince. waiting[0] is
	// for unidentified clients, and waiting[1] for users and guests.
	waiting [2]lists.List
}

// addressQueue counts the connections of one address.
type addressQueue struct {
	open         int
	waiting      lists.List // Waiting *limitedConn of this address, ordered by waitingSince.
	unidentified int        // Number of connections in waiting with unidentified clients.
}

// limitedConn is a connection that counts toward the limits of its listener until it is closed or evicted.
type limitedConn struct {
	net.Conn

	listener  *limitedListener
	address   string    // The addressKey of the client; empty if no limit per address applies.
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

func newLimitedListener(l net.Listener, rates *limit.Rates, trusted peers) *limitedListener {
	return &limitedListener{Listener: l, rates: rates, peers: trusted, addresses: make(map[string]*addressQueue)}
}

// Accept returns the next connection that the limits allow. It closes every new connection above the limits.
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
				// Close without a response, because no request was read yet.
				_ = conn.Close()
				continue
			}
			if wait > 0 {
				c.readAfter = time.Now().Add(wait)
			}
		}
		evicted, accepted := l.add(c)
		for _, old := range evicted {
			_ = old.Close() // The client may have closed it already.
		}
		if accepted {
			return c, nil
		}
		_ = conn.Close() // The client may have closed it already.
	}
}

// add counts a connection toward the limits. If a limit is reached, add first removes waiting connections from the
// count, and returns them as evicted. The caller must close the evicted connections.
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

// evictableLocked returns the waiting connection to close for a new connection, or nil if none waits. It scans all
// addresses, so add calls it only at maxWaiting or maxConnections.
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

// oldestLocked returns the connection that has waited longest for a request, or nil. Connections of unidentified
// clients are first.
func (l *limitedListener) oldestLocked() *limitedConn {
	if c := front(&l.waiting[0]); c != nil {
		return c
	}
	return front(&l.waiting[1])
}

func (l *limitedListener) waitingLocked() int { return l.waiting[0].Len() + l.waiting[1].Len() }

// idleLocked returns the current idle timeout of a waiting connection. It falls from idleTimeout to minIdle while the
// number of waiting connections grows from half of maxWaiting to maxWaiting.
func (l *limitedListener) idleLocked() time.Duration {
	const half = maxWaiting / 2
	excess := min(max(0, l.waitingLocked()-half), half)
	return idleTimeout - (idleTimeout-minIdle)*time.Duration(excess)/half
}

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

func (l *limitedListener) unqueueLocked(c *limitedConn) {
	if c.inAll == nil {
		return
	}
	// Only one of the two lists contains the element. List.Remove ignores an element of another list.
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

// removeLocked removes a connection from all counts and lists. It does not close the connection.
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

// Read waits until readAfter, and then reads from the connection.
func (c *limitedConn) Read(p []byte) (int, error) {
	if !c.readAfter.IsZero() && time.Now().Before(c.readAfter) {
		select {
		case <-time.After(time.Until(c.readAfter)):
		case <-c.closed:
		}
	}
	return c.Conn.Read(p)
}

// Close closes the connection and removes it from the counts of the listener.
func (c *limitedConn) Close() error {
	c.once.Do(func() {
		close(c.closed)
		c.listener.mu.Lock()
		defer c.listener.mu.Unlock()
		c.listener.removeLocked(c)
	})
	return c.Conn.Close()
}

// beginRequest records that a request is in progress, until endRequest is called. The connection is not evicted
// meanwhile.
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

// markIdentified records that a user or a guest has sent a request on the connection. Such connections are evicted
// last.
func (c *limitedConn) markIdentified() {
	if c == nil {
		return
	}
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	c.identified = true
}

// detach records that the connection has become a WebSocket. A WebSocket is never evicted, because WebSockets have
// other limits.
func (c *limitedConn) detach() {
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	c.listener.unqueueLocked(c)
	c.detached = true
}

// limitedConnOf returns conn as a *limitedConn, or the *limitedConn inside a TLS connection. It returns nil if there
// is none.
func limitedConnOf(conn net.Conn) *limitedConn {
	if tlsConn, ok := conn.(*tls.Conn); ok {
		conn = tlsConn.NetConn()
	}
	c, _ := conn.(*limitedConn)
	return c
}

// connKey is the context key of the limitedConn of a request.
type connKey struct{}

func withConn(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, limitedConnOf(conn))
}

func connOf(r *http.Request) *limitedConn {
	c, _ := r.Context().Value(connKey{}).(*limitedConn)
	return c
}

// onState is http.Server.ConnState. It calls detach for a connection that has become a WebSocket.
func onState(conn net.Conn, state http.ConnState) {
	if c := limitedConnOf(conn); c != nil && state == http.StateHijacked {
		c.detach()
	}
}
