package web

import (
	"net/http"
	"time"

	"glasshouse/web/templates"
)

// status responds with the watch status, which lists the watched resources and their states.
func (s *Server) status(w http.ResponseWriter, r *http.Request) error {
	return writeJSONBody(w, r, http.StatusOK, s.access(r).WatchStatus(r.Context()))
}

func (s *Server) statusPage(w http.ResponseWriter, r *http.Request) error {
	now := time.Now()
	return render(w, r, http.StatusOK,
		templates.StatusPage(formatStatus(s.layout(r, "Watch status", ""), s.access(r).WatchStatus(r.Context()), now)))
}
