package web

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"glasshouse/internal/watch"
	"glasshouse/internal/watch/status"
)

// discoveryWait is how long a request for the list of resources waits for a new result of API discovery.
const discoveryWait = time.Second

// resourceDocument describes one resource in the response of /api/v1/resources.
type resourceDocument struct {
	Group      string       `json:"group"`
	Version    string       `json:"version"`
	Resource   string       `json:"resource"`
	Kind       string       `json:"kind"`
	Namespaced bool         `json:"namespaced"`
	ShortNames []string     `json:"shortNames"`
	Categories []string     `json:"categories"`
	Verbs      []string     `json:"verbs"`
	Preferred  bool         `json:"preferred"`
	Ref        string       `json:"ref"`
	Section    string       `json:"section"`
	State      status.State `json:"state,omitempty"`
	Reason     string       `json:"reason,omitempty"`
	Namespaces []string     `json:"namespaces,omitempty"`
	Count      *int         `json:"count,omitempty"`
}

// groupErrorDocument describes an API group version that discovery could not read.
type groupErrorDocument struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Reason  string `json:"reason"`
}

// resourcesDocument is the response of /api/v1/resources, and the content of a message of the view "resources".
type resourcesDocument struct {
	Build     string               `json:"build"` // The build ID of the page that this server serves.
	Resources []resourceDocument   `json:"resources"`
	Problems  []groupErrorDocument `json:"problems"`
}

// resources responds with all resources found by API discovery, in the order of the resource picker.
func (s *Server) resources(w http.ResponseWriter, r *http.Request) error {
	doc, err := s.listResources(r.Context(), s.access(r), discoveryWait)
	if err != nil {
		return err
	}
	if err := responseOf(r).build(r.Context()); err != nil {
		return err
	}
	body, err := json.Marshal(doc)
	if err != nil {
		return fmt.Errorf("encode the resources: %w", err)
	}
	sum := sha256.Sum256(body)
	etag := `W/"` + hex.EncodeToString(sum[:12]) + `"`
	w.Header().Set("ETag", etag)
	w.Header().Set("Cache-Control", "private, no-cache")
	if r.Header.Get("If-None-Match") == etag {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	return writeJSONText(w, http.StatusOK, body)
}

// listResources returns all resources found by API discovery, in the order of the resource picker.
func (s *Server) listResources(
	ctx context.Context, access *watch.Access, wait time.Duration,
) (*resourcesDocument, error) {
	resources, groupErrors, err := access.Resources(ctx, wait)
	if err != nil {
		return nil, err
	}
	doc := &resourcesDocument{
		s.assets.Build(), make([]resourceDocument, 0, len(resources)), make([]groupErrorDocument, 0, len(groupErrors)),
	}
	for i := range resources {
		doc.Resources = append(doc.Resources, s.resourceDocument(&resources[i]))
	}
	slices.SortFunc(doc.Resources, func(a, b resourceDocument) int {
		return cmp.Or(s.sections.Compare(a.Group, a.Resource, b.Group, b.Resource), cmp.Compare(a.Version, b.Version))
	})
	for _, groupError := range groupErrors {
		doc.Problems = append(
			doc.Problems, groupErrorDocument{cmp.Or(groupError.Group, "core"), groupError.Version, groupError.Reason},
		)
	}
	return doc, nil
}

func (s *Server) resourceDocument(resource *watch.ResourceStatus) resourceDocument {
	group := cmp.Or(resource.Group, "core")
	d := resourceDocument{
		Group: group, Version: resource.Version, Resource: resource.Resource.Resource, Kind: resource.Kind,
		Namespaced: resource.Namespaced,
		ShortNames: nonNil(resource.ShortNames), Categories: nonNil(resource.Categories), Verbs: nonNil(resource.Verbs),
		Preferred: resource.Preferred, Ref: resource.Ref(), Section: s.sections.Section(group, resource.Resource.Resource),
		Count: resource.Count,
	}
	if resource.Status != nil {
		d.State, d.Reason, d.Namespaces = resource.Status.State, resource.Status.Reason, resource.Status.Namespaces
	}
	return d
}

// nonNil returns s, or an empty slice if s is nil. JSON then contains [] and not null.
func nonNil(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
