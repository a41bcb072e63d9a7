package web

import (
	"net/http"

	"github.com/glasshouse-project/glasshouse/internal/web/quota"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
	"github.com/glasshouse-project/glasshouse/internal/web/response"
)

// HandlerWith returns the handler of all routes plus a test route that needs no login.
func (s *Server) HandlerWith(method, pattern string, handler http.HandlerFunc) (http.Handler, error) {
	return s.handlerOf(append(s.routes(), route{method, pattern, request.Public, func(
		w http.ResponseWriter, r *http.Request,
	) error {
		handler(w, r)
		return nil
	}, response.Direct, 0}))
}

// Limits returns the limits of the server.
func (s *Server) Limits() *quota.Limits { return s.limits }
