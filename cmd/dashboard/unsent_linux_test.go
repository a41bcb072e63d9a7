package main

import (
	"net"
	"testing"
	"time"
)

// What nobody reads stays with the program, where it is folded, and is not kept by the kernel.
func TestUnsentIsBounded(t *testing.T) {
	listener, err := listenOn(t.Context(), "--listen", "127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }() // Nobody else listens.
	client, err := new(net.Dialer).DialContext(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }() // It reads nothing.
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }() // It cannot be flushed.
	if err := conn.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	// As much as may be unsent, and what a client's kernel takes at first.
	const much, bound = 64 << 20, 1 << 20
	if n, _ := conn.Write(make([]byte, much)); n > bound { // It ends at the deadline.
		t.Errorf("%d bytes of %d were taken, want %d at most", n, much, bound)
	}
}
