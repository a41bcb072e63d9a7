package response

import (
	"context"
	"net/http"

	"glasshouse/internal/limit"
	"glasshouse/internal/watch/stream"
	"glasshouse/internal/web/listen"
	"glasshouse/internal/web/quota"
	"glasshouse/internal/web/request"
)

const (
	// SmallMemory is the memory, in bytes, for building a response without large objects: its text and a compressor
	// (1.1 to 1.4 MB measured).
	SmallMemory = 2 << 20
	// ObjectMemory is SmallMemory plus the maximum length of one object's text.
	ObjectMemory = SmallMemory + stream.LargestText
	// CompareMemory is SmallMemory plus the maximum length of two objects' texts.
	CompareMemory = SmallMemory + 2*stream.LargestText
	// ExportMemory is the memory, in bytes, for building an export, without the memory of its list of rows. It is
	// enough for two objects, and the texts of these objects in another format. With a budget of 64 MiB, one caller
	// can build two exports at a time.
	ExportMemory = 8 << 20
	// GraphMemory is the memory, in bytes, for building a graph of related objects. It is enough for the object
	// itself, two other objects that are read in parallel, and the text of one row. It does not include the memory of
	// the rows from which the graph is computed.
	GraphMemory = 2 * ExportMemory
)

// Delivery specifies whether a route buffers its responses, and when it reserves memory for them.
type Delivery int

// The values of Delivery.
const (
	Buffered          Delivery = iota // Memory is reserved before the handler runs.
	BufferedAfterList                 // Memory is reserved after the first list of a resource, which can take seconds.
	// Direct means that the handler writes to the client without a buffer. The handler compresses the response itself,
	// or not at all.
	Direct
)

// Middleware reserves the memory of responses in the budget of the server.
type Middleware struct {
	Limits *quota.Limits
	Errors *request.ErrorWriter
}

// WithBudget is middleware that counts the responses of a route toward the memory budget of the server. The budget
// can abort a response that its client does not read. The parameter memory is the estimate for one response, in
// bytes. For buffered routes, WithBudget reserves it before the handler runs, but only if the sender is allowed to
// call the route.
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

// SendAfterHandler is middleware that sends the rest of a response after its handler has returned. It must be used
// inside WithBudget.
func SendAfterHandler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r)
		Of(r).finish()
	})
}
