//go:build integration

package bench_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/livetest"

	"k8s.io/client-go/rest"
)

type viewer struct {
	complete chan struct{}
	rows     atomic.Int64
	stop     context.CancelFunc
}

// newViewer opens a WebSocket, and calls onEvents with each message that contains events. It adds the goroutine that
// reads the messages to the given wait group.
func newViewer(
	t *testing.T, server *child, subscribe string, reading *sync.WaitGroup, onEvents func(frame []byte),
) *viewer {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	conn, err := livetest.Dial(ctx, "ws://"+server.address, livetest.Options{})
	if err == nil {
		err = conn.Write(ctx, subscribe)
	}
	if err != nil {
		t.Fatal(err)
	}
	v := &viewer{complete: make(chan struct{}), stop: cancel}
	reading.Go(func() {
		defer conn.Close()
		for {
			frame, err := conn.ReadFrame(ctx) // Do not decode the frame, which would slow down the measurement.
			switch head := frame[:min(40, len(frame))]; {
			case err != nil:
				return
			case bytes.Contains(head, []byte(`"type":"events"`)) && onEvents != nil:
				onEvents(frame)
			case bytes.Contains(head, []byte(`"type":"snapshot"`)):
				v.rows.Add(int64(bytes.Count(frame, []byte(`,"cells":[`))))
				if bytes.HasSuffix(frame, []byte(`"last":true}`)) {
					close(v.complete)
				}
			}
		}
	})
	return v
}

func get(ctx context.Context, t *testing.T, config *rest.Config, path, accept string) io.ReadCloser {
	t.Helper()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", accept)
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s", path, response.Status)
	}
	return response.Body
}
