package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"

	"glasshouse/internal/watch/status"

	"github.com/go-chi/chi/v5"

	"glasshouse/internal/watch"
	"glasshouse/web/templates"
)

// problem is the error document of a failed request, in the format of RFC 9457.
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
}

func (p *problem) Error() string { return p.Title + ": " + p.Detail }

func badRequest(title, format string, args ...any) *problem {
	return &problem{Title: title, Status: http.StatusBadRequest, Detail: fmt.Sprintf(format, args...)}
}

// problemFor converts any error to a problem. The detail contains only what the viewer is permitted to read. An error
// of an unknown type becomes a generic internal error, because its text is not meant for clients.
func problemFor(viewer watch.Viewer, err error) problem {
	if p, ok := errors.AsType[*problem](err); ok {
		return *p
	}
	if watchProblem, ok := errors.AsType[*status.Problem](err); ok {
		status := map[status.Cause]int{
			status.Invalid: http.StatusBadRequest, status.Unknown: http.StatusNotFound,
			status.Refused: http.StatusForbidden, status.Unavailable: http.StatusServiceUnavailable,
			status.Unauthenticated: http.StatusUnauthorized,
		}[watchProblem.Cause]
		return problem{Title: watchProblem.Title, Status: status, Detail: viewer.PublicDetail(watchProblem)}
	}
	return problem{
		Title: "Internal error", Status: http.StatusInternalServerError,
		Detail: "Something went wrong. The error was logged; try again.",
	}
}

func writeProblem(w http.ResponseWriter, p problem) {
	p.Type = "about:blank"
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // An error means that the client has disconnected.
}

// handle converts a handler that returns an error to an http.HandlerFunc. It passes the error to writeError, so that
// handlers neither send nor log errors themselves.
func (s *Server) handle(handler func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := handler(&clientWriter{w}, r); err != nil {
			s.writeError(w, r, err)
		}
	}
}

func (s *Server) writeError(w http.ResponseWriter, r *http.Request, err error) {
	if isAborted(r.Context()) {
		return
	}
	if isDisconnect(r.Context(), err) {
		s.log.DebugContext(r.Context(), "client disconnected", "path", r.URL.Path, "error", err)
		return
	}
	p := problemFor(identityOf(r).Viewer, err)
	if p.Status == http.StatusInternalServerError {
		s.log.ErrorContext(r.Context(), "request failed", "route", routeOf(r), "path", r.URL.Path, "error", err)
	}
	if p.Status == http.StatusServiceUnavailable || p.Status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "2")
	}
	if p.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", bearerChallenge)
	}
	if !wantsPage(r) {
		writeProblem(w, p)
		return
	}
	if err := s.writeErrorPage(w, r, p); err != nil { //nolint:contextcheck // The page is rendered with the context of r.
		s.log.DebugContext(r.Context(), "page not written", "error", err)
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

// writeErrorPage renders the HTML page for a failed request. If the sender of the request is not identified, the page
// reveals nothing about the cluster.
func (s *Server) writeErrorPage(w http.ResponseWriter, r *http.Request, p problem) error {
	if hasEndedShare(r) {
		return render(w, r, p.Status, templates.SharePage(templates.Share{Layout: s.bareLayout(r, p.Title), Ended: true}))
	}
	if p.Status == http.StatusUnauthorized && s.auth.HasLogin() {
		to := ""
		if r.Method == http.MethodGet {
			to = r.URL.RequestURI()
		}
		return s.renderLogin(w, r, p.Status, to, "")
	}
	failure := templates.Failure{Problem: templates.Problem{Status: p.Status, Title: p.Title, Detail: p.Detail}}
	// Keep the page for status 429 short, because no memory is reserved for it.
	if !isIdentified(r) || p.Status == http.StatusTooManyRequests {
		failure.Layout = s.bareLayout(r, p.Title)
		return render(w, r, p.Status, templates.BareProblemPage(failure))
	}
	failure.Layout, failure.Problem.Next = s.layout(r, p.Title, ""), nextSteps(r, p)
	if p.Status == http.StatusServiceUnavailable {
		w.Header().Set("Refresh", "2")
	}
	if p.Status == http.StatusNotFound && param(r, "resource") != "" {
		failure.Ref = refOf(r)
	}
	return render(w, r, p.Status, templates.ProblemPage(failure))
}

// nextSteps returns links and hints that help the user to continue after a problem.
func nextSteps(r *http.Request, p problem) []templates.Link {
	if p.Status == http.StatusServiceUnavailable {
		return []templates.Link{{Text: "Retrying automatically."}}
	}
	if guest := guestOf(r); guest != nil {
		return []templates.Link{{Text: "Go to the shared view", Href: guest.Share.To}}
	}
	return []templates.Link{{Text: "Go to Pods", Href: "/r/core/v1/pods"}}
}

// wantsPage reports whether the client is a browser that requests a page.
func wantsPage(r *http.Request) bool {
	return !strings.HasPrefix(r.URL.Path, "/api/") && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// recoverAsError converts a panic to an error. It must be deferred directly, because recover works only in the deferred
// function itself.
func recoverAsError(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
	}
}

// recover is middleware that converts a panic to an error response, so that the panic affects only one request.
func (s *Server) recover(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			switch v := recover(); v {
			case nil:
			case http.ErrAbortHandler:
				panic(v) // The handler has aborted the response on purpose.
			default:
				s.writeError(w, r, fmt.Errorf("panic: %v\n%s", v, debug.Stack()))
			}
		}()
		next.ServeHTTP(w, r)
	})
}

func (s *Server) noRoute(_ http.ResponseWriter, r *http.Request) error {
	return &problem{
		Title: "Page not found", Status: http.StatusNotFound,
		Detail: fmt.Sprintf("There is no page at %.200q. %s lists the routes.", s.base.At(r.URL.Path),
			s.base.At("/api/openapi.json")),
	}
}

func (s *Server) noMethod(w http.ResponseWriter, r *http.Request) error {
	var allowed []string
	for _, rt := range s.routes() {
		if chi.RouteContext(r.Context()).Routes.Match(chi.NewRouteContext(), rt.method, r.URL.Path) &&
			!slices.Contains(allowed, rt.method) {
			allowed = append(allowed, rt.method)
		}
	}
	if len(allowed) == 0 {
		// The router matched the escaped path, but no route matches the decoded path.
		allowed = []string{http.MethodGet}
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	return &problem{
		Title: "Read only", Status: http.StatusMethodNotAllowed,
		Detail: fmt.Sprintf("%.20s is not allowed here; use %s.", r.Method, strings.Join(allowed, " or ")),
	}
}
