package web

import (
	"net/http"

	"glasshouse/internal/relations"
)

func (s *Server) related(w http.ResponseWriter, r *http.Request) error {
	if _, err := valuesOf(r); err != nil {
		return err
	}
	graph, err := relations.Of(r.Context(), s.access(r), refOf(r), namespaceOf(r), param(r, "name"))
	if err != nil {
		return err
	}
	return writeJSONBody(w, r, http.StatusOK, graph)
}
