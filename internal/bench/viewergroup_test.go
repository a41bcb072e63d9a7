//go:build integration

package bench_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/livetest"
)

// viewerGroup only counts messages and does not decode them, so that the viewers do not slow down the measurement.
type viewerGroup struct {
	events atomic.Int64 // The number of events that all viewers received.
	frames atomic.Int64 // The number of WebSocket messages that contained at least one event.
	bytes  atomic.Int64
	conns  []net.Conn
	ended  sync.WaitGroup
}

func join(t *testing.T, address string, n int, subscribe string) *viewerGroup {
	t.Helper()
	c := &viewerGroup{conns: make([]net.Conn, n)}
	var ready sync.WaitGroup
	slots := make(chan struct{}, 4)
	for i := range n {
		ready.Add(1)
		slots <- struct{}{}
		conn, in, err := open(address, subscribe)
		if err != nil {
			t.Fatalf("viewer %d: %v", i, err)
		}
		c.conns[i] = conn
		c.ended.Go(func() {
			started := sync.OnceFunc(func() { <-slots; ready.Done() })
			defer started()
			c.read(in, started)
		})
	}
	ready.Wait()
	t.Cleanup(c.closeAll)
	c.waitUntilQuiet()
	return c
}

func (v *viewerGroup) waitUntilQuiet() {
	for before := int64(-1); before != v.bytes.Load(); <-time.After(500 * time.Millisecond) {
		before = v.bytes.Load()
	}
}

func (v *viewerGroup) closeAll() {
	for _, conn := range v.conns {
		_ = conn.Close()
	}
	v.ended.Wait()
}

// open does the WebSocket handshake with compression, like a browser. The returned reader provides the data after
// the handshake.
func open(address, subscribe string) (net.Conn, io.Reader, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, nil, err
	}
	in, err := livetest.Upgrade(conn, livetest.TextFrame(subscribe),
		"Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits")
	return conn, in, err
}

// read counts the events and messages in a byte stream: each contains a certain constant text. After each read from in,
// it calls onRead.
func (v *viewerGroup) read(in io.Reader, onRead func()) {
	// A long message can have two frames: its first 16 bytes, and the rest, which contains the complete messageMark. Both
	// marks must have the same length, because the code below keeps the same number of bytes for both.
	const eventMark, messageMark = `"op":"update"`, `ts","cursor":`
	buffer := make([]byte, 32<<10)
	keptBytes := 0 // How many bytes of the last read are searched again: a mark can begin there.
	for {
		n, err := in.Read(buffer[keptBytes:])
		if err != nil {
			return
		}
		v.bytes.Add(int64(n))
		if found := bytes.Count(buffer[:keptBytes+n], []byte(eventMark)); found > 0 {
			v.events.Add(int64(found))
		}
		v.frames.Add(int64(bytes.Count(buffer[:keptBytes+n], []byte(messageMark))))
		// Keep the end of the data, and search it again together with the data of the next read.
		end := min(len(eventMark)-1, keptBytes+n)
		keptBytes = copy(buffer, buffer[keptBytes+n-end:keptBytes+n])
		onRead()
	}
}

// waitForEvents waits until want events have arrived. The test fails if no new event arrives for 10 s.
func (v *viewerGroup) waitForEvents(t *testing.T, want int64) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	last, since := int64(-1), time.Now()
	for range tick.C {
		got := v.events.Load()
		switch {
		case got >= want:
			return
		case got != last:
			last, since = got, time.Now()
		case time.Since(since) > 10*time.Second:
			t.Fatalf("got %d events, want %d", got, want)
		}
	}
}

func subscribeTo(ref string) string {
	return fmt.Sprintf(`{"op":"subscribe","id":1,"resource":%q,"view":"rows"}`, ref)
}

// callAtRate calls a function n times, at a rate in calls per second. After a delay, it makes the late calls at once.
func callAtRate(n, rate int, change func(i int)) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	start := time.Now()
	for i := 0; i < n; {
		<-tick.C
		for due := int(time.Since(start).Seconds() * float64(rate)); i < n && i <= due; i++ {
			change(i)
		}
	}
}
