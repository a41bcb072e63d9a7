// Package livetest is the WebSocket client of all Go tests. A Conn sends frames. A Client sends messages. A Tab is a
// Client that reports errors to its test.
//
// A Client finds messages that contradict earlier ones, such as a change of a missing row. To verify the protocol
// independently, the package imports no code of the program.
package livetest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/coder/websocket"
)

// Options configures a connection. The zero value has no credentials.
type Options struct {
	Header    http.Header
	Query     string
	HTTP      *http.Client
	ReadLimit int64 // Maximum size of a received frame in bytes; 0 means 64 MiB.
	Compress  bool
	NoPongs   bool // The client does not respond to the pings with which the server checks that chunks have arrived.

	// Patch applies an RFC 6902 patch to an object. If Patch is nil, a Client does not verify patched objects.
	Patch func(object, patch []byte) ([]byte, error)
	// OnFault receives a description of each inconsistent message. If OnFault is nil, a Client ignores subscriptions in
	// frames that the caller passes to Send.
	OnFault func(fault string)
	// OnMessage receives each message of a Client before Read returns it. It also receives chunks.
	OnMessage func(m *Message)
}

// RefusedError is the error of Dial if the server refuses the connection.
type RefusedError struct {
	Status int
	Err    error
}

func (e *RefusedError) Error() string { return fmt.Sprintf("%d: %v", e.Status, e.Err) }
func (e *RefusedError) Unwrap() error { return e.Err }

// A Conn is a WebSocket that sends and receives uninterpreted frames. One goroutine can read while others send.
type Conn struct{ socket *websocket.Conn }

// Dial opens a WebSocket to a dashboard URL, such as http://127.0.0.1:8080.
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

// Write sends a text frame. It returns the errors of the WebSocket library unchanged.
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
	_ = c.socket.CloseNow() // Ignore the error: the connection can already have ended.
}

// WaitForClose reads until the connection ends. Without a close frame, code is -1, and reason is the error.
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
