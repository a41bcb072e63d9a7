package api

import (
	"net/http"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/overview"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
	"github.com/glasshouse-project/glasshouse/internal/web/response"
)

// overviewWait is how long a response waits for the first lists of the resources.
const overviewWait = 5 * time.Second

// Problems responds with the failed and degraded objects, grouped by cause, with facts about the cluster.
func (d *Data) Problems(w http.ResponseWriter, r *http.Request) error {
	values, err := request.ValuesOf(r, "ns", "limit")
	if err != nil {
		return err
	}
	limit, err := request.LimitOf(values)
	if err != nil {
		return err
	}
	if limit > overview.MaxFindings {
		return request.BadRequest("Invalid limit",
			"The value of limit is %d, but must be at most %d here.", limit, overview.MaxFindings)
	}
	doc, err := d.Reader.Access(r).Overview(r.Context(), watch.OverviewQuery{
		Namespaces: request.NamespacesOf(values), Limit: limit, Wait: overviewWait,
	})
	if err != nil {
		return err
	}
	return response.JSON(w, r, http.StatusOK, doc)
}
