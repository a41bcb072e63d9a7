// Package request provides what every handler needs of a request: its sender, the active cluster, its parameters and
// its body. Handlers return errors. One function, ErrorWriter.Write, converts an error to a status, a problem document
// or a page, and a log line.
package request

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"glasshouse/internal/watch"
	"glasshouse/internal/watch/status"
)

// Problem is the error document of a failed request, in the format of RFC 9457.
type Problem struct { //nolint:errname // Named after the problem document of RFC 9457.
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
}

// Error implements error.
func (p *Problem) Error() string { return p.Title + ": " + p.Detail }

// BadRequest returns a problem with status 400. Its detail is formatted as by fmt.Sprintf.
func BadRequest(title, format string, args ...any) *Problem {
	return &Problem{Title: title, Status: http.StatusBadRequest, Detail: fmt.Sprintf(format, args...)}
}

// ProblemFor converts any error to a problem. The detail contains only what the viewer is permitted to read. An error
// of an unknown type becomes a generic internal error, because its text is not meant for clients.
func ProblemFor(viewer watch.Viewer, err error) Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return *p
	}
	if watchProblem, ok := errors.AsType[*status.Problem](err); ok {
		status := map[status.Cause]int{
			status.Invalid: http.StatusBadRequest, status.Unknown: http.StatusNotFound,
			status.Refused: http.StatusForbidden, status.Unavailable: http.StatusServiceUnavailable,
			status.Unauthenticated: http.StatusUnauthorized,
		}[watchProblem.Cause]
		return Problem{Title: watchProblem.Title, Status: status, Detail: viewer.PublicDetail(watchProblem)}
	}
	return Problem{
		Title: "Internal error", Status: http.StatusInternalServerError,
		Detail: "Something went wrong. The error was logged; try again.",
	}
}

// WriteProblem responds with a problem document (RFC 9457).
func WriteProblem(w http.ResponseWriter, p Problem) {
	p.Type = "about:blank"
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // An error means that the client has disconnected.
}
