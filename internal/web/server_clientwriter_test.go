package web_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/web"
	"github.com/glasshouse-project/glasshouse/internal/web/listen"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
)

// resettingClient is an HTTP/2 client that sends requests and resets their streams.
type resettingClient struct {
	t      *testing.T
	addr   string
	conn   *tls.Conn
	framer *http2.Framer
	next   uint32      // The ID of the next stream.
	data   chan uint32 // The stream ID of each received DATA frame; closed when the connection ends.
}

func (r *resettingClient) connect() {
	r.t.Helper()
	dialer := tls.Dialer{Config: &tls.Config{
		InsecureSkipVerify: true, //nolint:gosec // The test has created the certificate itself.
		NextProtos:         []string{"h2"},
	}}
	conn, err := dialer.DialContext(r.t.Context(), "tcp", r.addr)
	if err != nil {
		r.t.Fatal(err)
	}
	r.conn, _ = conn.(*tls.Conn)
	if r.conn == nil || r.conn.ConnectionState().NegotiatedProtocol != "h2" {
		r.t.Fatal("the connection is not HTTP/2")
	}
	if _, err := r.conn.Write([]byte(http2.ClientPreface)); err != nil {
		r.t.Fatal(err)
	}
	r.framer, r.next = http2.NewFramer(r.conn, r.conn), 1
	// Enlarge only the connection's window: the small window of each stream keeps its response unfinished until a reset.
	if err := errors.Join(r.framer.WriteSettings(), r.framer.WriteWindowUpdate(0, 1<<30)); err != nil {
		r.t.Fatal(err)
	}
	if err := r.conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		r.t.Fatal(err)
	}
	// The test does not receive most of these stream IDs. A large buffer keeps the method read from blocking.
	r.data = make(chan uint32, 1<<16)
	go r.read(r.framer, r.data)
}

// read reads frames until the connection ends, and sends the stream ID of each DATA frame to data.
func (r *resettingClient) read(framer *http2.Framer, data chan<- uint32) {
	defer close(data)
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			return
		}
		if frame.Header().Type == http2.FrameData {
			data <- frame.Header().StreamID
		}
	}
}

// close closes the connection and waits until read has returned.
func (r *resettingClient) close() {
	_ = r.conn.Close() // The server may have closed it already.
	for range r.data {
		continue
	}
}

// open sends a request and resets its stream, either at once or after one DATA frame.
func (r *resettingClient) open(path string, atOnce bool) error {
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	for _, field := range [][2]string{
		{":method", "GET"}, {":scheme", "https"}, {":authority", r.addr}, {":path", path}, {"accept", "text/html"},
	} {
		if err := encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}); err != nil {
			return err
		}
	}
	stream := r.next
	r.next += 2
	headers := http2.HeadersFrameParam{
		StreamID: stream, BlockFragment: block.Bytes(), EndStream: true, EndHeaders: true,
	}
	if err := r.framer.WriteHeaders(headers); err != nil {
		return err
	}
	for hasData := atOnce; !hasData; {
		dataStream, ok := <-r.data
		if !ok {
			return io.ErrUnexpectedEOF
		}
		hasData = dataStream == stream
	}
	return r.framer.WriteRSTStream(stream, http2.ErrCodeCancel)
}

// Thousands of stream resets and closed connections cause no log lines at the levels WARN and ERROR.
func TestStreamResetsAreNotLoggedAsErrors(t *testing.T) {
	skipIfShort(t)
	t.Parallel()
	secret := newSecretVolume(t, "resets")
	keys, err := listen.NewKeyPair(secret.cert(), secret.key(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	api := newSite(t).api
	for n := range 500 { // A response with 500 pods exceeds a stream's window, so a reset interrupts the response.
		name := fmt.Sprintf("pod-%d", n)
		api.Set(podsRef, apitest.Item{
			Namespace: "a", Name: name, Cells: fmt.Sprintf(`[%q,"Running","5m"]`, name), Rest: `"spec":{}`,
		})
	}
	s := startSiteWith(t, web.Options{ClusterInfo: request.ClusterInfo{Cluster: startCluster(t, api)}, KeyPair: keys})
	paths := []string{
		"/r/" + podsRef, "/api/v1/snapshot/" + podsRef + "?view=objects", "/api/v1/object/" + podsRef + "/a/web-1",
		"/static/app.js", "/status",
	}
	const streams = 3000
	r := &resettingClient{t: t, addr: s.addr}
	r.connect()
	connections := 1
	for n := range streams {
		// The server closes a connection after too many resets. The test then opens a new one.
		if err := r.open(paths[n%len(paths)], n%20 != 0); err != nil {
			r.close()
			r.connect()
			connections++
		}
	}
	r.close()
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	log := s.log.String()
	if n := strings.Count(log, "level=ERROR") + strings.Count(log, "level=WARN"); n > 0 {
		t.Errorf("log has %d lines with level warn or error, want 0: %.2000s", n, log)
	}
	t.Logf("%d streams on %d connections", streams, connections)
}

type brokenWriter struct {
	*httptest.ResponseRecorder

	err error
}

func (w *brokenWriter) Write([]byte) (int, error) { return 0, w.err }

// A failed write to a client is logged at level DEBUG, but a misuse of the ResponseWriter at level ERROR.
func TestFailedWritesAreClientErrors(t *testing.T) {
	var log strings.Builder
	options := web.Options{Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	server, err := web.New(options)
	if err != nil {
		t.Fatal(err)
	}
	handler, err := server.Handler()
	if err != nil {
		t.Fatal(err)
	}
	clientErrors := []error{
		syscall.EPIPE, &net.OpError{Op: "write", Err: os.NewSyscallError("write", syscall.ECONNRESET)},
		os.ErrDeadlineExceeded, net.ErrClosed,
		http2.StreamError{StreamID: 1, Code: http2.ErrCodeCancel},
		errors.New("http2: stream closed"), errors.New("client disconnected"),
		http.ErrHandlerTimeout, io.ErrShortWrite,
	}
	for _, err := range clientErrors {
		t.Run(err.Error(), func(t *testing.T) {
			log.Reset()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/healthz", nil)
			r.Host = "localhost"
			handler.ServeHTTP(&brokenWriter{httptest.NewRecorder(), err}, r)
			if !strings.Contains(log.String(), `level=DEBUG msg="client disconnected"`) ||
				strings.Contains(log.String(), "ERROR") {
				t.Errorf("log is %q, want only a debug line", log.String())
			}
		})
	}
	for _, misuse := range []error{http.ErrContentLength, http.ErrBodyNotAllowed, http.ErrHijacked} {
		t.Run(misuse.Error(), func(t *testing.T) {
			log.Reset()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/healthz", nil)
			r.Host = "localhost"
			handler.ServeHTTP(&brokenWriter{httptest.NewRecorder(), misuse}, r)
			if !strings.Contains(log.String(), "level=ERROR") {
				t.Errorf("log is %q, want an error", log.String())
			}
		})
	}
}
