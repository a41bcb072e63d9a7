// Package request provides the sender, cluster, parameters and body of a request. Handlers return errors, which
// ErrorWriter.Write converts to responses and log lines.
package request

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

// Problem is the error document of a failed request (RFC 9457).
type Problem struct { //nolint:errname // Named after the problem document of RFC 9457.
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
}

func (p *Problem) Error() string { return p.Title + ": " + p.Detail }

// BadRequest returns a problem with status 400. The detail is formatted with fmt.Sprintf.
func BadRequest(title, format string, args ...any) *Problem {
	return &Problem{Title: title, Status: http.StatusBadRequest, Detail: fmt.Sprintf(format, args...)}
}

// ProblemFor converts an error to a problem that the viewer may read. For an unknown type of error, it hides the text.
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
