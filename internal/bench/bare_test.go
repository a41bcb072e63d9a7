//go:build integration

package bench_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/coder/websocket"
)

// bareLoop is the baseline of the fan-out benchmark: it only sends messages to each viewer in a loop.
type bareLoop struct {
	// A message with the same length and compression as the snapshot that the program sends.
	snapshot []byte

	mu      sync.Mutex
	frames  [][]byte
	changed chan struct{} // Closed and replaced when a message is added.
}

// startBare starts bareLoop in a child process. Each line of the child's stdin contains the events of one message.
func startBare(t *testing.T) *child {
	t.Helper()
	command := exec.CommandContext( //nolint:gosec // The command is this test binary itself.
		context.WithoutCancel(t.Context()), os.Args[0], "-test.run=^TestBareLoopServesInChild$",
	)
	command.Env = append(os.Environ(), "GLASSHOUSE_BENCH_BARE=1")
	return startChild(t, command)
}

// TestBareLoopServesInChild is not a test. It runs the server in the process that the function startBare starts.
func TestBareLoopServesInChild(t *testing.T) {
	if os.Getenv("GLASSHOUSE_BENCH_BARE") == "" {
		t.Skip("the baseline of the other benchmarks, which start it themselves")
	}
	b := &bareLoop{changed: make(chan struct{}), snapshot: bareSnapshot()}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = http.Serve(listener, http.HandlerFunc(b.serve)) //nolint:gosec // It serves loopback until the process ends.
	}()
	_, _ = fmt.Fprintf(os.Stdout, "http://%s/\n", listener.Addr())
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		events, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		frame := append(
			[]byte(`{"id":1,"type":"events","cursor":"AAAAAAAAAAAAAAAAAAAA","events":[`), events[:len(events)-1]...,
		)
		b.mu.Lock()
		b.frames = append(b.frames, append(frame, "]}"...))
		changed := b.changed
		b.changed = make(chan struct{})
		b.mu.Unlock()
		close(changed)
	}
}

func (b *bareLoop) serve(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		Subprotocols: []string{"glasshouse.v1+json"}, CompressionMode: websocket.CompressionNoContextTakeover,
		CompressionThreshold: len(b.snapshot),
	})
	if err != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	defer cancel()
	if _, _, err := conn.Read(ctx); err != nil {
		return
	}
	go b.write(ctx, conn)
	_, _, _ = conn.Read(ctx)
}

func (b *bareLoop) write(ctx context.Context, conn *websocket.Conn) {
	if err := conn.Write(ctx, websocket.MessageText, b.snapshot); err != nil {
		return
	}
	for sent := 0; ; {
		b.mu.Lock()
		frames, changed := b.frames[sent:], b.changed
		b.mu.Unlock()
		for _, frame := range frames {
			if err := conn.Write(ctx, websocket.MessageText, frame); err != nil {
				return
			}
		}
		if sent += len(frames); len(frames) > 0 {
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

func bareSnapshot() []byte {
	text := []byte(`{"id":1,"type":"snapshot","cursor":"AAAAAAAAAAAAAAAAAAAA","columns":[],"rows":[`)
	for i := range objects {
		text = fmt.Appendf(
			text, `{"ns":"shop","name":"web-%d","uid":"%s","rv":"%d","created":"2026-11-21T10:00:00Z","cells":%s},`,
			i, uid(i), 100+i, pod(i, 0).Cells,
		)
	}
	return append(text[:len(text)-1], `],"last":true}`...)
}
