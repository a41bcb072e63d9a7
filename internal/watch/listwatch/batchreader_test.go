package listwatch_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/listwatch"
)

// frames is the body of a response. Read waits for the first HTTP/2 frame and returns all that have arrived.
type frames struct {
	text      *strings.Reader
	arrivals  chan int // The size of each frame.
	available int
	reads     int
}

func (f *frames) Close() error { return nil }

// RoundTrip returns a response with the body f.
func (f *frames) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: f, Request: r}, nil
}

func (f *frames) Read(p []byte) (int, error) {
	f.reads++
	if f.available == 0 {
		n, ok := <-f.arrivals
		if !ok {
			return 0, io.EOF
		}
		f.available = n
	}
	for len(f.arrivals) > 0 {
		f.available += <-f.arrivals
	}
	n, err := f.text.Read(p[:min(f.available, len(p))])
	f.available -= n
	return n, err
}

// Only long lists are read in large pieces; short lists, and events after a list, are read without delay.
func TestLongListIsReadInBatches(t *testing.T) {
	const frame, each = 2 << 10, 200 * time.Microsecond
	added := fmt.Sprintf("%-*s\n", frame-1, `{"type":"ADDED","object":{"kind":"Table","apiVersion":"meta.k8s.io/v1",`+
		`"rows":[{"cells":["a"],"object":{"metadata":{"name":"a"}}}]}}`)
	listEnd := fmt.Sprintf("%-*s\n", frame-1, `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"1",`+
		`"annotations":{"k8s.io/initial-events-end":"true"}}}}`)
	for name, test := range map[string]struct {
		text               string
		minReads, maxReads int
	}{
		"long":   {text: strings.Repeat(added, 4999) + listEnd, minReads: 5000 / 20, maxReads: 128 + 5000/20},
		"short":  {text: strings.Repeat(added, 49) + listEnd, minReads: 51, maxReads: 51},
		"events": {text: listEnd + strings.Repeat(added, 4999), minReads: 5001, maxReads: 5001},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				count := len(test.text) / frame
				f := &frames{text: strings.NewReader(test.text), arrivals: make(chan int, count)}
				server := podServer(t)
				server.Config.WrapTransport = func(http.RoundTripper) http.RoundTripper { return f }
				start := time.Now()
				go func() {
					for range count {
						<-time.After(each)
						f.arrivals <- frame
					}
					close(f.arrivals)
				}()
				w := openWatch(t, newSource(t, server, pods, listwatch.SourceOptions{}), streamingListOptions())
				events := 0
				for range w.ResultChan() {
					events++
				}
				elapsed, sent := time.Since(start), time.Duration(count)*each
				if events != count || f.reads > test.maxReads || f.reads < test.minReads ||
					elapsed > sent+10*time.Millisecond {
					t.Errorf("got %d events in %d reads and %s, want %d in %d to %d reads and %s", events, f.reads, elapsed,
						count, test.minReads, test.maxReads, sent)
				}
			})
		})
	}
}
