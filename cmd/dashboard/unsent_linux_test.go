package main

import (
	"net"
	"testing"
	"time"
)

// If a client does not read, at most 1 MiB of messages waits in kernel buffers.
// Invariant: I7.
func TestUnsentBytesAreLimited(t *testing.T) {
	listener, err := listenOn(t.Context(), "--listen", "127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	client, err := new(net.Dialer).DialContext(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	// The limit covers unsent bytes of the server and the receive buffer of the client.
	const size, limit = 64 << 20, 1 << 20
	if n, _ := conn.Write(make([]byte, size)); n > limit { // Ignore the error: Write fails at the deadline.
		t.Errorf("Write without a reader: accepted %d bytes of %d, want at most %d", n, size, limit)
	}
}
