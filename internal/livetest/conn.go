// Package livetest is the WebSocket client of all Go tests. It connects to the dashboard, decodes its messages, and
// maintains the state of each subscription like a browser. It finds every message that is inconsistent with this
// state:
//
//   - an add of an existing row, or a change of a missing row
//   - a resourceVersion that does not increase
//   - a patch that was made for another version
//   - a snapshot where the server should have resumed from a cursor
//   - a heartbeat or digest (a hash of the rows) that does not match the state
//   - a chunk that does not continue its message
//
// It imports no code of the program, so that it verifies the protocol independently. A Conn sends and receives frames,
// a Client messages. A Tab is a Client that reports errors to its test.
package livetest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/coder/websocket"
)

// Options are the options of a connection. The zero value is a client without credentials.
type Options struct {
	Header    http.Header  // Credentials and the Origin.
	Query     string       // Query of the address, without a question mark.
	HTTP      *http.Client // Client of the upgrade request, with its TLS, cookies and addresses.
	ReadLimit int64        // Maximum size of a received frame in bytes; 0 for 64 MiB.
	Compress  bool
	NoPongs   bool // The client does not answer pings, so it acknowledges no chunks.

	// Patch applies an RFC 6902 patch to an object. Without it, a Client verifies no contents of patched objects.
	Patch func(object, patch []byte) ([]byte, error)
	// OnFault is called with each fault: a description of an inconsistent message. A Client that has no OnFault
	// maintains only the subscriptions of its method Subscribe.
	OnFault func(fault string)
}

// RefusedError is the error of Dial if the server has refused the connection.
type RefusedError struct {
	Status int // HTTP status of the response.
	Err    error
}

func (e *RefusedError) Error() string { return fmt.Sprintf("%d: %v", e.Status, e.Err) }
func (e *RefusedError) Unwrap() error { return e.Err }

// A Conn is a WebSocket, which sends and receives frames without any interpretation. One goroutine can read while
// others send.
type Conn struct{ socket *websocket.Conn }

// Dial opens a WebSocket. server is the URL of the dashboard, such as http://127.0.0.1:8080.
func Dial(ctx context.Context, server string, options Options) (*Conn, error) {
	dial := &websocket.DialOptions{
		HTTPClient: options.HTTP, HTTPHeader: options.Header, Subprotocols: []string{"glasshouse.v1+json"},
	}
	if dial.HTTPClient == nil {
		dial.HTTPClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	}
	if options.Compress {
		dial.CompressionMode = websocket.CompressionNoContextTakeover
	}
	if options.NoPongs {
		dial.OnPingReceived = func(context.Context, []byte) bool { return false }
	}
	address := strings.TrimSuffix(server, "/") + "/api/v1/live"
	if options.Query != "" {
		address += "?" + options.Query
	}
	socket, response, err := websocket.Dial(ctx, address, dial) //nolint:bodyclose // The connection owns the body.
	if err != nil {
		if response != nil {
			return nil, &RefusedError{response.StatusCode, err}
		}
		return nil, fmt.Errorf("open a WebSocket: %w", err)
	}
	limit := options.ReadLimit
	if limit == 0 {
		limit = 64 << 20
	}
	socket.SetReadLimit(limit)
	return &Conn{socket}, nil
}

// Write sends a text frame. Errors of Write and Read are those of the WebSocket library, so that
// websocket.CloseStatus and websocket.CloseError apply to them.
func (c *Conn) Write(ctx context.Context, frame string) error {
	return c.socket.Write(ctx, websocket.MessageText, []byte(frame))
}

// WriteBinary sends a binary frame.
func (c *Conn) WriteBinary(ctx context.Context, frame string) error {
	return c.socket.Write(ctx, websocket.MessageBinary, []byte(frame))
}

// ReadFrame returns the next frame.
func (c *Conn) ReadFrame(ctx context.Context) ([]byte, error) {
	_, frame, err := c.socket.Read(ctx)
	return frame, err
}

// Close ends the connection without a close frame.
func (c *Conn) Close() {
	_ = c.socket.CloseNow() // The connection can have ended before.
}

// WaitForClose reads until the connection ends, and returns the code and reason of the server's close frame. Without a
// close frame, the code is -1, and the reason is the error.
func (c *Conn) WaitForClose(ctx context.Context) (code websocket.StatusCode, reason string) {
	for {
		if _, err := c.ReadFrame(ctx); err != nil {
			return closeReason(err)
		}
	}
}

func closeReason(err error) (code websocket.StatusCode, reason string) {
	if closed := new(websocket.CloseError); errors.As(err, closed) {
		return closed.Code, closed.Reason
	}
	return -1, err.Error()
}
