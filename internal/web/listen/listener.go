// Package listen provides what the server needs below HTTP: the limits of connections, the certificate, the addresses
// of clients, and the connections of WebSockets. It does not depend on routes and users.
package listen

import (
	lists "container/list"
	"net"
	"sync"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/limit"
)

const (
	// Maximum number of open connections, in total and for one address. Page loads and WebSockets both count.
	maxConnections, addressConnections = 8000, 2000
	// maxWaiting is the maximum number of connections without a complete request header. Each uses up to 40 KB.
	maxWaiting = 2000
	// IdleTimeout is the maximum time that a connection waits for its next request.
	IdleTimeout = 2 * time.Minute
	// minIdle is the idle timeout at maxWaiting connections.
	minIdle = 5 * time.Second
)

// Listener limits the number of connections. To make room, it evicts a connection that waits for a request. It selects
// the address that has the most waiting connections of unidentified clients, so a flood evicts its own connections.
type Listener struct {
	net.Listener

	rates *limit.Rates
	peers Peers

	mu        sync.Mutex
	open      int
	addresses map[string]*addressQueue
	// Waiting connections (*Conn), ordered by waitingSince: first those of unidentified clients, then those of users
	// and guests.
	waiting [2]lists.List
}

// addressQueue counts the open connections of one IP address, and lists those that wait for a request.
type addressQueue struct {
	open         int
	waiting      lists.List // Waiting *Conn of this address, ordered by waitingSince.
	unidentified int        // How many of the waiting connections have clients that are not identified.
}

// New returns a Listener. The connections of trusted proxies do not count toward the limits of an address.
func New(l net.Listener, rates *limit.Rates, trusted Peers) *Listener {
	return &Listener{Listener: l, rates: rates, peers: trusted, addresses: make(map[string]*addressQueue)}
}

// Accept returns the next connection that the limits allow. It closes new connections for which there is no room.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &Conn{Conn: conn, listener: l, closed: make(chan struct{})}
		if address, known := addressOf(conn.RemoteAddr().String()); known && !l.peers.contains(address) {
			c.address = AddressKey(address)
			reserved := l.rates.For(c.address).Reserve()
			wait := reserved.Delay()
			if wait > AddressWait {
				reserved.Cancel()
				_ = conn.Close()
				continue
			}
			if wait > 0 {
				c.readAfter = time.Now().Add(wait)
			}
		}
		evicted, accepted := l.add(c)
		for _, old := range evicted {
			_ = old.Close()
		}
		if accepted {
			return c, nil
		}
		_ = conn.Close()
	}
}

// add counts a connection toward the limits. The caller must close the evicted connections.
func (l *Listener) add(c *Conn) (evicted []*Conn, accepted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	evict := func(old *Conn) bool {
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

func front(waiting *lists.List) *Conn {
	if e := waiting.Front(); e != nil {
		c, _ := e.Value.(*Conn)
		return c
	}
	return nil
}

// evictableLocked returns the connection to close for a new one, or nil. It is slow: it scans all addresses.
func (l *Listener) evictableLocked() *Conn {
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
		if c, _ := e.Value.(*Conn); c != nil && !c.queuedIdentified {
			return c
		}
	}
	return l.oldestLocked()
}

// oldestLocked returns the connection of an unidentified client that has waited longest. If there is none, it returns
// the connection of an identified client that has waited longest, or nil.
func (l *Listener) oldestLocked() *Conn {
	if c := front(&l.waiting[0]); c != nil {
		return c
	}
	return front(&l.waiting[1])
}

func (l *Listener) waitingLocked() int { return l.waiting[0].Len() + l.waiting[1].Len() }

// idleLocked returns the current idle timeout: IdleTimeout for at most maxWaiting/2 waiting connections. With more, it
// falls linearly, to minIdle for maxWaiting waiting connections.
func (l *Listener) idleLocked() time.Duration {
	const half = maxWaiting / 2
	excess := min(max(0, l.waitingLocked()-half), half)
	return IdleTimeout - (IdleTimeout-minIdle)*time.Duration(excess)/half
}

func (l *Listener) queueLocked(c *Conn) {
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

func (l *Listener) unqueueLocked(c *Conn) {
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

func (l *Listener) removeLocked(c *Conn) {
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
