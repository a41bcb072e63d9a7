package live

import (
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/web/listen"
)

// A reserved message is behind if the client reads fewer bytes per second than required.
func TestSlowlyReadMessageIsBehind(t *testing.T) {
	const piece = 1 << 10
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		c := &connection{netConn: &listen.CorkedConn{Conn: server}}
		m := &reservedMessage{conn: c}
		if behind := m.Behind(1); behind != 0 {
			t.Errorf("Behind for a message without memory: got %v, want 0", behind)
		}
		m.reservedAt.Store(time.Now().UnixNano())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for range 1000 {
				if _, err := c.netConn.Write(make([]byte, piece)); err != nil {
					return
				}
			}
		}()
		for range 500 { // The client reads 50 KiB per second.
			<-time.After(20 * time.Millisecond)
			if _, err := io.CopyN(io.Discard, client, piece); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if behind := m.Behind(32 << 10); behind > 100*time.Millisecond {
			t.Errorf("Behind for a client that reads 50 KiB/s: got %v, want 0", behind)
		}
		if behind := m.Behind(100 << 10); behind < 4*time.Second || behind > 6*time.Second {
			t.Errorf("Behind compared with 100 KiB/s: got %v, want 5 s", behind)
		}
		<-time.After(2 * time.Second)
		if behind := m.Behind(1); behind != 2*time.Second {
			t.Errorf("Behind for a client that stopped reading for 2 s: got %v, want 2 s", behind)
		}
		_ = client.Close() // Closing an in-memory pipe never fails.
		<-ended
	})
}
