package livetest_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/glasshouse-project/glasshouse/internal/livetest"
)

// dialCounter connects to a server that responds to each text with its length.
func dialCounter(t *testing.T) net.Conn {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		socket, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = socket.CloseNow() }()
		socket.SetReadLimit(1 << 20)
		for err == nil {
			var text []byte
			if _, text, err = socket.Read(r.Context()); err == nil {
				err = socket.Write(r.Context(), websocket.MessageText, []byte(strconv.Itoa(len(text))))
			}
		}
	}))
	t.Cleanup(server.Close)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// Text frames of each size arrive completely, even if they are sent together with the request.
func TestUpgradeSendsFrames(t *testing.T) {
	sizes := []int{0, 1, 125, 126, 65_535, 65_536, 100_000}
	var frames strings.Builder
	for _, size := range sizes {
		frames.WriteString(livetest.TextFrame(strings.Repeat("a", size)))
	}
	reader, err := livetest.Upgrade(dialCounter(t), frames.String())
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range sizes {
		want := strconv.Itoa(size)
		got := make([]byte, 2+len(want)) // A short frame of the server has a head of two bytes.
		if _, err := io.ReadFull(reader, got); err != nil || string(got[2:]) != want {
			t.Fatalf("text of %d bytes: server received %s bytes, error %v", size, got[2:], err)
		}
	}
}

func TestUpgradeReturnsStatusOfRefusal(t *testing.T) {
	_, err := livetest.Upgrade(dialCounter(t), "", "Sec-WebSocket-Version: 99")
	if refused, ok := errors.AsType[*livetest.RefusedError](err); !ok || refused.Status != http.StatusBadRequest {
		t.Errorf("version 99: got error %v, want status 400", err)
	}
}
