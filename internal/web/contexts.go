package web

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"glasshouse/web/templates"
)

// contextsPath is the path of the page on which a user chooses another cluster.
const contextsPath = "/contexts"

// Contexts lists the contexts of a kubeconfig and switches between them. A switch affects all viewers, because there
// is one active cluster. It is therefore meant for a server that only one person uses.
type Contexts struct {
	// List reads the contexts from the kubeconfig file. It reads the file at each call, because the file can change.
	List func() ([]Context, error)
	// Switch makes the cluster of a context the active one. If it returns an error, the previous cluster stays active,
	// and the page shows the text of the error.
	Switch func(ctx context.Context, name string) error
}

// Context is one context of a kubeconfig.
type Context struct {
	Name      string `json:"name"`
	Cluster   string `json:"cluster"`
	User      string `json:"user"`
	Namespace string `json:"namespace,omitempty"`
}

type contextsDocument struct {
	Active   string    `json:"present"`
	Contexts []Context `json:"contexts"`
}

func (s *Server) readContexts() ([]Context, error) {
	if s.contexts == nil {
		return nil, &problem{
			Title: "Only one cluster", Status: http.StatusNotFound,
			Detail: "This server shows one cluster. It can switch clusters if the kubeconfig has several contexts, " +
				"--auth is none, and no other flag selects the cluster or the user.",
		}
	}
	all, err := s.contexts.List()
	if err != nil {
		return nil, &problem{
			Title: "Kubeconfig not readable", Status: http.StatusServiceUnavailable,
			Detail: fmt.Sprintf("The contexts cannot be listed: %v.", err),
		}
	}
	return all, nil
}

// listContexts responds to /api/v1/contexts with all contexts as JSON.
func (s *Server) listContexts(w http.ResponseWriter, r *http.Request) error {
	all, err := s.readContexts()
	if err != nil {
		return err
	}
	return writeJSONBody(w, r, http.StatusOK, contextsDocument{s.clusterOf(r).Name, all})
}

func (s *Server) contextsPage(w http.ResponseWriter, r *http.Request) error {
	return s.renderContexts(w, r, http.StatusOK, "")
}

// renderContexts renders the page that lists all contexts. reason is why the last switch failed, or empty.
func (s *Server) renderContexts(w http.ResponseWriter, r *http.Request, status int, reason string) error {
	all, err := s.readContexts()
	if p := problemFor(identityOf(r).Viewer, err); err != nil && s.contexts == nil {
		return err
	} else if err != nil && reason == "" {
		status, reason = p.Status, p.Detail
	}
	page := templates.Contexts{Layout: s.layout(r, "Contexts", ""), Active: s.clusterOf(r).Name, Error: reason}
	for _, kubeContext := range all {
		page.Contexts = append(page.Contexts, templates.Context(kubeContext))
	}
	return render(w, r, status, templates.ContextsPage(page))
}

// switchContext makes the cluster of the context in the JSON body of the request the active one.
func (s *Server) switchContext(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Name *string `json:"name"`
	}
	if err := readBody(r, &body); err != nil {
		return err
	}
	if body.Name == nil {
		return badRequest("Invalid context",
			`The body must name a context of the kubeconfig, such as {"name":"staging"}.`)
	}
	if err := s.switchTo(r.Context(), *body.Name); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// switchPage makes the cluster of the context in a form the active one. The page of contextsPage submits that form.
func (s *Server) switchPage(w http.ResponseWriter, r *http.Request) error {
	if err := r.ParseForm(); err != nil || !r.PostForm.Has("name") {
		return badRequest("Invalid context", "The form must name a context of the kubeconfig in the field name.")
	}
	if err := s.switchTo(r.Context(), r.PostForm.Get("name")); err != nil {
		p := problemFor(identityOf(r).Viewer, err)
		if s.contexts == nil || !wantsPage(r) || p.Status == http.StatusInternalServerError {
			return err
		}
		return s.renderContexts(w, r, p.Status, p.Detail) //nolint:contextcheck // The page is rendered with the context of r.
	}
	w.Header().Set("Location", s.base.At("/"))
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// switchTo makes the cluster of a context the active one.
func (s *Server) switchTo(ctx context.Context, name string) error {
	all, err := s.readContexts()
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(all, func(kubeContext Context) bool { return kubeContext.Name == name }) {
		return &problem{
			Title: "No such context", Status: http.StatusNotFound,
			Detail: fmt.Sprintf("The kubeconfig, which was just read again, has no context %.253q.", name),
		}
	}
	if err := s.contexts.Switch(ctx, name); err != nil {
		return &problem{
			Title: "Context not opened", Status: http.StatusBadGateway,
			Detail: fmt.Sprintf("%s stays active: %v.", s.active.Load().Name, err),
		}
	}
	return nil
}
