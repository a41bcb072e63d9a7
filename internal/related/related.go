// Package related tells an object's neighbourhood as a graph: its owners up to
// the root, what it owns, what it uses and what uses it, which pods it selects
// and what selects them.
//
// All reading goes through watch.Access. What an object names is looked up one by
// one; for what names it a few kinds worth looking through are read, in its
// namespace where they have one, begun as any viewer would begin them. Everything
// is bounded: kinds, reads, nodes, and the time that is waited. Each kind says
// whether it was looked through, and each node whether it was seen: what could
// not be looked at is never told as nothing.
package related

import (
	"context"
	"time"

	"glasshouse/internal/watch"
	"glasshouse/internal/watch/relate"
)

const (
	// maxNodes are those of one graph.
	maxNodes = 200
	// maxAlike are the objects of one kind and one owner that are told one by one;
	// those beyond are one node with a count. Where there are very many owners,
	// together they get about shareAlike.
	maxAlike, shareAlike = 20, 120
	// maxKinds are looked through, maxReads objects looked up one by one.
	maxKinds, maxReads = 16, 60
	// maxClimb bounds a chain of owners, maxChains how many are followed from the
	// pods that an object selects.
	maxClimb, maxChains = 10, 10
	// listWait is how long first lists are waited for, and readWait how long all
	// may take.
	listWait, readWait = 3 * time.Second, 5 * time.Second
	// parallel is how many objects are looked up at a time. Each may take several MiB until its names are read.
	parallel = 2
	// entryMemory is the memory of an object of a kind that is looked through, with its owner (270 bytes measured with
	// short names).
	entryMemory = 400
)

// A Graph is a neighbourhood.
type Graph struct {
	Nodes     []Node     `json:"nodes"` // The object itself is the first.
	Edges     []Edge     `json:"edges"`
	Truncated bool       `json:"truncated"` // There are more nodes than are told.
	Searched  []Searched `json:"searched"`  // The kinds that were to be looked through.
}

// A Node is an object, or several alike.
type Node struct {
	ID        string `json:"id"`
	Ref       string `json:"ref"` // Of its resource; empty if the viewer knows no such kind.
	Kind      string `json:"kind"`
	Namespace string `json:"ns"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
	State     State  `json:"state"`
	Reason    string `json:"reason,omitempty"`
	Count     int    `json:"count,omitempty"` // Of several alike, which have no name.
}

// State says whether a node was seen.
type State string

// The states of a Node.
const (
	There     State = "there"
	Missing   State = "missing"
	Forbidden State = "forbidden"
	Unknown   State = "unknown" // Not looked at; the reason says why.
)

// An Edge leads from the owner to the owned, from the user to the used, from the
// selector to the selected.
type Edge struct {
	From string `json:"from"`
	To   string `json:"to"`
	Type string `json:"type"` // owns, uses or selects.
	Via  string `json:"via"`  // The path of members that says so, without indices.
}

// Searched is a kind that was to be looked through, and how well it is known:
// Live or Stale ones were, others were not, and the reason says why.
type Searched struct {
	Ref string `json:"ref"`
	watch.Status
}

// Of tells the neighbourhood of an object.
func Of(ctx context.Context, access *watch.Access, ref, namespace, name string) (*Graph, error) {
	resource, err := access.Resource(ctx, ref)
	if err != nil {
		return nil, err
	}
	text, err := access.Object(ctx, ref, namespace, name)
	if err != nil {
		return nil, err
	}
	known, _, err := access.Resources(ctx, 0)
	if err != nil {
		return nil, err
	}
	object := relate.Of(text)
	object.Group, object.Kind, object.Namespace, object.Name = resource.Group, resource.Kind, namespace, name // Whatever its text says.
	within, cancel := context.WithTimeout(ctx, readWait)
	defer cancel()
	f := &finder{
		access: access, resource: resource, kind: nameOf(resource), object: object, known: known,
		nodes: make(map[string]int), edges: make(map[Edge]bool), groups: make(map[group]int), labels: make(labelSets),
	}
	f.search(within)
	if err := f.compute(ctx, f.scan); err != nil {
		return nil, err
	}
	f.climb(within)
	f.uses(within)
	if err := f.compute(ctx, f.owned, f.users, f.selected); err != nil {
		return nil, err
	}
	f.climbSelected(within)
	if err := f.compute(ctx, f.connect, f.linkSelected, f.selectors); err != nil {
		return nil, err
	}
	return &f.graph, ctx.Err()
}

// compute runs steps that keep a processor busy and wait for nothing. The API server is asked between them.
func (f *finder) compute(ctx context.Context, steps ...func()) error {
	release, err := f.access.AcquireProcessor(ctx)
	if err != nil {
		return err
	}
	defer release()
	for _, step := range steps {
		step()
	}
	return nil
}
