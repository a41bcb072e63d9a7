package main

import (
	"net"
	"testing"
	"time"
)

// If a client does not read, its data stays in the program, where changes are folded, and not in the kernel.
func TestUnsentBytesAreLimited(t *testing.T) {
	listener, err := listenOn(t.Context(), "--listen", "127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }() // The error does not matter here.
	client, err := new(net.Dialer).DialContext(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }() // The client reads nothing.
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }() // Data may remain unsent.
	if err := conn.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	// limit covers the unsent limit, and what a client's kernel accepts at first.
	const size, limit = 64 << 20, 1 << 20
	if n, _ := conn.Write(make([]byte, size)); n > limit { // Write ends at the deadline.
		t.Errorf("%d bytes of %d were taken, want %d at most", n, size, limit)
	}
}
