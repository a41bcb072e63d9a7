package web

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"glasshouse/internal/limit"
	"glasshouse/internal/watch"
)

const (
	mebibyte = 1 << 20
	// smallMemory is the memory, in bytes, of a response while it is built: its text and a compressor (1.1 to 1.4 MB
	// measured).
	smallMemory = 2 * mebibyte
	// objectMemory is smallMemory plus the text of one object.
	objectMemory = smallMemory + watch.LargestText
	// compareMemory is smallMemory plus the texts of two objects.
	compareMemory = smallMemory + 2*watch.LargestText
	// exportMemory is the memory of an export, without its list of rows. It covers two objects, and the texts of these
	// objects in another format. With a budget of 64 MiB, one caller can build two exports at a time.
	exportMemory = 8 * mebibyte
	// graphMemory is the memory of a graph of related objects, without the rows from which it is computed. It covers the
	// object itself, two other objects that are read at the same time, and the text of one row.
	graphMemory = 2 * exportMemory

	// maxBuffered is how many bytes of an export are buffered before they are sent. The handler then waits until the
	// client has read these bytes. Responses that are not exports are buffered completely.
	maxBuffered = 256 << 10
	// pieceBytes is how many bytes of a response must be sent within stallTimeout.
	pieceBytes   = 4 << 10
	stallTimeout = 20 * time.Second
	// closeAfter is how long an aborted response may take to end before its connection is closed.
	closeAfter = time.Second
	// reserveTimeout is how long a request waits for memory for its response.
	reserveTimeout = 10 * time.Second
)

// delivery is how a route builds and sends its responses.
type delivery int

const (
	buffered          delivery = iota // Memory is reserved before the handler runs.
	bufferedAfterList                 // Memory is reserved after the first list has arrived, which may take seconds.
	// The handler writes to the client directly, without a buffer. It compresses the response by itself or not at all.
	direct
)

// response buffers what a handler writes, compressed, until the handler has returned. The buffer is then sent in
// pieces, each with a deadline. A slow client therefore blocks neither the handler nor a compressor. Such a client
// occupies only the buffered bytes, which stay reserved in the Server's budget until the last of them is sent.
type response struct {
	http.ResponseWriter

	budget     *limit.Budget
	conn       *limitedConn // Nil if the server has no limitedListener.
	caller     limit.Caller
	estimate   int64
	reserved   *limit.Reservation // Nil until memory is reserved.
	acquire    func(context.Context) (*limit.Lease, error)
	buildLease *limit.Lease    // A lease under processorLimits while the response is being built; nil if not.
	ctx        context.Context //nolint:containedctx // The context that the handler has passed to stream.
	controller *http.ResponseController
	status     int
	body       []byte // Buffered bytes that are not sent yet.
	streams    bool   // The handler has called stream.
	sent       bool   // The header was written to the client.
	err        error  // The first error; later writes return it.
	// longest is the length of the longest text of an exported object so far. It is 0 if no text is longer than
	// watch.LargestText.
	longest int

	mu         sync.Mutex
	pieceStart time.Time // When the sending of the current piece began; zero while no piece is being sent.
	aborted    bool
	ended      bool
	sendTime   time.Duration // Total time that sending the completed pieces took.
	sentBytes  int64         // Total bytes of the sent pieces.
}

// responseKey is the context key of a request's response.
type responseKey struct{}

func responseOf(r *http.Request) *response {
	out, _ := r.Context().Value(responseKey{}).(*response)
	return out
}

// withBudget is middleware that gives each request of a route a response whose memory is reserved in the server's
// budget. The budget aborts responses whose clients do not read them. withBudget reserves no memory for a request
// that will be refused.
func (s *Server) withBudget(rt route, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := &response{
			ResponseWriter: w, controller: http.NewResponseController(w),
			budget: s.budget, conn: connOf(r), caller: s.callerOf(r), estimate: rt.memory,
		}
		out.acquire = func(ctx context.Context) (*limit.Lease, error) { return s.acquire(ctx, s.processorLimits(r)...) }
		defer out.release()
		ctx := context.WithValue(r.Context(), responseKey{}, out)
		r = r.WithContext(ctx)
		if rt.delivery == buffered && checkClass(rt.class, r) == nil {
			if err := out.reserve(ctx); err != nil {
				s.writeError(out, r, err)
				out.finish()
				return
			}
		}
		next.ServeHTTP(out, r)
	})
}

// sendAfterHandler is middleware that sends the rest of a response after its handler has returned. It must be used
// inside withBudget.
func sendAfterHandler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r)
		responseOf(r).finish()
	})
}

// responseMemory returns the budget for the memory of all responses, in bytes. limit is the memory limit of the
// process. Watched objects and the headroom of the garbage collector leave an eighth of that limit free; see
// watch.Options.
func responseMemory(limit int64) int64 {
	const least, most = 8 * mebibyte, 256 * mebibyte
	if limit == 0 {
		return most
	}
	return min(max(limit/8, least), most)
}

// reserve reserves the memory of the response, unless it is reserved already.
func (o *response) reserve(ctx context.Context) error {
	if o == nil || o.reserved != nil {
		return nil
	}
	waitCtx, cancel := context.WithTimeout(ctx, reserveTimeout)
	defer cancel()
	var err error
	o.reserved, err = o.budget.Reserve(waitCtx, o.caller, o.estimate, o)
	if err != nil && ctx.Err() == nil {
		return &problem{
			Title: "Too many requests", Status: http.StatusTooManyRequests,
			Detail: "The memory for responses is in use. If you have many open requests, read or close some of them. " +
				"Then retry.",
		}
	}
	return err
}

// build must be called before a response is encoded. It reserves memory for the response, and waits for a lease for a
// processor (see processorLimits). The lease is released before the first bytes are sent.
func (o *response) build(ctx context.Context) error {
	if err := o.reserve(ctx); err != nil || o == nil || o.buildLease != nil {
		return err
	}
	var err error
	o.buildLease, err = o.acquire(ctx)
	return err
}

// stream prepares the response for many rows. The response is then sent in parts, each time that maxBuffered bytes
// are buffered.
func (o *response) stream(ctx context.Context) error {
	if err := o.build(ctx); err != nil {
		return err
	}
	o.streams, o.ctx = true, ctx
	return nil
}

// grow adds bytes to the reserved memory, before they are allocated. It does not wait. It does nothing if the
// response is nil or no memory is reserved.
func (o *response) grow(bytes int64) {
	if o != nil {
		o.reserved.Grow(bytes)
	}
}

// expectText grows the reservation if the text of an exported object is longer than watch.LargestText, the length
// that the estimate includes. A text can be longer because JSON needs 6 bytes for one control character. Objects are
// exported one after the other, so only the longest text counts.
func (o *response) expectText(length int) {
	if longest := max(o.longest, watch.LargestText); length > longest {
		o.grow(3 * int64(length-longest))
		o.longest = length
	}
}

// appendTo appends p to a buffer of the response, and reserves memory when the buffer grows. The estimate of the
// memory does not include the buffers, because escaped text may be six times as long as the text. A buffer that is
// too small is replaced by one of at least twice its size.
func (o *response) appendTo(buffer, p []byte) []byte {
	if least := len(buffer) + len(p); least > cap(buffer) {
		size := max(least, 2*cap(buffer), pieceBytes)
		o.grow(int64(size))
		larger := append(make([]byte, 0, size), buffer...)
		o.grow(-int64(cap(buffer)))
		buffer = larger
	}
	return append(buffer, p...)
}

// pageBuffer is a buffer for a page. The page is rendered completely before its first byte is written to the response.
type pageBuffer struct {
	response *response
	text     []byte
}

// Write appends p to the buffer.
func (b *pageBuffer) Write(p []byte) (int, error) {
	b.text = b.response.appendTo(b.text, p)
	return len(p), nil
}

// WriteHeader records the status. The header is sent together with the first piece of the body.
func (o *response) WriteHeader(status int) {
	if o.status == 0 {
		o.status = status
	}
}

// Write buffers p. If the handler has called stream, Write also sends the buffer whenever it contains maxBuffered
// bytes.
func (o *response) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	o.body = o.appendTo(o.body, p)
	if o.streams && len(o.body) >= maxBuffered {
		o.send()
		if o.err == nil {
			o.err = o.build(o.ctx)
		}
	}
	return len(p), o.err
}

// SetWriteDeadline ends the response. The current piece may still be sent until the time at, and no further piece is
// started.
func (o *response) SetWriteDeadline(at time.Time) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.aborted = true
	return o.controller.SetWriteDeadline(at)
}

// Abort implements limit.Response. It ends the response. If the response has not ended after closeAfter, Abort closes
// the connection. The reason is that in HTTP/2, a write deadline does not end a stream whose connection is blocked.
func (o *response) Abort() {
	// If the writer does not support deadlines, the response ends before its next piece.
	_ = o.SetWriteDeadline(time.Now())
	time.AfterFunc(closeAfter, func() {
		if o.conn != nil && !o.hasEnded() {
			_ = o.conn.Close() // An error means that the connection is closed already.
		}
	})
}

// timeFor returns how long it takes to send a number of bytes at a rate in bytes per second.
func timeFor(bytes, rate int64) time.Duration {
	// An integer product would overflow at 8 GiB.
	return time.Duration(float64(bytes) / float64(rate) * float64(time.Second))
}

func (o *response) hasEnded() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ended
}

// release releases the memory and the processor lease that the response uses.
func (o *response) release() {
	o.buildLease.Release()
	o.reserved.Release()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
}

// Behind implements limit.Response. It returns the larger of two times. One is how long the client has read nothing.
// The other is how far the client is behind a client that reads rate bytes per second. Behind returns 0 while no
// piece is being sent.
func (o *response) Behind(rate int64) time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.pieceStart.IsZero() {
		return 0
	}
	pieceTime := time.Since(o.pieceStart)
	return max(pieceTime, o.sendTime+pieceTime-timeFor(o.sentBytes, rate))
}

// finish sends the rest of the response after the handler has returned. Only the memory of that rest stays reserved.
// A failed response ends without its last chunk, so that the client does not mistake it for a complete response.
func (o *response) finish() {
	if !o.sent {
		o.reserved.Resize(int64(cap(o.body)) + pieceBytes)
	}
	o.send()
	if o.err != nil {
		panic(http.ErrAbortHandler)
	}
}

// send sends the buffered bytes.
func (o *response) send() {
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
			o.err = &clientError{errors.New("the client does not read the response")}
		} else if _, err := o.ResponseWriter.Write(piece); err != nil {
			o.err = &clientError{err}
		} else {
			o.recordSent(len(piece))
		}
	}
	o.body = o.body[:0]
}

// recordSent records that a piece of the given length was sent to the client.
func (o *response) recordSent(bytes int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sentBytes += int64(bytes)
}

// beginPiece records when the sending of a piece begins, and sets the deadline of the piece. A zero time means that
// no piece is being sent. beginPiece reports false if the response was aborted.
func (o *response) beginPiece(at time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.pieceStart.IsZero() {
		o.sendTime += time.Since(o.pieceStart)
	}
	o.pieceStart = at
	if !o.aborted && !at.IsZero() {
		// If the writer does not support deadlines, those of the server apply.
		_ = o.controller.SetWriteDeadline(at.Add(stallTimeout))
	}
	return !o.aborted
}
