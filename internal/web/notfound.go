package web

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/web/request"

	"github.com/go-chi/chi/v5"
)

func (s *Server) noRoute(_ http.ResponseWriter, r *http.Request) error {
	detail := fmt.Sprintf("There is no page at %.200q.", s.base.At(r.URL.Path))
	if strings.HasPrefix(r.URL.Path, "/api/") {
		detail += fmt.Sprintf(" %s lists the routes.", s.base.At("/api/openapi.json"))
	}
	return &request.Problem{Title: "Page not found", Status: http.StatusNotFound, Detail: detail}
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
		// The path contains an escape such as %2F. The router has matched the path with the escape. The loop above uses the
		// decoded path, which matches no route. The allowed methods are therefore unknown, so report only GET.
		allowed = []string{http.MethodGet}
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	return &request.Problem{
		Title: "Read only", Status: http.StatusMethodNotAllowed,
		Detail: fmt.Sprintf("The method %.20s is not allowed here; use %s.", r.Method, strings.Join(allowed, " or ")),
	}
}
