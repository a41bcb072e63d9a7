// Package relations computes a graph of an object's relations: owners and owned objects, used objects and users,
// selected pods and selectors.
//
// If the program runs the index of references, the package reads relations from it. For resources that the index does
// not contain, the package searches all objects of a few likely kinds, and starts their watches. The graph never claims
// that unread data does not exist.
package relations

import (
	"context"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

const (
	maxNodes = 200
	// maxPerGroup is the maximum number of nodes for single objects of one kind, namespace and owner. maxOwnNodes is the
	// maximum number of nodes for single objects in the graph. All other objects share nodes.
	maxPerGroup, maxOwnNodes = 20, 120
	// maxKinds is the maximum number of kinds to search. maxReads is the maximum number of individually read objects.
	maxKinds, maxReads = 16, 60
	// maxOwnerDepth limits the length of a chain of owners. maxChains limits the number of chains that start at selected
	// pods.
	maxOwnerDepth, maxChains = 10, 10
	// listWait is the maximum wait for the first list of a kind. readWait is the limit for all reads together,
	// including the read of the object itself.
	listWait, readWait = 3 * time.Second, 5 * time.Second
	// parallel is the maximum number of simultaneous reads. A read can need several MiB until its references are known.
	parallel = 2
	// entryMemory is the estimated memory for each object of a searched kind, in bytes. A measurement with short names
	// resulted in 270 bytes.
	entryMemory = 400
)

// Graph contains an object and its relations to other objects.
type Graph struct {
	Nodes     []Node     `json:"nodes"` // the object itself is first
	Edges     []Edge     `json:"edges"`
	Truncated bool       `json:"truncated"`
	Searched  []Searched `json:"searched"`
}

// Node is one object, or a number of objects of the same kind, namespace and owner.
type Node struct {
	ID        string `json:"id"`
	Ref       string `json:"ref"` // empty if the viewer has no access to the resource
	Kind      string `json:"kind"`
	Namespace string `json:"ns"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
	State     State  `json:"state"`
	Reason    string `json:"reason,omitempty"`
	// The severity in the object's verdict. It is empty without a verdict, and for a node with several objects.
	Severity string `json:"severity,omitempty"`
	Count    int    `json:"count,omitempty"` // number of objects, for a node without a name
}

// State is the result of reading the object of a Node.
type State string

// The states of a Node of the graph (not a Kubernetes Node).
const (
	Present   State = "there"
	Missing   State = "missing"
	Forbidden State = "forbidden"
	Unknown   State = "unknown"
)

// Edge is a relation from owner to owned object, from user to used object, or from selector to pod.
type Edge struct {
	From string `json:"from"`
	To   string `json:"to"`
	Type string `json:"type"` // "owns", "uses" or "selects"
	Via  string `json:"via"`  // path of the referring JSON member, without array indices
}

// Searched is a kind with the status of its list. Only the states Live and Stale mean a finished search.
type Searched struct {
	Ref string `json:"ref"`
	status.Status
}

func severityText(s verdict.Severity) string {
	if s == verdict.None {
		return ""
	}
	return s.String()
}

// Of returns the graph of an object's relations. ref identifies its resource, such as "core/v1/pods".
func Of(ctx context.Context, access *watch.Access, ref, namespace, name string) (*Graph, error) {
	readCtx, cancel := context.WithTimeout(ctx, readWait)
	defer cancel()
	resource, err := access.Resource(readCtx, ref)
	if err != nil {
		return nil, err
	}
	text, err := access.Object(readCtx, ref, namespace, name)
	if err != nil {
		return nil, err
	}
	known, _, err := access.Resources().List(ctx, 0)
	if err != nil {
		return nil, err
	}
	object := objectrefs.Of(text)
	object.Group, object.Kind, object.Namespace, object.Name = resource.Group, resource.Kind, namespace, name
	f := &finder{
		access: access, resource: resource, kind: nameOf(resource), object: object, known: known,
		builder: newGraphBuilder(), labels: make(labelSets),
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
	f.addNodesOfUsers(readCtx)
	if err := f.compute(ctx, f.linkOwners, f.linkSelected, f.addSelectors); err != nil {
		return nil, err
	}
	return &f.builder.graph, ctx.Err()
}

// compute runs steps on a leased processor (see AcquireProcessor). The steps must not wait, because processors are
// few.
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
