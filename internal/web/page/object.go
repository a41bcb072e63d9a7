package page

import (
	"cmp"
	"net/http"
	"net/url"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/web/request"
	"github.com/glasshouse-project/glasshouse/internal/web/response"
	"github.com/glasshouse-project/glasshouse/web/templates"
)

// Object renders the page of one object.
func (s *Site) Object(w http.ResponseWriter, r *http.Request) error {
	access := s.Reader.Access(r)
	resource, err := access.Resource(r.Context(), request.RefOf(r))
	if err != nil {
		return err
	}
	list, plural := "/r/"+resource.Ref(), pluralOf(access, resource)
	page := templates.Object{
		Ref: resource.Ref(), Kind: resource.Kind, Resource: resource.Resource, Namespace: request.NamespaceOf(r),
		Name:   request.Param(r, "name"),
		At:     time.Now().UTC().Format(time.RFC3339),
		Plural: plural,
		Crumbs: []templates.Crumb{{Text: plural, Href: list}},
	}
	code := http.StatusOK
	text, status, err := access.LastKnown(r.Context(), page.Ref, page.Namespace, page.Name)
	if err != nil {
		// Send the page also for a missing or forbidden object. Its script shows the object once it can be read.
		p := request.ProblemFor(request.IdentityOf(r).Viewer, err)
		if !request.WantsPage(r) || p.Status != http.StatusNotFound && p.Status != http.StatusForbidden {
			return err
		}
		code = p.Status
		page.Problem = &templates.Problem{Status: p.Status, Title: p.Title, Detail: p.Detail}
	} else {
		if page.YAML, err = s.Reader.YAMLForPage(r, text); err != nil {
			return err
		}
		page.State = stateOf(status)
		page.Compare = "/compare?" +
			url.Values{"a": {page.Ref + "/" + cmp.Or(page.Namespace, "_") + "/" + page.Name}}.Encode()
	}
	page.Layout = s.layout(r, titleOf(plural, page.Namespace, page.Name), page.Ref)
	page.Assets.Chunks = s.Assets.Chunks("start-object")
	if page.Namespace != "" {
		page.Crumbs = append(page.Crumbs, templates.Crumb{
			Text: page.Namespace, Href: list + "?ns=" + url.QueryEscape(page.Namespace),
		})
	}
	page.Crumbs = append(page.Crumbs, templates.Crumb{Text: page.Name})
	return response.HTML(w, r, code, templates.ObjectPage(page))
}
