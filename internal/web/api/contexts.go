package api

import (
	"net/http"

	"github.com/glasshouse-project/glasshouse/internal/web/request"
	"github.com/glasshouse-project/glasshouse/internal/web/response"
)

type contextsDocument struct {
	Active   string            `json:"present"`
	Contexts []request.Context `json:"contexts"`
}

// Contexts serves the list of kubeconfig contexts, and switches the server to the cluster of another context.
type Contexts struct{ Active *request.ActiveCluster }

// List responds to /api/v1/contexts with all contexts as JSON.
func (c *Contexts) List(w http.ResponseWriter, r *http.Request) error {
	all, err := c.Active.ListContexts()
	if err != nil {
		return err
	}
	return response.JSON(w, r, http.StatusOK, contextsDocument{request.ClusterOf(r).Name, all})
}

// SwitchTo makes a cluster the active one. The JSON body of the request contains its kubeconfig context.
func (c *Contexts) SwitchTo(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Name *string `json:"name"`
	}
	if err := request.ReadBody(r, &body); err != nil {
		return err
	}
	if body.Name == nil {
		return request.BadRequest("Invalid context",
			`The body must name a context of the kubeconfig, such as {"name":"staging"}.`)
	}
	if err := c.Active.SwitchTo(r.Context(), *body.Name); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
