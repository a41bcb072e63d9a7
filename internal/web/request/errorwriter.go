package request

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"

	"github.com/go-chi/chi/v5"
)

// BearerChallenge is the WWW-Authenticate header of a 401 response. It informs clients other than browsers that they
// can send a bearer token.
const BearerChallenge = `Bearer realm="glasshouse"`

// ErrorWriter writes the responses and the log lines for errors of handlers.
type ErrorWriter struct {
	Log *slog.Logger
	// Page writes an HTML page for a browser that requested a page.
	Page func(http.ResponseWriter, *http.Request, Problem) error
}

// Handle converts a handler that returns an error to an http.HandlerFunc. It passes the error to Write, so that a
// handler neither sends nor logs its errors itself.
func (e *ErrorWriter) Handle(handler func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := handler(&clientWriter{w}, r); err != nil {
			e.Write(w, r, err)
		}
	}
}

// Write responds with a problem document or an error page, and logs the error if it is an internal server error. It
// writes nothing if the client has disconnected, or if the response was aborted.
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
		e.Log.DebugContext(r.Context(), "page not written", "error", err)
	}
}

// routeOf returns the pattern of the route that a request matches, such as /r/{group}/{version}/{resource}. Log
// sampling uses the pattern as a key.
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

// RecoverAsError converts a panic to an error. It must be deferred directly, because recover works only in the deferred
// function itself.
func RecoverAsError(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
	}
}

// Recover is middleware that converts a panic to an error response, so that the panic affects only one request.
func (e *ErrorWriter) Recover(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			switch v := recover(); v {
			case nil:
			case http.ErrAbortHandler:
				panic(v) // The handler has aborted the response on purpose.
			default:
				e.Write(w, r, fmt.Errorf("panic: %v\n%s", v, debug.Stack()))
			}
		}()
		next.ServeHTTP(w, r)
	})
}
