package web

import (
	"bytes"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
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
		buffer := make([]byte, writeBuffer)
		for _, letter := range "abc" {
			for i := range buffer {
				buffer[i] = byte(letter)
			}
			write(buffer)
		}
		long := bytes.Repeat([]byte("l"), writeBuffer+1)
		write(long)
		write([]byte("end"))
		if want.WriteString("before"); to.text.String() != want.String() {
			t.Fatalf("%d bytes went out before flush, want %d", to.text.Len(), want.Len())
		}
		if err := out.flush(); err != nil {
			t.Fatal(err)
		}
		for _, letter := range "abc" {
			want.WriteString(strings.Repeat(string(letter), writeBuffer))
		}
		if want.WriteString(string(long) + "end"); to.text.String() != want.String() {
			t.Fatal("what went out is not what was written")
		}
	}
}

// A pinged is a connection to which something else is written as soon as the first
// piece is.
type pinged struct {
	noted

	ping func()
}

func (p *pinged) Write(text []byte) (int, error) {
	if ping := p.ping; ping != nil {
		p.ping = nil
		told := make(chan struct{})
		go func() { defer close(told); ping() }()
		select {
		case <-told:
		case <-time.After(50 * time.Millisecond): // It waits, as it is to.
		}
	}
	return p.noted.Write(text)
}

// What was held goes out whole, also where each piece of it is written by itself,
// as over TLS: a ping in the midst of a frame would be a part of its text.
func TestNothingComesBetween(t *testing.T) {
	to := new(pinged)
	out := &outgoing{Conn: to, papers: new(sync.Pool)}
	told := make(chan struct{})
	out.gather()
	for _, piece := range []string{"one ", "two "} {
		if _, err := out.Write([]byte(piece)); err != nil {
			t.Fatal(err)
		}
	}
	to.ping = func() {
		defer close(told)
		if _, err := out.Write([]byte("ping")); err != nil {
			t.Error(err)
		}
	}
	if err := out.flush(); err != nil {
		t.Fatal(err)
	}
	<-told
	if text := to.text.String(); text != "one two ping" {
		t.Errorf("%q went out", text)
	}
}
