package web

import (
	"bytes"
	"net"
	"strings"
	"sync"
	"testing"
)

// A noted is a connection that notes what is written.
type noted struct {
	net.Conn

	text bytes.Buffer
}

func (n *noted) Write(p []byte) (int, error) { return n.text.Write(p) }

// What is gathered goes out at once, in order, also where the buffer that it came
// from has other text by then; what is written else goes out by itself.
func TestGather(t *testing.T) {
	to := new(noted)
	out := &outgoing{Conn: to, papers: new(sync.Pool)}
	write := func(p []byte) {
		t.Helper()
		if n, err := out.Write(p); n != len(p) || err != nil {
			t.Fatal(n, err)
		}
	}
	var want strings.Builder
	for range 3 {
		write([]byte("before"))
		out.gather()
		buffer := make([]byte, buffered)
		for _, letter := range "abc" {
			for i := range buffer {
				buffer[i] = byte(letter)
			}
			write(buffer)
		}
		long := bytes.Repeat([]byte("l"), buffered+1)
		write(long)
		write([]byte("end"))
		if want.WriteString("before"); to.text.String() != want.String() {
			t.Fatalf("%d bytes went out before flush, want %d", to.text.Len(), want.Len())
		}
		if err := out.flush(); err != nil {
			t.Fatal(err)
		}
		for _, letter := range "abc" {
			want.WriteString(strings.Repeat(string(letter), buffered))
		}
		if want.WriteString(string(long) + "end"); to.text.String() != want.String() {
			t.Fatal("what went out is not what was written")
		}
	}
}
