package api

import (
	"net/http"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
	"github.com/glasshouse-project/glasshouse/internal/web/response"
)

// maxLastChanges is the maximum number of objects whose last changes are in a response.
const maxLastChanges = 5000

type lastChanges struct {
	Items       []objectChange `json:"items"` // Only objects whose newest change has a known author.
	IsTruncated bool           `json:"truncated"`
}

// objectChange is the newest change of one object's specification.
type objectChange struct {
	Namespace  string    `json:"ns"`
	Name       string    `json:"name"`
	At         time.Time `json:"at"`
	By         string    `json:"by"`
	IsCreation bool      `json:"created,omitempty"`
}

// LastChanges responds with who last changed the specifications of the objects of one resource, and when. The route is
// not for guests, because they may see only changes that occur during their visit.
func (d *Data) LastChanges(w http.ResponseWriter, r *http.Request) error {
	values, err := request.ValuesOf(r, "ns")
	if err != nil {
		return err
	}
	snapshot, err := d.Reader.Access(r).Snapshot(r.Context(), query.Query{
		Resource: request.RefOf(r), Namespaces: request.NamespacesOf(values),
	}, snapshotWait)
	if err != nil {
		return err
	}
	if !snapshot.Synced {
		return notSynced(snapshot, "The list is not complete yet. Retry later.")
	}
	objects := snapshot.Objects[:min(maxLastChanges, len(snapshot.Objects))]
	list := lastChanges{Items: make([]objectChange, 0, len(objects)), IsTruncated: len(objects) < snapshot.Total}
	for _, o := range objects {
		if change, ok := watch.LastChangeOf(o); ok {
			list.Items = append(list.Items, objectChange{
				o.Namespace(), o.Name(), change.At, change.By, change.IsCreation,
			})
		}
	}
	return response.JSON(w, r, http.StatusOK, list)
}
