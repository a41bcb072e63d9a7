package request

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"

	"github.com/go-chi/chi/v5"
)

// BearerChallenge is the WWW-Authenticate header of 401 responses, for clients that are not browsers.
const BearerChallenge = `Bearer realm="glasshouse"`

// ErrorWriter writes responses and log lines for errors of handlers.
type ErrorWriter struct {
	Log  *slog.Logger
	Page func(http.ResponseWriter, *http.Request, Problem) error
}

// Handle passes the error of a handler to Write, so that handlers neither send nor log their errors.
func (e *ErrorWriter) Handle(handler func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := handler(&clientWriter{w}, r); err != nil {
			e.Write(w, r, err)
		}
	}
}

// Write responds with a problem document or an error page. After a disconnect or an abort, it writes nothing.
func (e *ErrorWriter) Write(w http.ResponseWriter, r *http.Request, err error) {
	if isAborted(r.Context()) {
		return
	}
	if isDisconnect(r.Context(), err) {
		e.Log.DebugContext(r.Context(), "client disconnected", "path", r.URL.Path, "error", err)
		return
	}
	p := ProblemFor(IdentityOf(r).Viewer, err)
	if p.Status == http.StatusInternalServerError {
		e.Log.ErrorContext(r.Context(), "request failed", "route", routeOf(r), "path", r.URL.Path, "error", err)
	}
	if p.Status == http.StatusServiceUnavailable || p.Status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "2")
	}
	if p.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", BearerChallenge)
	}
	if !WantsPage(r) {
		WriteProblem(w, p)
		return
	}
	if err := e.Page(w, r, p); err != nil {
		e.Log.DebugContext(r.Context(), "the error page was not written", "error", err)
	}
}

func routeOf(r *http.Request) string {
	if routeCtx := chi.RouteContext(r.Context()); routeCtx != nil {
		return routeCtx.RoutePattern()
	}
	return ""
}

// WantsPage reports whether the client is a browser that requests a page.
func WantsPage(r *http.Request) bool {
	return !strings.HasPrefix(r.URL.Path, "/api/") && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// RecoverAsError converts a panic to an error. Defer it directly, because recover works only in the deferred function
// itself.
func RecoverAsError(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
	}
}

// Recover is middleware that converts a panic to an error response.
func (e *ErrorWriter) Recover(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			switch v := recover(); v {
			case nil:
			case http.ErrAbortHandler:
				panic(v) // The handler aborted the response on purpose.
			default:
				e.Write(w, r, fmt.Errorf("panic: %v\n%s", v, debug.Stack()))
			}
		}()
		next.ServeHTTP(w, r)
	})
}
