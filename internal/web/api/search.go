package api

import (
	"cmp"
	"net/http"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/search"
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
	// NotSearched lists the resources that the search does not read. It is absent with --inherit-verdicts=false.
	NotSearched []omittedDocument `json:"notSearched,omitzero"`
}

type hitDocument struct {
	Ref       string `json:"ref"`
	Kind      string `json:"kind"`
	Namespace string `json:"ns"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
}

// searchedDocument describes a resource that a search reads. If the count is missing, the resource was not searched
// yet.
type searchedDocument struct {
	Ref        string       `json:"ref"`
	State      status.State `json:"state"`
	Count      *int         `json:"count"`
	Namespaces []string     `json:"namespaces,omitempty"`
}

// omittedDocument describes a resource that the search does not read.
type omittedDocument struct {
	Ref    string        `json:"ref"`
	Reason search.Reason `json:"reason"`
}

// Search responds with the objects that match the text in the query parameter q.
func (d *Data) Search(w http.ResponseWriter, r *http.Request) error {
	values, err := request.ValuesOf(r, "q", "limit", "resource")
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
	q := watch.SearchQuery{
		Text: values.Get("q"), Limit: cmp.Or(limit, searchLimit), Shown: values.Get("resource"),
	}
	result, err := d.Reader.Access(r).Search(r.Context(), q, d.Picker.Compare)
	if err != nil {
		return err
	}
	doc := searchDocument{
		Objects: make([]hitDocument, 0, len(result.Hits)), Total: result.Total,
		Searched: make([]searchedDocument, 0, len(result.Searched)),
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
	if result.Omitted != nil {
		doc.NotSearched = make([]omittedDocument, 0, len(result.Omitted))
	}
	for _, omitted := range result.Omitted {
		doc.NotSearched = append(doc.NotSearched, omittedDocument{omitted.Resource.Ref(), omitted.Reason})
	}
	return response.JSON(w, r, http.StatusOK, doc)
}
