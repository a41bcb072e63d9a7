package web_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// busySite is a server with all connections that a test has opened to it.
type busySite struct {
	*site

	t     *testing.T
	conns []net.Conn
}

func newBusySite(t *testing.T) *busySite {
	t.Helper()
	s := &busySite{site: newSite(t), t: t}
	t.Cleanup(func() {
		for _, conn := range s.conns {
			_ = conn.Close() // The server has possibly closed it already.
		}
	})
	return s
}

// dial opens a connection to the server from the given loopback address.
func (s *busySite) dial(from string) net.Conn {
	s.t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	conn, err := dialer.DialContext(s.t.Context(), "tcp", s.addr)
	if err != nil {
		s.t.Fatalf("connection %d: %v", len(s.conns), err)
	}
	s.conns = append(s.conns, conn)
	if len(s.conns)%pendingConnections == 0 {
		s.waitForAccept()
	}
	return conn
}

// After pendingConnections new connections, dial waits until the server has accepted them. Kernels queue at least 128
// connections. If this queue is full, a connection request is dropped, and the client repeats it only after a second.
const pendingConnections = 100

// waitForAccept waits until the server has served a new connection, and thus has accepted all earlier ones.
func (s *busySite) waitForAccept() {
	s.t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 10)}}
	conn, err := dialer.DialContext(s.t.Context(), "tcp", s.addr)
	if err != nil {
		s.t.Fatal(err)
	}
	if !s.isServed(conn) {
		s.t.Errorf("after %d connections, a new one is not served", len(s.conns))
	}
	if err := conn.Close(); err != nil {
		s.t.Error(err)
	}
}

// limitWait makes reads and writes of conn fail after one minute.
func (s *busySite) limitWait(conn net.Conn) {
	s.t.Helper()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		s.t.Fatal(err)
	}
}

// isServed reports whether the server responds to a request on conn with status 200.
func (s *busySite) isServed(conn net.Conn) bool {
	s.limitWait(conn)
	if _, err := fmt.Fprintf(conn, "GET /healthz HTTP/1.1\r\nHost: %s\r\n\r\n", s.addr); err != nil {
		return false
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, response.Body)
	return err == nil && response.StatusCode == http.StatusOK
}

// At the connection limit, a new connection replaces the one that has waited longest for a request.
//
// Invariant: I26.
func TestIdleConnectionsAreEvictedForNewOnes(t *testing.T) {
	skipIfShort(t)
	t.Parallel()
	const most = 2000
	hello := []byte{22, 3, 1, 2, 0} // The start of a TLS record of 512 bytes; the rest is never sent.
	for name, use := range map[string]func(*busySite, net.Conn) bool{
		"silent": func(*busySite, net.Conn) bool { return true },
		"half a header": func(s *busySite, c net.Conn) bool {
			_, err := fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: local")
			return err == nil
		},
		"idle":      func(s *busySite, c net.Conn) bool { return s.isServed(c) },
		"handshake": func(s *busySite, c net.Conn) bool { _, err := c.Write(hello); return err == nil },
	} {
		t.Run(name, func(t *testing.T) {
			s := newBusySite(t)
			for n := range most + 500 {
				if !use(s, s.dial(fmt.Sprintf("127.0.0.%d", n%6+1))) {
					t.Fatalf("connection %d was not accepted", n)
				}
			}
			if !s.isServed(s.dial("127.0.0.9")) {
				t.Error("new connection is not served")
			}
			if !s.isServed(s.dial("127.0.0.1")) {
				t.Error("new connection of an address with many connections is not served")
			}
			s.limitWait(s.conns[0])
			if _, err := io.ReadAll(s.conns[0]); err != nil {
				t.Errorf("the connection that was idle longest is not closed: %v", err)
			}
		})
	}
}

// If several addresses have very many connections, only their connections are evicted. A connection from another
// address stays open.
func TestFloodingAddressesLoseTheirOwnConnections(t *testing.T) {
	s := newBusySite(t)
	first := s.dial("127.0.0.9")
	for n := range 2500 {
		s.dial(fmt.Sprintf("127.0.0.%d", n%8+1))
	}
	if !s.isServed(first) {
		t.Error("a connection that has not sent its first request yet was closed")
	}
	if !s.isServed(s.dial("127.0.0.9")) {
		t.Error("new connection is not served")
	}
}

// The server does not evict WebSockets, or connections with a request in progress.
//
// Invariant: I26.
func TestConnectionsInUseAreNotEvicted(t *testing.T) {
	s := newBusySite(t)
	socket := s.open(nil)
	socket.checkAlive()
	for n := range 2500 {
		s.dial(fmt.Sprintf("127.0.0.%d", n%6+1))
	}
	if !s.isServed(s.dial("127.0.0.9")) {
		t.Error("new connection is not served")
	}
	socket.checkAlive()
}
