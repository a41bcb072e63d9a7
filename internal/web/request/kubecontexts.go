package request

import (
	"context"
	"fmt"
	"net/http"
	"slices"
)

// Contexts lists and switches the contexts of a kubeconfig. A switch affects all viewers, so a server that identifies
// users has no Contexts.
type Contexts struct {
	// List reads the contexts from the kubeconfig file at each call, because the file can change.
	List func() ([]Context, error)
	// Switch activates the cluster of a context. After an error, the previous cluster stays active.
	Switch func(ctx context.Context, name string) error
}

// Context is one context of a kubeconfig.
type Context struct {
	Name      string `json:"name"`
	Cluster   string `json:"cluster"`
	User      string `json:"user"`
	Namespace string `json:"namespace,omitempty"`
}

// CanSwitch reports whether the server can switch between contexts.
func (a *ActiveCluster) CanSwitch() bool { return a.contexts != nil }

// ListContexts returns the contexts of the kubeconfig, or a problem if the server cannot switch between contexts.
func (a *ActiveCluster) ListContexts() ([]Context, error) {
	if a.contexts == nil {
		return nil, &Problem{
			Title: "Only one cluster", Status: http.StatusNotFound,
			Detail: "This server shows one cluster. It can switch clusters if the kubeconfig has several contexts, " +
				"--auth is none, and no other flag selects the cluster or the user.",
		}
	}
	all, err := a.contexts.List()
	if err != nil {
		return nil, &Problem{
			Title: "Kubeconfig not readable", Status: http.StatusServiceUnavailable,
			Detail: fmt.Sprintf("The contexts cannot be listed: %v.", err),
		}
	}
	return all, nil
}

// SwitchTo activates the cluster of a context.
func (a *ActiveCluster) SwitchTo(ctx context.Context, name string) error {
	all, err := a.ListContexts()
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(all, func(kubeContext Context) bool { return kubeContext.Name == name }) {
		return &Problem{
			Title: "No such context", Status: http.StatusNotFound,
			Detail: fmt.Sprintf("The current kubeconfig has no context %.253q.", name),
		}
	}
	if err := a.contexts.Switch(ctx, name); err != nil {
		return &Problem{
			Title: "Context not opened", Status: http.StatusBadGateway,
			Detail: fmt.Sprintf("The context %s stays active: %v.", a.Load().Name, err),
		}
	}
	return nil
}
