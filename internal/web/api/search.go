package api

import (
	"cmp"
	"net/http"

	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
	"github.com/glasshouse-project/glasshouse/internal/web/response"
)

const (
	searchLimit    = 20
	maxSearchLimit = 100
)

type searchDocument struct {
	Objects  []hitDocument      `json:"objects"`
	Total    int                `json:"total"`
	Searched []searchedDocument `json:"searched"`
}

type hitDocument struct {
	Ref       string `json:"ref"`
	Kind      string `json:"kind"`
	Namespace string `json:"ns"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
}

// searchedDocument describes one watched resource in a search response. A resource without a count was not searched.
type searchedDocument struct {
	Ref        string       `json:"ref"`
	State      status.State `json:"state"`
	Count      *int         `json:"count"`
	Namespaces []string     `json:"namespaces,omitempty"`
}

// Search responds with the objects of the watched resources that match the text in the query parameter q.
func (d *Data) Search(w http.ResponseWriter, r *http.Request) error {
	values, err := request.ValuesOf(r, "q", "limit")
	if err != nil {
		return err
	}
	limit, err := request.LimitOf(values)
	if err != nil {
		return err
	}
	if limit > maxSearchLimit {
		return request.BadRequest("Invalid limit",
			"The value of limit is %d, but must be at most %d here.", limit, maxSearchLimit)
	}
	result, err := d.Reader.Access(r).Search(r.Context(), values.Get("q"), cmp.Or(limit, searchLimit),
		d.Picker.Compare)
	if err != nil {
		return err
	}
	doc := searchDocument{
		make([]hitDocument, 0, len(result.Hits)), result.Total, make([]searchedDocument, 0, len(result.Searched)),
	}
	for _, hit := range result.Hits {
		doc.Objects = append(doc.Objects, hitDocument{
			hit.Resource.Ref(), hit.Resource.Kind, hit.Namespace, hit.Name, hit.UID,
		})
	}
	for i := range result.Searched {
		resource := &result.Searched[i]
		doc.Searched = append(doc.Searched, searchedDocument{
			resource.Ref(), resource.Status.State, resource.Count, resource.Status.Namespaces,
		})
	}
	return response.JSON(w, r, http.StatusOK, doc)
}
