package listen

import (
	"bytes"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/livetest"
)

type recordingConn struct {
	net.Conn

	text bytes.Buffer
}

func (r *recordingConn) Write(p []byte) (int, error) { return r.text.Write(p) }

// Flush sends the data since Cork in order, even if the caller reuses its buffer.
//
// Invariant: I7.
func TestCorkedConnWritesOnFlush(t *testing.T) {
	recorder := new(recordingConn)
	conn := &CorkedConn{Conn: recorder, messageBuffers: new(sync.Pool)}
	write := func(p []byte) {
		t.Helper()
		if n, err := conn.Write(p); n != len(p) || err != nil {
			t.Fatal(n, err)
		}
	}
	var want strings.Builder
	for range 3 {
		write([]byte("before"))
		conn.Cork()
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
		if want.WriteString("before"); recorder.text.String() != want.String() {
			t.Fatalf("%d bytes were sent before the flush, want %d", recorder.text.Len(), want.Len())
		}
		if err := conn.Flush(); err != nil {
			t.Fatal(err)
		}
		for _, letter := range "abc" {
			want.WriteString(strings.Repeat(string(letter), writeBuffer))
		}
		if want.WriteString(string(long) + "end"); recorder.text.String() != want.String() {
			t.Fatal("the sent bytes differ from the written bytes")
		}
	}
}

// pingingConn is a connection that starts a concurrent write (a ping) as soon as the first piece is written.
type pingingConn struct {
	recordingConn

	ping func()
}

func (p *pingingConn) Write(text []byte) (int, error) {
	if ping := p.ping; ping != nil {
		p.ping = nil
		written := make(chan struct{})
		go func() { defer close(written); ping() }()
		select {
		case <-written:
		case <-time.After(50 * time.Millisecond): // The ping must wait until flush has written all pieces.
		}
	}
	return p.recordingConn.Write(text)
}

// Flush is not interrupted by a ping, which would become part of the payload.
//
// Invariant: I44.
func TestFlushIsNotInterrupted(t *testing.T) {
	recorder := new(pingingConn)
	conn := &CorkedConn{Conn: recorder, messageBuffers: new(sync.Pool)}
	written := make(chan struct{})
	conn.Cork()
	for _, piece := range []string{"one ", "two "} {
		if _, err := conn.Write([]byte(piece)); err != nil {
			t.Fatal(err)
		}
	}
	recorder.ping = func() {
		defer close(written)
		if _, err := conn.Write([]byte("ping")); err != nil {
			t.Error(err)
		}
	}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
	<-written
	if text := recorder.text.String(); text != "one two ping" {
		t.Errorf("sent %q, want \"one two ping\"", text)
	}
}

// The number of counted frames does not depend on how the stream is split into reads.
func TestFrameCounterIgnoresSplits(t *testing.T) {
	ping, masked := []byte{0x89, 0}, []byte{0x89, 0x83, 1, 2, 3, 4, 'a', 'b', 'c'}
	textFrame := func(size int) []byte { return []byte(livetest.Frame(0x01, strings.Repeat("\x00", size))) }
	for _, test := range []struct {
		name string
		text []byte
		want int
	}{
		{"nothing", nil, 0},
		{"pings", bytes.Repeat(ping, 100), 100},
		{"pings with a payload", bytes.Repeat(masked, 100), 100},
		{"texts", slices.Concat(textFrame(0), textFrame(1), textFrame(125), textFrame(126), textFrame(1000)), 5},
		{"long texts", slices.Concat(textFrame(65_535), textFrame(65_536), ping), 3 + 32},
		{"incomplete header", textFrame(65_536)[:9], 0},
		{
			"incomplete text",
			append([]byte{0x01, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0},
				make([]byte, 10*frameBytes)...), 1 + 10,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, piece := range []int{1, 2, 7, 1000, 1 << 20} {
				var count frameCounter
				got := 0
				for part := range slices.Chunk(test.text, piece) {
					got += count.add(part)
				}
				if got != test.want {
					t.Errorf("%s, %d bytes per write: counted %d frames, want %d", test.name, piece, got, test.want)
				}
			}
		})
	}
}
