package api

import (
	"net/http"

	"github.com/glasshouse-project/glasshouse/internal/relations"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
	"github.com/glasshouse-project/glasshouse/internal/web/response"
)

// Related responds with the graph of the objects that are related to one object.
func (d *Data) Related(w http.ResponseWriter, r *http.Request) error {
	if _, err := request.ValuesOf(r); err != nil {
		return err
	}
	ref, namespace, name := request.RefOf(r), request.NamespaceOf(r), request.Param(r, "name")
	graph, err := relations.Of(r.Context(), d.Reader.Access(r), ref, namespace, name)
	if err != nil {
		return err
	}
	return response.JSON(w, r, http.StatusOK, graph)
}
