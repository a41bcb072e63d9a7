// Package api serves the JSON routes: the data of the active cluster, logs, contexts and share links.
package api

import (
	"net/http"

	"github.com/glasshouse-project/glasshouse/internal/web/picker"
	"github.com/glasshouse-project/glasshouse/internal/web/response"
)

// Data serves the data of the active cluster.
type Data struct {
	Reader *response.Reader
	Picker *picker.List
}

// Status responds with the watch status, which lists the watched resources and their states.
func (d *Data) Status(w http.ResponseWriter, r *http.Request) error {
	return response.JSON(w, r, http.StatusOK, d.Reader.Access(r).WatchStatus(r.Context()))
}
