package page

import (
	"net/http"

	"github.com/glasshouse-project/glasshouse/internal/web/request"
	"github.com/glasshouse-project/glasshouse/internal/web/response"
	"github.com/glasshouse-project/glasshouse/web/templates"
)

// Contexts serves the page on which a user switches to another cluster.
type Contexts struct{ Site *Site }

// List renders the page that lists all contexts of the kubeconfig.
func (c *Contexts) List(w http.ResponseWriter, r *http.Request) error {
	return c.render(w, r, http.StatusOK, "")
}

func (c *Contexts) render(w http.ResponseWriter, r *http.Request, status int, reason string) error {
	all, err := c.Site.Active.ListContexts()
	if problem := request.ProblemFor(request.IdentityOf(r).Viewer, err); err != nil && !c.Site.Active.CanSwitch() {
		return err
	} else if err != nil && reason == "" {
		status, reason = problem.Status, problem.Detail
	}
	page := templates.Contexts{Layout: c.Site.layout(r, "Contexts", ""), Active: request.ClusterOf(r).Name, Error: reason}
	for _, kubeContext := range all {
		page.Contexts = append(page.Contexts, templates.Context(kubeContext))
	}
	page.Assets.PageStyle = c.Site.Assets.URL("forms.css")
	return response.HTML(w, r, status, templates.ContextsPage(page))
}

// SwitchTo makes another cluster active. It handles the forms on the page that List renders, one for each context.
func (c *Contexts) SwitchTo(w http.ResponseWriter, r *http.Request) error {
	if err := r.ParseForm(); err != nil || !r.PostForm.Has("name") {
		return request.BadRequest("Invalid context", "The form must name a context of the kubeconfig in the field name.")
	}
	if err := c.Site.Active.SwitchTo(r.Context(), r.PostForm.Get("name")); err != nil {
		problem := request.ProblemFor(request.IdentityOf(r).Viewer, err)
		if !c.Site.Active.CanSwitch() || !request.WantsPage(r) || problem.Status == http.StatusInternalServerError {
			return err
		}
		return c.render(w, r, problem.Status, problem.Detail)
	}
	w.Header().Set("Location", c.Site.Base.At("/"))
	w.WriteHeader(http.StatusSeeOther)
	return nil
}
