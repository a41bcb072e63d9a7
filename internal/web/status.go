package web

import (
	"net/http"
	"time"

	"glasshouse/web/templates"
)

// status answers with the ledger of what is watched.
func (s *Server) status(w http.ResponseWriter, r *http.Request) error {
	return writeJSONBody(w, r, http.StatusOK, s.access(r).Coverage(r.Context()))
}

// statusPage is the same ledger for people.
func (s *Server) statusPage(w http.ResponseWriter, r *http.Request) error {
	now := time.Now()
	return render(w, r, http.StatusOK,
		templates.StatusPage(statusOf(s.frame(r, "Status", ""), s.access(r).Coverage(r.Context()), now)))
}
