// Package response delivers responses, and provides what handlers need to build them. The memory of a response is
// reserved in a budget before it is built. Except for exports, a response is built completely while it has a
// processor lease (permission to keep a processor busy). It is then sent in small pieces with a deadline each. A slow
// client therefore does not block others.
package response

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"glasshouse/internal/limit"
	"glasshouse/internal/watch/stream"
	"glasshouse/internal/web/listen"
	"glasshouse/internal/web/request"
)

const (
	// maxBuffered is the maximum number of bytes of an export that are buffered. At this size, the buffer is sent,
	// and the handler waits until the client has read it. Responses that are not exports are buffered completely.
	maxBuffered = 256 << 10
	// pieceBytes is how many bytes of a response must be sent within StallTimeout.
	pieceBytes = 4 << 10
	// StallTimeout is the maximum time for sending pieceBytes of a response. After that, the response is aborted.
	StallTimeout = 20 * time.Second
	// closeAfter is the maximum time until an aborted response ends. After that, its connection is closed.
	closeAfter = time.Second
	// reserveTimeout is how long a request waits for memory for its response.
	reserveTimeout = 10 * time.Second
)

// Response buffers the compressed output of a handler until the handler has returned. It then sends the buffer in
// pieces, each with a deadline. A slow client therefore blocks neither the handler nor a compressor. It only occupies
// the buffered bytes, which stay reserved in the memory budget until they are sent.
type Response struct {
	http.ResponseWriter

	budget     *limit.Budget
	conn       *listen.Conn // Nil if the server has no Listener.
	caller     limit.Caller
	estimate   int64
	reserved   *limit.Reservation
	acquire    func(context.Context) (*limit.Lease, error)
	buildLease *limit.Lease    // The processor lease while the response is being built.
	ctx        context.Context //nolint:containedctx // The context that the handler has passed to Stream.
	controller *http.ResponseController
	status     int
	body       []byte
	streams    bool // The handler has called Stream.
	sent       bool
	err        error
	// longest is the length, in bytes, of the longest text of an exported object so far. It is 0 until a text is
	// longer than stream.LargestText.
	longest int

	mu         sync.Mutex
	pieceStart time.Time // When the sending of the current piece began. Zero while no piece is being sent.
	aborted    bool
	ended      bool
	sendTime   time.Duration
	sentBytes  int64
}

type responseKey struct{}

// Of returns the response to a request. It returns nil if the route delivers its responses directly.
func Of(r *http.Request) *Response {
	out, _ := r.Context().Value(responseKey{}).(*Response)
	return out
}

// SetEstimate sets the estimated memory of the response in bytes. This amount is reserved before the response is
// built.
func (o *Response) SetEstimate(bytes int64) { o.estimate = bytes }

func (o *Response) reserve(ctx context.Context) error {
	if o == nil || o.reserved != nil {
		return nil
	}
	waitCtx, cancel := context.WithTimeout(ctx, reserveTimeout)
	defer cancel()
	var err error
	o.reserved, err = o.budget.Reserve(waitCtx, o.caller, o.estimate, o)
	if err != nil && ctx.Err() == nil {
		return &request.Problem{
			Title: "Too many requests", Status: http.StatusTooManyRequests,
			Detail: "The memory for responses is in use. If you have many open requests, read or close some of them. " +
				"Then retry.",
		}
	}
	return err
}

// Build must be called before a response is encoded. It reserves memory for the response, and waits for a processor
// lease (see quota.Limits.Processors). The lease is released before the first bytes are sent.
func (o *Response) Build(ctx context.Context) error {
	if err := o.reserve(ctx); err != nil || o == nil || o.buildLease != nil {
		return err
	}
	var err error
	o.buildLease, err = o.acquire(ctx)
	return err
}

// Stream prepares a response with many rows. Afterwards, Write sends the buffer whenever it contains at least
// maxBuffered bytes.
func (o *Response) Stream(ctx context.Context) error {
	if err := o.Build(ctx); err != nil {
		return err
	}
	o.streams, o.ctx = true, ctx
	return nil
}

// Grow increases the reserved memory by a number of bytes, without waiting. Call it before allocating them. Grow does
// nothing if the response is nil or has no reserved memory.
func (o *Response) Grow(bytes int64) {
	if o != nil {
		o.reserved.Grow(bytes)
	}
}

// ExpectText reserves more memory if the text of an exported object is longer than stream.LargestText. The estimate
// covers only texts up to that length. A text can be longer because JSON needs 6 bytes for one control character.
// Objects are exported one by one, so only the longest text counts.
func (o *Response) ExpectText(length int) {
	if longest := max(o.longest, stream.LargestText); length > longest {
		o.Grow(3 * int64(length-longest))
		o.longest = length
	}
}

// appendTo appends p to a buffer of the response. If the buffer is full, appendTo replaces it by one of at least
// twice its size, and reserves memory for that. The memory estimate does not include the buffers, because escaped
// text can be six times as long as the text.
func (o *Response) appendTo(buffer, p []byte) []byte {
	if least := len(buffer) + len(p); least > cap(buffer) {
		size := max(least, 2*cap(buffer), pieceBytes)
		o.Grow(int64(size))
		larger := append(make([]byte, 0, size), buffer...)
		o.Grow(-int64(cap(buffer)))
		buffer = larger
	}
	return append(buffer, p...)
}

// WriteHeader records the status. The header is sent together with the first piece of the body.
func (o *Response) WriteHeader(status int) {
	if o.status == 0 {
		o.status = status
	}
}

// Write buffers p. If the handler has called Stream, Write also sends the buffer whenever it contains at least
// maxBuffered bytes.
func (o *Response) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	o.body = o.appendTo(o.body, p)
	if o.streams && len(o.body) >= maxBuffered {
		o.send()
		if o.err == nil {
			o.err = o.Build(o.ctx)
		}
	}
	return len(p), o.err
}

// SetWriteDeadline marks the response as aborted. The piece that is being sent can continue until the time at. No
// further piece is started.
func (o *Response) SetWriteDeadline(at time.Time) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.aborted = true
	return o.controller.SetWriteDeadline(at)
}

// Abort implements limit.Response. It aborts the response. If the response has not ended after closeAfter, Abort
// closes the connection, because in HTTP/2, a write deadline alone does not end a stream whose connection is blocked.
func (o *Response) Abort() {
	// If the ResponseWriter does not support deadlines, the response ends before its next piece.
	_ = o.SetWriteDeadline(time.Now())
	time.AfterFunc(closeAfter, func() {
		if o.conn != nil && !o.hasEnded() {
			_ = o.conn.Close()
		}
	})
}

// TimeFor returns how long it takes to send a number of bytes at a rate in bytes per second.
func TimeFor(bytes, rate int64) time.Duration {
	// Use floating point, because an integer product would overflow at 8 GiB.
	return time.Duration(float64(bytes) / float64(rate) * float64(time.Second))
}

func (o *Response) hasEnded() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ended
}

func (o *Response) release() {
	o.buildLease.Release()
	o.reserved.Release()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
}

// Behind implements limit.Response. It returns the longer of two durations: how long the client has read nothing, and
// how much more time it takes than a client that reads rate bytes per second. Behind returns 0 while no piece is
// being sent.
func (o *Response) Behind(rate int64) time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.pieceStart.IsZero() {
		return 0
	}
	pieceTime := time.Since(o.pieceStart)
	return max(pieceTime, o.sendTime+pieceTime-TimeFor(o.sentBytes, rate))
}

// finish sends the rest of the response after the handler has returned. If nothing was sent before, it reduces the
// reserved memory to that of the rest. If sending has failed, finish ends the response without its last chunk. The
// client then does not mistake it for a complete response.
func (o *Response) finish() {
	if !o.sent {
		o.reserved.Resize(int64(cap(o.body)) + pieceBytes)
	}
	o.send()
	if o.err != nil {
		panic(http.ErrAbortHandler)
	}
}

func (o *Response) send() {
	o.buildLease.Release()
	o.buildLease = nil
	defer o.beginPiece(time.Time{})
	if !o.sent && o.err == nil {
		o.sent = true
		if o.status != 0 {
			o.ResponseWriter.WriteHeader(o.status)
		}
	}
	for rest := o.body; len(rest) > 0 && o.err == nil; {
		piece := rest[:min(len(rest), pieceBytes)]
		rest = rest[len(piece):]
		if !o.beginPiece(time.Now()) {
			o.err = request.NewClientError(errors.New("the client does not read the response"))
		} else if _, err := o.ResponseWriter.Write(piece); err != nil {
			o.err = request.NewClientError(err)
		} else {
			o.recordSent(len(piece))
		}
	}
	o.body = o.body[:0]
}

func (o *Response) recordSent(bytes int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sentBytes += int64(bytes)
}

// beginPiece records that the sending of a piece begins at the time at, and sets the write deadline of the piece. If
// at is zero, no piece is being sent. beginPiece returns false if the response was aborted.
func (o *Response) beginPiece(at time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.pieceStart.IsZero() {
		o.sendTime += time.Since(o.pieceStart)
	}
	o.pieceStart = at
	if !o.aborted && !at.IsZero() {
		// If the ResponseWriter does not support deadlines, the deadlines of the server apply.
		_ = o.controller.SetWriteDeadline(at.Add(StallTimeout))
	}
	return !o.aborted
}
