package live

import (
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"glasshouse/internal/web/listen"
)

// A reserved message counts as behind if the client reads nothing, or fewer bytes per second than required. It is not
// behind if the client reads a long message slowly, but at the required rate.
func TestReservedMessageBehind(t *testing.T) {
	const piece = 1 << 10
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		c := &connection{netConn: &listen.CorkedConn{Conn: server}}
		m := &reservedMessage{conn: c}
		if behind := m.Behind(1); behind != 0 {
			t.Errorf("a message without memory is behind by %v", behind)
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
			t.Errorf("a client that takes 50 KiB a second is behind by %v", behind)
		}
		if behind := m.Behind(100 << 10); behind < 4*time.Second || behind > 6*time.Second {
			t.Errorf("it is behind a rate of 100 KiB a second by %v, want 5s", behind)
		}
		<-time.After(2 * time.Second)
		if behind := m.Behind(1); behind != 2*time.Second {
			t.Errorf("a client that has stopped for 2s is behind by %v", behind)
		}
		_ = client.Close() // Closing an in-memory pipe never fails.
		<-ended
	})
}
