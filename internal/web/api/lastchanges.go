package api

import (
	"net/http"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
	"github.com/glasshouse-project/glasshouse/internal/web/response"
)

// LastChanges responds with who last changed the specifications of the objects of one resource, and when.
func (d *Data) LastChanges(w http.ResponseWriter, r *http.Request) error {
	values, err := request.ValuesOf(r, "ns")
	if err != nil {
		return err
	}
	list, err := watch.LastChangesOf(r.Context(), d.Reader.Access(r), query.Query{
		Resource: request.RefOf(r), Namespaces: request.NamespacesOf(values),
	})
	if err != nil {
		return err
	}
	return response.JSON(w, r, http.StatusOK, list)
}
