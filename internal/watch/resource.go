package watch

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Resource is a type of objects that the API server serves, as discovery reports it.
type Resource struct {
	Group      string // Empty for the core group.
	Version    string
	Resource   string
	Kind       string
	Namespaced bool
	ShortNames []string
	Categories []string
	Verbs      []string
	Preferred  bool // This is the version to show, among those that serve the resource.
}

// Ref returns the name of the resource in messages and routes: "core/v1/pods".
func (r *Resource) Ref() string {
	return cmp.Or(r.Group, "core") + "/" + r.Version + "/" + r.Resource
}

// Can reports whether the API serves the verb.
func (r *Resource) Can(verb string) bool { return slices.Contains(r.Verbs, verb) }

// resourceOf returns what an informer watches, with the fields that its scope contains: Group, Version and Resource.
func resourceOf(i *informer) *Resource {
	of := i.scope.Resource
	return &Resource{Group: of.Group, Version: of.Version, Resource: of.Resource}
}

// kindsOf returns what informers watch.
func kindsOf(informers []*informer) []*Resource {
	resources := make([]*Resource, len(informers))
	for n, i := range informers {
		resources[n] = resourceOf(i)
	}
	return resources
}

func (r *Resource) gvr() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Resource}
}

// Gap is a group and version of the API that discovery could not read. If Group is "*", discovery failed as a whole,
// and the resources of the last successful discovery are returned.
type Gap struct {
	Group, Version string
	Reason         string
}

// collect returns all resources that discovery reports, without subresources. A resource is marked as preferred in its
// group's preferred version. If that version does not serve it, the first other version that does is marked.
func collect(groups []*metav1.APIGroup, lists []*metav1.APIResourceList) []Resource {
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

// resourcesOf returns what one version of a group serves. seen contains the names that an earlier version serves.
func resourcesOf(list *metav1.APIResourceList, seen map[string]bool) (resources []Resource) {
	gv, err := schema.ParseGroupVersion(list.GroupVersion)
	if err != nil {
		return nil // The API server violates the API conventions, so the group could not be requested.
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

// indexOf returns the index of a resource, or -1.
func indexOf(resources []Resource, ref string) int {
	i, found := slices.BinarySearchFunc(resources, ref, func(r Resource, ref string) int {
		return cmp.Compare(r.Ref(), ref)
	})
	if !found {
		return -1
	}
	return i
}

// notServed returns a problem that proposes what the caller may have meant.
func notServed(ref string, resources []Resource, gaps []Gap) *Problem {
	if strings.Count(ref, "/") != 2 {
		return unknown("Unknown resource", "%.100q does not name a resource: "+
			"write group/version/resource, as in core/v1/pods or apps/v1/deployments.", ref)
	}
	name := strings.ToLower(ref[strings.LastIndex(ref, "/")+1:])
	group := ref[:strings.Index(ref, "/")]
	var near []string
	for i := range resources {
		r := &resources[i]
		if r.Resource == name || strings.ToLower(r.Kind) == name || slices.Contains(r.ShortNames, name) {
			near = append(near, r.Ref())
		}
	}
	p := unknown("Unknown resource", "The cluster does not serve %.200q.", ref)
	text := []string{p.Detail}
	for _, gap := range gaps {
		if gap.Group == group {
			text = append(text, fmt.Sprintf("The API group %s cannot be read now: %s", gap.Group, gap.Reason))
		}
	}
	if len(near) > 0 {
		text = append(text, "Did you mean "+strings.Join(near, " or ")+"?")
	} else {
		text = append(text, "GET /api/v1/resources lists what it serves.")
	}
	p.Brief, p.Detail = p.Detail, strings.Join(text, " ")
	return p
}
