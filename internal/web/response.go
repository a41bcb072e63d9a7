package web

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"glasshouse/internal/limit"
)

const (
	mebibyte = 1 << 20
	// smallMemory is what a response takes while it is built: its text, and a compressor (1.1 to 1.4 MB measured).
	smallMemory = 2 * mebibyte
	// objectMemory is the same with the text of an object, of which the API server takes 1.5 MiB at most.
	objectMemory = smallMemory + 3*mebibyte/2
	// compareMemory is the same with two objects.
	compareMemory = smallMemory + 3*mebibyte
	// exportMemory is that of an export, or of a graph of relations, beside its list of rows: two objects and
	// their texts in another format. It lets one caller build two at a time in 64 MiB.
	exportMemory = 8 * mebibyte
	// compressorMemory is what the compressor of a socket takes (1.1 MB measured).
	compressorMemory = 5 << 18
	// rowMemory is what a row takes in a list of rows.
	rowMemory = 16

	// maxKept is how much of a response that is streamed is kept before it is sent. The rest of it waits until the
	// client has taken that. Other responses are built whole.
	maxKept = 256 << 10
	// pieceBytes is how much of a response has stallTimeout to be sent.
	pieceBytes   = 4 << 10
	stallTimeout = 20 * time.Second
	// reserveTimeout is how long a request waits for memory.
	reserveTimeout = 10 * time.Second
)

// delivery says how a route builds and sends its responses.
type delivery int

const (
	buffered delivery = iota // Memory is reserved before the handler runs.
	listed                   // The same, but once the first list has come: it may take seconds.
	streamed                 // The handler sends what it has, and compresses by itself or not at all.
)

// errAborted is why nothing is written any more to a client that reads too slowly, or has gone.
var errAborted = errors.New("the client does not read the response")

// response keeps what a handler writes, compressed, until the handler has ended. Then it is sent in pieces, each with a
// deadline. A client that reads slowly therefore holds neither the handler nor a compressor, but only these bytes,
// which stay reserved in the Server's budget until the last of them is sent.
type response struct {
	http.ResponseWriter

	budget     *limit.Budget
	caller     limit.Caller
	estimate   int64
	reserved   *limit.Reservation // Nil until memory is reserved.
	acquire    func(context.Context) (*limit.Lease, error)
	building   *limit.Lease    // Nil while nothing is built.
	ctx        context.Context //nolint:containedctx // Of the handler that streams.
	controller *http.ResponseController
	status     int
	body       []byte // That was not sent yet.
	streams    bool   // The handler writes more than maxKept, piece by piece.
	sent       bool   // The header is on its way.
	failed     error  // Why nothing is written any more.

	mu       sync.Mutex
	progress time.Time // When the client took something last; zero while nothing is sent.
	aborted  bool
}

// responseKey is where a request's context has its response.
type responseKey struct{}

func responseOf(r *http.Request) *response {
	out, _ := r.Context().Value(responseKey{}).(*response)
	return out
}

// withBudget reserves the memory of a route's responses, and sends them. What is not read is aborted.
// Nothing is reserved for who is refused anyway.
func (s *Server) withBudget(one route, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := &response{
			ResponseWriter: w, controller: http.NewResponseController(w),
			budget: s.budget, caller: s.callerOf(r), estimate: one.memory,
		}
		out.acquire = func(ctx context.Context) (*limit.Lease, error) { return s.acquire(ctx, s.buildLimits(r)...) }
		defer func() {
			out.building.Release()
			out.reserved.Release()
		}()
		ctx := context.WithValue(r.Context(), responseKey{}, out)
		r = r.WithContext(ctx)
		if one.delivery == buffered && refusal(one.class, r) == nil {
			if err := out.reserve(ctx); err != nil {
				s.fail(out, r, err)
				out.finish()
				return
			}
		}
		next.ServeHTTP(out, r)
	})
}

// sendWhole sends what a handler of withBudget has written, once it has ended.
func sendWhole(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r)
		responseOf(r).finish()
	})
}

// responseMemory is the memory of responses under a limit of the process, in bytes. An eighth is left beside what is
// watched and the garbage collector's room, see watch.Options.
func responseMemory(limit int64) int64 {
	const least, most = 8 * mebibyte, 256 * mebibyte
	if limit == 0 {
		return most
	}
	return min(max(limit/8, least), most)
}

// reserve reserves the memory of the response, if that was not done before.
func (o *response) reserve(ctx context.Context) error {
	if o == nil || o.reserved != nil {
		return nil
	}
	waiting, cancel := context.WithTimeout(ctx, reserveTimeout)
	defer cancel()
	var err error
	o.reserved, err = o.budget.Reserve(waiting, o.caller, o.estimate, o)
	if err != nil && ctx.Err() == nil {
		return &problem{
			Title: "Too many requests", Status: http.StatusTooManyRequests,
			Detail: "The memory for responses is in use, most of it by you if you have many requests open. Read or close some of them.",
		}
	}
	return err
}

// build waits until the response may be built, which it is until its first bytes are sent.
func (o *response) build(ctx context.Context) error {
	if err := o.reserve(ctx); err != nil || o == nil || o.building != nil {
		return err
	}
	var err error
	o.building, err = o.acquire(ctx)
	return err
}

// stream says that the handler writes a response of many rows, piece by piece.
func (o *response) stream(ctx context.Context, rows int) error {
	if err := o.build(ctx); err != nil {
		return err
	}
	o.streams, o.ctx = true, ctx
	o.reserved.Grow(int64(rows) * rowMemory)
	return nil
}

// WriteHeader notes the status. The header is sent with the first piece.
func (o *response) WriteHeader(status int) {
	if o.status == 0 {
		o.status = status
	}
}

// Write keeps p, and sends what there is once that is too much to keep.
func (o *response) Write(p []byte) (int, error) {
	if o.failed != nil {
		return 0, o.failed
	}
	o.body = append(o.body, p...)
	if o.streams && len(o.body) >= maxKept {
		o.send()
		if o.failed == nil {
			o.failed = o.build(o.ctx)
		}
	}
	return len(p), o.failed
}

// SetWriteDeadline ends a response at a time, and no later piece extends that.
func (o *response) SetWriteDeadline(at time.Time) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.aborted = true
	return o.controller.SetWriteDeadline(at)
}

// Abort ends the response.
func (o *response) Abort() { _ = o.SetWriteDeadline(time.Now()) } // A writer without deadlines ends at the next piece.

// Stalled is for how long the client has taken nothing.
func (o *response) Stalled() time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.progress.IsZero() {
		return 0
	}
	return time.Since(o.progress)
}

// finish sends what is left once the handler has ended, and nothing but that stays reserved. A response that was cut
// ends without its last chunk, so that nobody takes it for a whole one.
func (o *response) finish() {
	if !o.sent {
		o.reserved.Resize(int64(cap(o.body)) + pieceBytes)
	}
	o.send()
	if o.failed != nil {
		panic(http.ErrAbortHandler)
	}
}

// send sends what was kept.
func (o *response) send() {
	o.building.Release()
	o.building = nil
	defer o.begin(time.Time{})
	if !o.sent && o.failed == nil {
		o.sent = true
		if o.status != 0 {
			o.ResponseWriter.WriteHeader(o.status)
		}
	}
	for rest := o.body; len(rest) > 0 && o.failed == nil; {
		piece := rest[:min(len(rest), pieceBytes)]
		rest = rest[len(piece):]
		if !o.begin(time.Now()) {
			o.failed = errAborted
		} else if _, err := o.ResponseWriter.Write(piece); err != nil {
			o.failed = errors.Join(errAborted, err)
		}
	}
	o.body = o.body[:0]
}

// begin begins a piece at a time, unless the response was aborted; the zero time is none.
func (o *response) begin(at time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.progress = at
	if !o.aborted && !at.IsZero() {
		_ = o.controller.SetWriteDeadline(at.Add(stallTimeout)) // A writer without deadlines has those of the server.
	}
	return !o.aborted
}
