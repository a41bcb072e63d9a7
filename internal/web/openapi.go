package web

import (
	_ "embed"
	"net/http"
)

// openapiDocument is the OpenAPI document that describes the routes. A test checks that it matches the routes.
//
//go:embed openapi.json
var openapiDocument []byte

func (s *Server) openapi(w http.ResponseWriter, _ *http.Request) error {
	return writeJSONText(w, http.StatusOK, openapiDocument)
}
