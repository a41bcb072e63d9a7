package search

import (
	"github.com/glasshouse-project/glasshouse/internal/watch/inherit/plan"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
)

// A Reason is why a search does not read a resource.
type Reason string

// The reasons why a search does not read a resource.
const (
	Forbidden Reason = "forbidden" // The viewer may not list and watch it.
	Limited   Reason = "limit"     // The number of custom resources is limited, and this one is beyond the limit.
	Unread    Reason = "unread"    // The engine of inherited verdicts does not read all objects of the resource.
)

// Omitted is a resource that a search does not read.
type Omitted struct {
	Resource *resource.Resource
	Reason   Reason
}

// Coverage contains the resources that a search reads, and those that it does not read.
type Coverage struct {
	Resources []resource.Resource
	Omitted   []Omitted // Without resources that are forbidden to the viewer.
	planned   map[string]bool
}

// Cover divides the resources for which canDiscover is true into those that a search reads, and those that it omits. A
// search reads what the engine of inherited verdicts reads, no matter what viewers have opened. It also reads resources
// for which isShown is true, if the engine reads none of their versions.
func Cover(resources []resource.Resource, canDiscover, isShown func(*resource.Resource) bool) Coverage {
	planned, limited := plan.Of(resources)
	c := Coverage{Omitted: []Omitted{}, planned: make(map[string]bool, len(planned))}
	isRead, isLimited := make(map[string]bool, len(planned)), make(map[string]bool, len(limited))
	for _, r := range planned {
		if plan.ScopeOf(r).Labels != "" {
			continue // The engine reads only some objects of this resource, so a search would miss the others.
		}
		c.planned[r.Ref()], isRead[kindKey(r)] = true, true
	}
	for _, r := range limited {
		isLimited[r.Ref()] = true
	}
	for n := range resources {
		r := &resources[n]
		switch {
		case !canDiscover(r):
		case c.planned[r.Ref()], !isRead[kindKey(r)] && isShown(r):
			c.Resources = append(c.Resources, *r)
		case isLimited[r.Ref()]:
			c.Omitted = append(c.Omitted, Omitted{r, Limited})
		case r.Preferred && r.Can("list") && !isRead[kindKey(r)]:
			c.Omitted = append(c.Omitted, Omitted{r, Unread})
		}
	}
	return c
}

// Reads reports whether the engine of inherited verdicts reads all objects of a resource.
func (c *Coverage) Reads(r *resource.Resource) bool { return c.planned[r.Ref()] }

// kindKey returns the same key for all versions of a resource. The Events of the core group and of "events.k8s.io" also
// have the same key.
func kindKey(r *resource.Resource) string {
	if r.Group == "events.k8s.io" {
		return r.Resource + "."
	}
	return r.Resource + "." + r.Group
}
