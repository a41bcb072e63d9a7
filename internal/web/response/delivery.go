package response

import (
	"context"
	"net/http"

	"github.com/glasshouse-project/glasshouse/internal/limit"
	"github.com/glasshouse-project/glasshouse/internal/watch/messages"
	"github.com/glasshouse-project/glasshouse/internal/web/listen"
	"github.com/glasshouse-project/glasshouse/internal/web/quota"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
)

// The memory to reserve for one response, in bytes.
const (
	// SmallMemory is for a response without large objects. Such a response needed 1.1 to 1.4 MB, including the
	// compressor.
	SmallMemory   = 2 << 20
	ObjectMemory  = SmallMemory + messages.LargestText
	CompareMemory = SmallMemory + 2*messages.LargestText
	// ExportMemory is the memory for two objects of an export, and their converted texts. One caller can use a quarter of
	// the budget of all responses. If this budget is 64 MiB, a caller can run two exports.
	ExportMemory = 8 << 20
	// GraphMemory is for a graph of related objects. While the server builds it, the object itself, at most two others,
	// and the text of one row are in memory.
	GraphMemory = 2 * ExportMemory
)

// Delivery defines whether a route buffers its responses, and when it reserves memory for them.
type Delivery int

// The values of Delivery.
const (
	Buffered          Delivery = iota // Memory is reserved before the handler runs.
	BufferedAfterList                 // Memory is reserved after the wait for the first list, which can take seconds.
	// Direct means that the handler writes to the client without a buffer or compressor.
	Direct
)

// Middleware reserves the memory of responses in the budget of the server.
type Middleware struct {
	Limits *quota.Limits
	Errors *request.ErrorWriter
}

// WithBudget reserves memory for the responses of a route. The parameter memory is the estimate for one response in
// bytes.
func (m *Middleware) WithBudget(class request.Class, delivery Delivery, memory int64, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := &Response{
			ResponseWriter: w, controller: http.NewResponseController(w),
			budget: m.Limits.Budget, conn: listen.ConnOf(r), caller: m.Limits.CallerOf(r), estimate: memory,
		}
		out.acquire = func(ctx context.Context) (*limit.Lease, error) {
			return m.Limits.Acquire(ctx, m.Limits.Processors(r)...)
		}
		defer out.release()
		ctx := context.WithValue(r.Context(), responseKey{}, out)
		r = r.WithContext(ctx)
		if delivery == Buffered && class.Check(r) == nil {
			if err := out.reserve(ctx); err != nil {
				m.Errors.Write(out, r, err)
				out.finish()
				return
			}
		}
		next.ServeHTTP(out, r)
	})
}

// SendAfterHandler is middleware that sends the buffered rest of a response after its handler has returned. Use it
// inside WithBudget, which creates the buffer.
func SendAfterHandler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r)
		Of(r).finish()
	})
}
