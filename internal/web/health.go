package web

import (
	"io"
	"io/fs"
	"net/http"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
)

// healthz responds with "ok" as long as the process handles requests. It is the liveness probe.
func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) error {
	_, err := io.WriteString(w, "ok\n")
	return err
}

// readyz is the readiness probe. It fails until the program has reached the API server, and while the program stops.
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) error {
	if s.shuttingDown.Load() {
		return &request.Problem{
			Title: "Shutting down", Status: http.StatusServiceUnavailable,
			Detail: "The program is stopping; it accepts no more requests.",
		}
	}
	resources := request.ClusterOf(r).Cluster.For(watch.Viewer{Program: true}).Resources()
	if _, _, err := resources.List(r.Context(), 0); err != nil {
		return err
	}
	_, err := io.WriteString(w, "ok\n")
	return err
}

// static serves the embedded files. A URL with the current hash of the file can be cached forever.
func (s *Server) static(w http.ResponseWriter, r *http.Request) error {
	name := strings.TrimPrefix(r.URL.Path, "/static/")
	if info, err := fs.Stat(s.assets.FS(), name); err != nil || info.IsDir() {
		return s.noRoute(w, r)
	}
	if s.assets.Current(name, r.URL.Query().Get("v")) {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	} else {
		w.Header().Set("Cache-Control", "no-cache")
	}
	http.ServeFileFS(w, r, s.assets.FS(), name)
	return nil
}
