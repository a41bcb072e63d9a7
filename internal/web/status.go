package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"glasshouse/web/templates"
)

// status answers with the ledger of what is watched.
func (s *Server) status(w http.ResponseWriter, r *http.Request) error {
	body, err := json.Marshal(s.access(r).Coverage(r.Context()))
	if err != nil {
		return fmt.Errorf("encode the ledger: %w", err)
	}
	w.Header().Set("Content-Type", "application/json")
	_, err = w.Write(body)
	return err
}

// statusPage is the same ledger for people.
func (s *Server) statusPage(w http.ResponseWriter, r *http.Request) error {
	now := time.Now()
	return render(w, r, http.StatusOK, templates.StatusPage(statusOf(s.frame(r, "Status", ""), s.access(r).Coverage(r.Context()), now)))
}
