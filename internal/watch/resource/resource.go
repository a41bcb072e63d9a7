// Package resource describes the types of objects that an API server serves.
package resource

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/status"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Resource is a type of objects that the API server serves, such as pods. Its fields are from API discovery.
type Resource struct {
	Group      string // empty for the core group
	Version    string
	Resource   string
	Kind       string
	Namespaced bool
	ShortNames []string
	Categories []string
	Verbs      []string
	Preferred  bool // true for the version of the resource that the page shows
}

// Ref returns the ID of the resource in messages and URLs, such as "core/v1/pods".
func (r *Resource) Ref() string {
	return cmp.Or(r.Group, "core") + "/" + r.Version + "/" + r.Resource
}

// Plural returns the plural of the kind, such as "Pods". If it is irregular, Plural returns the resource name. The
// function Plural in web/templates/format.go returns the same text.
func (r *Resource) Plural() string {
	for _, ending := range []struct{ cut, put string }{{"", "s"}, {"", "es"}, {"y", "ies"}, {"", ""}} {
		stem, found := strings.CutSuffix(r.Kind, ending.cut)
		if found && strings.EqualFold(stem+ending.put, r.Resource) {
			return stem + ending.put
		}
	}
	return r.Resource
}

// Can reports whether the API server supports the verb for this resource.
func (r *Resource) Can(verb string) bool { return slices.Contains(r.Verbs, verb) }

// GVR returns the resource in the form that client-go requires.
func (r *Resource) GVR() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Resource}
}

// AnyGroup is the group of a GroupError if discovery failed completely.
const AnyGroup = "*"

// GroupError describes an API group version for which discovery failed.
type GroupError struct {
	Group, Version string
	Reason         string
}

// FromDiscovery returns all resources, but no subresources. Preferred marks the group's preferred version. If that
// version lacks the resource, Preferred marks the first version that has it.
func FromDiscovery(groups []*metav1.APIGroup, lists []*metav1.APIResourceList) []Resource {
	byVersion := make(map[string]*metav1.APIResourceList, len(lists))
	for _, list := range lists {
		byVersion[list.GroupVersion] = list
	}
	var resources []Resource
	for _, group := range groups {
		versions := []string{group.PreferredVersion.GroupVersion}
		for _, version := range group.Versions {
			if version.GroupVersion != versions[0] {
				versions = append(versions, version.GroupVersion)
			}
		}
		seen := make(map[string]bool)
		for _, version := range versions {
			list := byVersion[version]
			if list == nil {
				continue
			}
			resources = append(resources, resourcesOf(list, seen)...)
		}
	}
	slices.SortFunc(resources, func(a, b Resource) int { return cmp.Compare(a.Ref(), b.Ref()) })
	return resources
}

func resourcesOf(list *metav1.APIResourceList, seen map[string]bool) (resources []Resource) {
	gv, err := schema.ParseGroupVersion(list.GroupVersion)
	if err != nil {
		return nil
	}
	for i := range list.APIResources {
		r := &list.APIResources[i]
		if strings.Contains(r.Name, "/") {
			continue
		}
		resources = append(resources, Resource{
			Group: gv.Group, Version: gv.Version, Resource: r.Name, Kind: r.Kind, Namespaced: r.Namespaced,
			ShortNames: r.ShortNames, Categories: r.Categories, Verbs: r.Verbs, Preferred: !seen[r.Name],
		})
		seen[r.Name] = true
	}
	return resources
}

// Index returns the index of the resource with the ref, or -1. The slice resources must be sorted by ref.
func Index(resources []Resource, ref string) int {
	i, found := slices.BinarySearchFunc(resources, ref, func(r Resource, ref string) int {
		return cmp.Compare(r.Ref(), ref)
	})
	if !found {
		return -1
	}
	return i
}

// NotServed returns the error for an unknown ref. It suggests similar resources, or explains why discovery failed.
func NotServed(ref string, resources []Resource, groupErrors []GroupError) *status.Problem {
	if strings.Count(ref, "/") != 2 {
		return status.Unknownf("Unknown resource", "%.100q is not a resource: "+
			"write group/version/resource, such as core/v1/pods or apps/v1/deployments.", ref)
	}
	name := strings.ToLower(ref[strings.LastIndex(ref, "/")+1:])
	group := ref[:strings.Index(ref, "/")]
	var similar []string
	for i := range resources {
		r := &resources[i]
		if r.Resource == name || strings.ToLower(r.Kind) == name || slices.Contains(r.ShortNames, name) {
			similar = append(similar, r.Ref())
		}
	}
	p := status.Unknownf("Unknown resource", "The cluster does not serve %.200q.", ref)
	text := []string{p.Detail}
	for _, groupError := range groupErrors {
		if groupError.Group == group {
			text = append(text, fmt.Sprintf("The API group %s cannot be read now: %s", groupError.Group, groupError.Reason))
		}
	}
	if len(similar) > 0 {
		text = append(text, "Did you mean "+strings.Join(similar, " or ")+"?")
	} else {
		text = append(text, "GET /api/v1/resources lists the resources that it serves.")
	}
	p.PublicDetail, p.Detail = p.Detail, strings.Join(text, " ")
	return p
}

// Namespaces returns the resource of Kubernetes namespaces, without discovery.
func Namespaces() *Resource {
	return &Resource{Version: "v1", Resource: "namespaces", Verbs: []string{"list", "watch"}}
}
