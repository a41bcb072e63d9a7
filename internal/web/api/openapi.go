package api

import (
	_ "embed"
	"net/http"

	"github.com/glasshouse-project/glasshouse/internal/web/response"
)

// openapiDocument is the OpenAPI document that describes the routes. A test checks that it matches the routes.
//
//go:embed openapi.json
var openapiDocument []byte

// OpenAPI responds with the OpenAPI document.
func OpenAPI(w http.ResponseWriter, _ *http.Request) error {
	return response.JSONText(w, http.StatusOK, openapiDocument)
}
