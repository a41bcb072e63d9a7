package web

import (
	_ "embed"
	"net/http"
)

// openapiDocument describes the routes. A test checks that it matches them.
//
//go:embed openapi.json
var openapiDocument []byte

func (s *Server) openapi(w http.ResponseWriter, _ *http.Request) error {
	return writeJSONText(w, http.StatusOK, openapiDocument)
}
