package api

import (
	"net/http"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/fieldmanager"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
	"github.com/glasshouse-project/glasshouse/internal/web/response"
)

// Authors responds with the field managers that changed one object, the newest first.
func (d *Data) Authors(w http.ResponseWriter, r *http.Request) error {
	if _, err := request.ValuesOf(r); err != nil {
		return err
	}
	owners, err := watch.AuthorsOf(
		r.Context(), d.Reader.Access(r), request.RefOf(r), request.NamespaceOf(r), request.Param(r, "name"))
	if err != nil {
		return err
	}
	return response.JSON(w, r, http.StatusOK, struct {
		Authors []fieldmanager.Owner `json:"authors"`
	}{owners})
}
