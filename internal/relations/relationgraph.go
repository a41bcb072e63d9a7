// Package relations computes the graph of an object's relations. The graph has its owners up to the root, and the
// objects that it owns. It also has the objects that it uses, and those that use it. It has the pods that the object
// selects, and what selects pods in the graph.
//
// All reads use watch.Access. Objects that the object names are read one by one. To find the objects that name it, a
// few likely kinds are searched, in its namespace if they have one. These lists start in the same way as those of any
// viewer. Everything is bounded: kinds, reads, nodes, and the waiting time. Each kind reports whether it was searched,
// and each node whether it was read. Data that could not be read is never reported as absent.
package relations

import (
	"context"
	"time"

	"glasshouse/internal/watch"
	"glasshouse/internal/watch/objectrefs"
	"glasshouse/internal/watch/status"
)

const (
	// maxNodes is the maximum number of nodes in a graph.
	maxNodes = 200
	// maxPerGroup is how many objects of one kind and one owner have their own nodes. The others are one node with a
	// count. If there are very many owners, together they get about maxOwnNodes nodes.
	maxPerGroup, maxOwnNodes = 20, 120
	// maxKinds is how many kinds are searched, and maxReads how many objects are read one by one.
	maxKinds, maxReads = 16, 60
	// maxOwnerDepth bounds the length of a chain of owners. maxChains bounds the number of chains that are followed from
	// the pods that an object selects.
	maxOwnerDepth, maxChains = 10, 10
	// listWait is the maximum wait for a first list, and readWait the maximum time for all reads.
	listWait, readWait = 3 * time.Second, 5 * time.Second
	// parallel is how many objects are read at a time. Each may use several MiB until its references are known.
	parallel = 2
	// entryMemory is the memory of an object of a searched kind, with its owner, in bytes (270 measured with short
	// names).
	entryMemory = 400
)

// Graph contains an object and its relations.
type Graph struct {
	Nodes     []Node     `json:"nodes"` // The first one is the object itself.
	Edges     []Edge     `json:"edges"`
	Truncated bool       `json:"truncated"` // There are more nodes than the graph has.
	Searched  []Searched `json:"searched"`  // The kinds to search.
}

// Node is one object, or several objects that are alike.
type Node struct {
	ID        string `json:"id"`
	Ref       string `json:"ref"` // Ref of the resource; empty if the viewer knows no such kind.
	Kind      string `json:"kind"`
	Namespace string `json:"ns"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
	State     State  `json:"state"`
	Reason    string `json:"reason,omitempty"`
	Count     int    `json:"count,omitempty"` // Number of objects that are alike, for a node without a name.
}

// State is the result of reading the object of a node.
type State string

// The states of a Node.
const (
	Present   State = "there"
	Missing   State = "missing"
	Forbidden State = "forbidden"
	Unknown   State = "unknown" // It was not read; the reason explains why.
)

// Edge leads from the owner to the owned object, from the user to the used object, or from the selector to the selected
// object.
type Edge struct {
	From string `json:"from"`
	To   string `json:"to"`
	Type string `json:"type"` // owns, uses or selects.
	Via  string `json:"via"`  // Path of the referring member, without indices.
}

// Searched is a kind to search, with the status of its list. If the state is Live or Stale, the kind was searched.
// Otherwise it was not, and the reason explains why.
type Searched struct {
	Ref string `json:"ref"`
	status.Status
}

// Of returns the graph of an object's relations. It returns an error if the object, its resource or the known resources
// cannot be read.
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
	object := objectrefs.Of(text)
	// The request takes precedence over the text.
	object.Group, object.Kind, object.Namespace, object.Name = resource.Group, resource.Kind, namespace, name
	readCtx, cancel := context.WithTimeout(ctx, readWait)
	defer cancel()
	f := &finder{
		access: access, resource: resource, kind: nameOf(resource), object: object, known: known,
		nodes: make(map[string]int), edges: make(map[Edge]bool), groups: make(map[group]int), labels: make(labelSets),
	}
	f.search(readCtx)
	if err := f.compute(ctx, f.readRefs); err != nil {
		return nil, err
	}
	f.addOwners(readCtx)
	f.addUsed(readCtx)
	if err := f.compute(ctx, f.addOwned, f.addUsers, f.addSelected); err != nil {
		return nil, err
	}
	f.addPodOwners(readCtx)
	if err := f.compute(ctx, f.linkOwners, f.linkSelected, f.addSelectors); err != nil {
		return nil, err
	}
	return &f.graph, ctx.Err()
}

// compute runs steps that use a processor, under one lease. The steps do not wait: requests to the API server happen
// between the calls of compute.
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
