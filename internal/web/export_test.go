package web

import (
	"context"
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

// HandlerBuffering returns the handler of all routes plus a test route with buffered responses.
func (s *Server) HandlerBuffering(pattern string, handler http.HandlerFunc) (http.Handler, error) {
	return s.handlerOf(append(s.routes(), route{http.MethodGet, pattern, request.Public, func(
		w http.ResponseWriter, r *http.Request,
	) error {
		handler(w, r)
		return nil
	}, response.Buffered, response.SmallMemory}))
}

// Serving starts s and returns the handler of all routes. stopServer closes all WebSockets.
func Serving(ctx context.Context, s *Server) (handler http.Handler, stopServer func()) {
	s.begin(ctx)
	handler, err := s.Handler()
	if err != nil {
		panic(err)
	}
	return handler, func() {
		s.stop()
		s.sockets.Wait()
	}
}

// ProtectedRoutes returns the routes that are not public, each as "METHOD /pattern".
func (s *Server) ProtectedRoutes() (routes []string) {
	for _, rt := range s.routes() {
		if rt.class != request.Public {
			routes = append(routes, rt.method+" "+rt.pattern)
		}
	}
	return routes
}

// ClusterID returns the id of the active cluster.
func ClusterID(s *Server) string { return s.active.Load().ID }

// ActiveClusterInfo returns the ClusterInfo of the active cluster.
func (s *Server) ActiveClusterInfo() request.ClusterInfo { return s.active.Load().ClusterInfo }

// Limits returns the limits of the server.
func (s *Server) Limits() *quota.Limits { return s.limits }

// Reader returns what handlers use to read the cluster.
func (s *Server) Reader() *response.Reader { return s.reader }
