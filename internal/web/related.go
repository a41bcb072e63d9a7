package web

import (
	"encoding/json"
	"fmt"
	"net/http"

	"glasshouse/internal/related"
)

// related answers with the neighbourhood of an object.
func (s *Server) related(w http.ResponseWriter, r *http.Request) error {
	if _, err := valuesOf(r); err != nil {
		return err
	}
	graph, err := related.Of(r.Context(), s.access(r), refOf(r), namespaceOf(r), param(r, "name"))
	if err != nil {
		return err
	}
	body, err := json.Marshal(graph)
	if err != nil {
		return fmt.Errorf("encode relations: %w", err)
	}
	w.Header().Set("Content-Type", "application/json")
	_, err = w.Write(body)
	return err
}
