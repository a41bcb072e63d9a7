package page

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
	"github.com/glasshouse-project/glasshouse/internal/web/response"
	"github.com/glasshouse-project/glasshouse/web/templates"
)

// Compare serves the page that compares two objects. If one cannot be read, the page shows the problem.
func (s *Site) Compare(w http.ResponseWriter, r *http.Request) error {
	values, err := request.ValuesOf(r, "a", "b", "hide", "kiosk")
	if err != nil {
		return err
	}
	page := templates.Compare{Hide: values["hide"]}
	status := http.StatusOK
	for _, side := range []struct {
		text   string
		target *templates.Side
	}{{values.Get("a"), &page.A}, {values.Get("b"), &page.B}} {
		full, err := request.ExpandObjectPath(side.text, page.A.Text)
		if err == nil && full != "" {
			*side.target, err = s.side(r, full)
		}
		if side.target.Text == "" {
			side.target.Text = side.text
		}
		if err == nil {
			continue
		}
		p := request.ProblemFor(request.IdentityOf(r).Viewer, err)
		if p.Status == http.StatusInternalServerError {
			return err
		}
		side.target.Problem = &templates.Problem{Status: p.Status, Title: p.Title, Detail: p.Detail}
		status = max(status, p.Status)
	}
	if page.B.Text == "" && page.A.YAML != "" {
		page.Others = s.others(r, page.A)
	}
	page.Layout = s.layout(r, "Compare", page.A.Ref)
	return response.HTML(w, r, status, templates.ComparePage(page))
}

// others returns links to pages that compare the object of side with other objects of the same resource and namespace.
func (s *Site) others(r *http.Request, side templates.Side) (links []templates.Link) {
	q := query.Query{Resource: side.Ref, Limit: pageRows}
	if side.Namespace != "" {
		q.Namespaces = []string{side.Namespace}
	}
	snapshot, err := s.Reader.Access(r).Snapshot(r.Context(), q, pageWait)
	if err != nil {
		return nil
	}
	for _, o := range snapshot.Objects {
		if o.Name() != side.Name {
			params := url.Values{"a": {side.Text}, "b": {o.Name()}}
			links = append(links, templates.Link{Text: o.Name(), Href: "/compare?" + params.Encode()})
		}
	}
	return links
}

// side reads one of the two compared objects. After an error, it returns a Side with the fields known
// so far.
func (s *Site) side(r *http.Request, full string) (side templates.Side, err error) {
	parts := strings.Split(full, "/")
	ref, ns, name := strings.Join(parts[:3], "/"), parts[3], parts[4]
	if ns == "_" {
		ns = ""
	}
	side.Text = full
	access := s.Reader.Access(r)
	resource, err := access.Resource(r.Context(), ref)
	if err != nil {
		return side, err
	}
	side.Ref, side.Kind, side.Resource, side.Namespace, side.Name =
		resource.Ref(), resource.Kind, resource.Resource, ns, name
	side.Href = request.ObjectPath(side.Ref, ns, name)
	text, current, err := access.LastKnown(r.Context(), side.Ref, ns, name)
	if err != nil {
		return side, err
	}
	if current.State != status.Live {
		side.State = stateOf(current)
	}
	side.YAML, err = s.Reader.YAMLForPage(r, text)
	return side, err
}
