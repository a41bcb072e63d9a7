// Package response builds and sends responses. It reserves memory before it builds a response, and limits the time
// for each sent piece. A slow client therefore does not block others.
package response

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/limit"
	"github.com/glasshouse-project/glasshouse/internal/watch/messages"
	"github.com/glasshouse-project/glasshouse/internal/web/listen"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
)

const (
	// maxBuffered is how many bytes of an export are buffered before they are sent. Other responses are buffered
	// completely.
	maxBuffered = 256 << 10
	// pieceBytes is how many bytes of a response must be sent within StallTimeout.
	pieceBytes = 4 << 10
	// StallTimeout is the maximum time for sending pieceBytes. After that, the response is aborted.
	StallTimeout = 20 * time.Second
	// closeAfter is the time until the connection of an aborted response is closed.
	closeAfter     = time.Second
	reserveTimeout = 10 * time.Second
)

// Response buffers and compresses the output of a handler. It sends pieces with deadlines, so slow clients block no
// handler.
type Response struct {
	http.ResponseWriter

	budget     *limit.Budget
	conn       *listen.Conn
	caller     limit.Caller
	estimate   int64
	reserved   *limit.Reservation
	acquire    func(context.Context) (*limit.Lease, error)
	buildLease *limit.Lease    // Reserves a processor while the response is built.
	ctx        context.Context //nolint:containedctx // The handler passes the context to Stream.
	controller *http.ResponseController
	status     int
	body       []byte
	streams    bool
	sent       bool
	err        error
	// longest is the length in bytes of the longest text above messages.LargestText; 0 if there is none.
	longest int

	mu         sync.Mutex
	pieceStart time.Time // Zero while no piece is being sent.
	aborted    bool
	ended      bool
	sendTime   time.Duration
	sentBytes  int64
}

type responseKey struct{}

// Of returns the response to a request, or nil if the route does not buffer responses.
func Of(r *http.Request) *Response {
	out, _ := r.Context().Value(responseKey{}).(*Response)
	return out
}

// SetEstimate sets how much memory is reserved before the response is built, in bytes.
func (r *Response) SetEstimate(bytes int64) { r.estimate = bytes }

func (r *Response) reserve(ctx context.Context) error {
	if r == nil || r.reserved != nil {
		return nil
	}
	waitCtx, cancel := context.WithTimeout(ctx, reserveTimeout)
	defer cancel()
	var err error
	r.reserved, err = r.budget.Reserve(waitCtx, r.caller, r.estimate, r)
	if err != nil && ctx.Err() == nil {
		return &request.Problem{
			Title: "Too many requests", Status: http.StatusTooManyRequests,
			Detail: "All memory for responses is in use. If you have many open responses, read or close some of them. " +
				"Then retry.",
		}
	}
	return err
}

// Build waits for memory and for a lease of a processor (see Limits.Processors in the package quota). Call it before
// encoding a response. Sending the response ends the lease.
func (r *Response) Build(ctx context.Context) error {
	if err := r.reserve(ctx); err != nil || r == nil || r.buildLease != nil {
		return err
	}
	var err error
	r.buildLease, err = r.acquire(ctx)
	return err
}

// Stream prepares a long response. Afterwards, Write sends the buffer whenever it has maxBuffered bytes.
func (r *Response) Stream(ctx context.Context) error {
	if err := r.Build(ctx); err != nil {
		return err
	}
	r.streams, r.ctx = true, ctx
	return nil
}

// Grow adds bytes to the reserved memory, without waiting. Call it before allocating that memory.
func (r *Response) Grow(bytes int64) {
	if r != nil {
		r.reserved.Grow(bytes)
	}
}

// ExpectText reserves more memory if a text is longer than messages.LargestText and all texts before it. Objects are
// exported one at a time, so the response needs memory only for its longest text.
func (r *Response) ExpectText(length int) {
	if longest := max(r.longest, messages.LargestText); length > longest {
		r.Grow(3 * int64(length-longest))
		r.longest = length
	}
}

// appendTo appends p to a buffer. When the buffer must grow, appendTo reserves more memory than estimated, because
// escaping can make a text six times as long.
func (r *Response) appendTo(buffer, p []byte) []byte {
	if least := len(buffer) + len(p); least > cap(buffer) {
		size := max(least, 2*cap(buffer), pieceBytes)
		r.Grow(int64(size))
		larger := append(make([]byte, 0, size), buffer...)
		r.Grow(-int64(cap(buffer)))
		buffer = larger
	}
	return append(buffer, p...)
}

// WriteHeader records the status. The header is sent with the first piece of the body.
func (r *Response) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

// Write adds p to the buffer. If Stream was called, Write sends the buffer whenever it has at least maxBuffered bytes.
func (r *Response) Write(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	r.body = r.appendTo(r.body, p)
	if r.streams && len(r.body) >= maxBuffered {
		r.send()
		if r.err == nil {
			r.err = r.Build(r.ctx)
		}
	}
	return len(p), r.err
}

// SetWriteDeadline aborts the response. Only the write of the current piece can still finish, at the latest at the
// given time.
func (r *Response) SetWriteDeadline(at time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.aborted = true
	return r.controller.SetWriteDeadline(at)
}

// Abort implements limit.Response. If the response has not ended after closeAfter, Abort also closes the connection,
// because an HTTP/2 write deadline does not end a blocked stream.
func (r *Response) Abort() {
	// Ignore the error of a connection without write deadlines: its response ends when the current piece is written.
	_ = r.SetWriteDeadline(time.Now())
	time.AfterFunc(closeAfter, func() {
		if r.conn != nil && !r.hasEnded() {
			_ = r.conn.Close()
		}
	})
}

// TimeFor returns how long sending a number of bytes takes at a rate in bytes per second.
func TimeFor(bytes, rate int64) time.Duration {
	// Use floating-point numbers, because an integer product would overflow at 8 GiB.
	return time.Duration(float64(bytes) / float64(rate) * float64(time.Second))
}

func (r *Response) hasEnded() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended
}

func (r *Response) release() {
	r.buildLease.Release()
	r.reserved.Release()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
}

// Behind implements limit.Response. It returns the longer of two durations: the time since the write of the current
// piece began, and the delay of the response compared with a client that receives rate bytes per second.
func (r *Response) Behind(rate int64) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pieceStart.IsZero() {
		return 0
	}
	pieceTime := time.Since(r.pieceStart)
	return max(pieceTime, r.sendTime+pieceTime-TimeFor(r.sentBytes, rate))
}

// finish sends the rest of the response. After an error, it panics, so that the client detects the incomplete response.
func (r *Response) finish() {
	if !r.sent {
		r.reserved.Resize(int64(cap(r.body)) + pieceBytes)
	}
	r.send()
	if r.err != nil {
		panic(http.ErrAbortHandler)
	}
}

func (r *Response) send() {
	r.buildLease.Release()
	r.buildLease = nil
	defer r.beginPiece(time.Time{})
	if !r.sent && r.err == nil {
		r.sent = true
		if r.status != 0 {
			r.ResponseWriter.WriteHeader(r.status)
		}
	}
	for rest := r.body; len(rest) > 0 && r.err == nil; {
		piece := rest[:min(len(rest), pieceBytes)]
		rest = rest[len(piece):]
		if !r.beginPiece(time.Now()) {
			r.err = request.NewClientError(errors.New("the client does not read the response"))
		} else if _, err := r.ResponseWriter.Write(piece); err != nil {
			r.err = request.NewClientError(err)
		} else {
			r.recordSent(len(piece))
		}
	}
	r.body = r.body[:0]
}

func (r *Response) recordSent(bytes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sentBytes += int64(bytes)
}

// beginPiece sets the write deadline of a piece that begins at the given time. The zero Time means that no piece
// follows. If the response was aborted, beginPiece returns false.
func (r *Response) beginPiece(at time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.pieceStart.IsZero() {
		r.sendTime += time.Since(r.pieceStart)
	}
	r.pieceStart = at
	if !r.aborted && !at.IsZero() {
		// Ignore an error. If the connection supports no deadline for each piece, the write timeout of the server applies.
		_ = r.controller.SetWriteDeadline(at.Add(StallTimeout))
	}
	return !r.aborted
}
