// Package relations computes a graph of an object's relations. The graph contains:
//   - the object's owners, up to the root, and the objects that it owns
//   - the objects that it uses (refers to), and the objects that use it
//   - the pods that it selects, and the objects that select pods in the graph
//
// All reads use watch.Access. Objects that the object refers to are read one by one. To find objects that refer to
// it, the package searches a few likely kinds, if possible only in the object's namespace. Searching a kind starts a
// watch of this kind, like every other read of a list.
//
// There are limits for the numbers of kinds, reads and nodes, and for the waiting time. The graph contains, for each
// kind, whether it was searched and, for each node, whether it was read. If data could not be read, the graph never
// claims that it does not exist.
package relations

import (
	"context"
	"time"

	"glasshouse/internal/watch"
	"glasshouse/internal/watch/objectrefs"
	"glasshouse/internal/watch/status"
)

const (
	maxNodes = 200
	// maxPerGroup is the maximum number of objects of one kind, namespace and owner that get a node of their own.
	// Further objects share one node, which contains their number. maxOwnNodes is the approximate maximum of objects
	// with a node of their own in the graph. With very many owners, it allows fewer than maxPerGroup for each owner.
	maxPerGroup, maxOwnNodes = 20, 120
	// maxKinds is the maximum number of kinds to search. maxReads is the maximum number of objects that are read
	// individually.
	maxKinds, maxReads = 16, 60
	// maxOwnerDepth is the maximum length of a chain of owners. maxChains is the maximum number of such chains that
	// are followed from the pods that the object selects.
	maxOwnerDepth, maxChains = 10, 10
	// listWait is the maximum wait for the first list of a kind. readWait is the time limit for all reads together.
	listWait, readWait = 3 * time.Second, 5 * time.Second
	// parallel is the maximum number of objects that are read at the same time. Each object can need several MiB
	// until its references are known.
	parallel = 2
	// entryMemory is the estimated memory for each object of a searched kind, including its owner references, in
	// bytes. The measured value is 270, for objects with short names.
	entryMemory = 400
)

// Graph contains an object and its relations to other objects.
type Graph struct {
	Nodes     []Node     `json:"nodes"` // The first node is the object itself.
	Edges     []Edge     `json:"edges"`
	Truncated bool       `json:"truncated"` // The graph lacks some nodes, because of maxNodes.
	Searched  []Searched `json:"searched"`  // Kinds to search, each with the result of the search.
}

// Node is one object, or a number of similar objects (of the same kind, namespace and owner).
type Node struct {
	ID        string `json:"id"`
	Ref       string `json:"ref"` // Ref of the resource; empty if it is not available to the viewer.
	Kind      string `json:"kind"`
	Namespace string `json:"ns"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
	State     State  `json:"state"`
	Reason    string `json:"reason,omitempty"`
	Count     int    `json:"count,omitempty"` // Number of similar objects, for a node without a name.
}

// State is the result of reading the object of a Node.
type State string

// The states of a Node.
const (
	Present   State = "there"
	Missing   State = "missing"
	Forbidden State = "forbidden"
	Unknown   State = "unknown" // The object was not read; Reason explains why.
)

// Edge is a relation between two nodes: from the owner to the owned object, from the user to the used object, or from
// the selecting object to the selected pod.
type Edge struct {
	From string `json:"from"`
	To   string `json:"to"`
	Type string `json:"type"` // "owns", "uses" or "selects".
	Via  string `json:"via"`  // Path of the JSON member that refers to the other object, without indices.
}

// Searched is a kind to search, with the status of its list. The kind was searched only if the state is Live or
// Stale. For other states, the field Reason explains why not.
type Searched struct {
	Ref string `json:"ref"`
	status.Status
}

// Of returns the graph of an object's relations. ref identifies the resource of the object, such as "core/v1/pods".
// If the object, its resource or the list of resources cannot be read, Of returns an error.
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

// compute acquires a processor (the permission to compute) and runs the steps. The steps must not wait, so the finder
// sends requests to the API server only between calls of compute.
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
