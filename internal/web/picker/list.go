// Package picker provides the list of resources that the resource picker of a page shows, as JSON. All WebSockets of
// one viewer share the text of the list. The text is built again after each event that possibly changes the list.
package picker

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/web/templates"
)

// DiscoveryWait is how long a request for the list of resources waits for a new result of API discovery.
const DiscoveryWait = time.Second

// ResourceDocument describes one resource in the response of /api/v1/resources.
type ResourceDocument struct {
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
	Rare       bool         `json:"rare,omitempty"` // The resource picker shows it only under "More".
	State      status.State `json:"state,omitempty"`
	Reason     string       `json:"reason,omitempty"`
	Namespaces []string     `json:"namespaces,omitempty"`
	Count      *int         `json:"count,omitempty"`
}

// GroupError describes an API group version that discovery could not read.
type GroupError struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Reason  string `json:"reason"`
}

// ListDocument is the response of /api/v1/resources, and the content of a message of the view "resources".
type ListDocument struct {
	Build     string             `json:"build"` // The build ID of the page that this server serves.
	Resources []ResourceDocument `json:"resources"`
	Problems  []GroupError       `json:"problems"`
}

// List provides the list of all resources, in the order of the resource picker.
type List struct {
	Sections templates.Sections // The sections of the resource picker, with the order of their resources.
	build    string
}

// NewList returns a List. The parameter build is the build ID of the page that the server serves.
func NewList(build string) *List {
	return &List{build: build, Sections: templates.NewSections()}
}

// Read returns all resources found by API discovery, in picker order. If discovery is due, Read waits for its result,
// but no longer than the duration wait.
func (l *List) Read(ctx context.Context, known watch.VisibleResources, wait time.Duration) (*ListDocument, error) {
	resources, groupErrors, err := known.List(ctx, wait)
	if err != nil {
		return nil, err
	}
	doc := &ListDocument{
		l.build, make([]ResourceDocument, 0, len(resources)), make([]GroupError, 0, len(groupErrors)),
	}
	for i := range resources {
		doc.Resources = append(doc.Resources, l.Document(&resources[i]))
	}
	slices.SortFunc(doc.Resources, func(a, b ResourceDocument) int {
		return cmp.Or(l.Sections.Compare(a.Group, a.Resource, b.Group, b.Resource), cmp.Compare(a.Version, b.Version))
	})
	for _, groupError := range groupErrors {
		doc.Problems = append(
			doc.Problems, GroupError{cmp.Or(groupError.Group, "core"), groupError.Version, groupError.Reason},
		)
	}
	return doc, nil
}

// Document returns the description of one resource for API clients.
func (l *List) Document(resource *watch.ResourceStatus) ResourceDocument {
	group := cmp.Or(resource.Group, "core")
	d := ResourceDocument{
		Group: group, Version: resource.Version, Resource: resource.Resource.Resource, Kind: resource.Kind,
		Namespaced: resource.Namespaced,
		ShortNames: nonNil(resource.ShortNames), Categories: nonNil(resource.Categories), Verbs: nonNil(resource.Verbs),
		Preferred: resource.Preferred, Ref: resource.Ref(), Section: l.Sections.Section(group, resource.Resource.Resource),
		Rare: l.Sections.IsRare(group, resource.Resource.Resource), Count: resource.Count,
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

// Compare compares two resources by their position in the resource picker.
func (l *List) Compare(a, b *resource.Resource) int {
	return cmp.Or(l.Sections.Compare(cmp.Or(a.Group, "core"), a.Resource, cmp.Or(b.Group, "core"), b.Resource),
		cmp.Compare(a.Version, b.Version))
}
