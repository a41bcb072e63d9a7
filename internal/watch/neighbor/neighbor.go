// Package neighbor describes the neighbors of an object: the objects that it owns, uses or selects, and those that own,
// use or select it. A neighbor can be missing from the cluster.
package neighbor

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Presence is whether an object exists.
type Presence uint8

// The values of Presence.
const (
	Unknown Presence = iota // This program has not read all objects of the resource, so the object may exist.
	Present
	Missing
)

// Object is an object in the cache.
type Object interface {
	Verdict() verdict.Packed
	UID() string
	Created() time.Time
	ManagedTime() time.Time // The newest time in the managedFields.
	JSON() ([]byte, error)
}

// Neighbor is a related object. It can be missing from the cluster (see Presence).
type Neighbor struct {
	ID       graph.ID
	Resource string // The ref, such as "core/v1/pods"; empty if the cluster does not serve the kind.
	Presence Presence
	Object   Object // Nil unless the object is present.
}

// String returns the kind and the name, such as "Deployment api".
func (n *Neighbor) String() string { return n.ID.Kind.Kind + " " + n.ID.Name() }

// IsOwnedBy reports whether the neighbor has an owner with the given UID. It reads the JSON text of the neighbor,
// because the graph can lag behind the informer that found the object.
func (n *Neighbor) IsOwnedBy(uid string) bool {
	owners := Decode[metav1.PartialObjectMetadata](n.Object).OwnerReferences
	return slices.ContainsFunc(owners, func(o metav1.OwnerReference) bool { return string(o.UID) == uid })
}

// ObjectOf returns the resource, kind, namespace and name of a neighbor.
func ObjectOf(n *Neighbor) verdict.Object {
	return verdict.Object{
		Resource: n.Resource, Kind: n.ID.Kind.Kind, Namespace: n.ID.Namespace(), Name: n.ID.Name(),
	}
}

// IDOf returns the ID of an object. It takes the API group from the ref of the resource ("apps/v1/deployments").
func IDOf(o *verdict.Object) graph.ID {
	group, _, _ := strings.Cut(o.Resource, "/")
	if group == "core" {
		group = ""
	}
	return graph.NewID(graph.Kind{Group: group, Kind: o.Kind}, o.Namespace, o.Name)
}

// Cell returns the text in one column of the row that the API server prints for an object, or "". It also works for an
// object of which this program reads only the metadata, because such an object has a row, too.
func Cell(o Object, column int) (text string) {
	if row, ok := o.(interface{ Cell(at int) []byte }); ok {
		_ = json.Unmarshal(row.Cell(column), &text) // If the cell is not a text, the result is "".
	}
	return text
}

// Decode decodes the JSON text of an object. A member that is not in the text stays zero. If the object is nil, all
// members stay zero.
func Decode[T any](o Object) (value T) {
	if o == nil {
		return value
	}
	if text, err := o.JSON(); err == nil {
		_ = json.Unmarshal(text, &value) // Ignore the error: the API server sends only valid objects.
	}
	return value
}

// Conditions returns those conditions of an object that have a given status, such as True.
func Conditions(o Object, status metav1.ConditionStatus) (conditions []metav1.Condition) {
	decoded := Decode[struct {
		Status struct {
			Conditions []metav1.Condition `json:"conditions"`
		} `json:"status"`
	}](o)
	for _, c := range decoded.Status.Conditions {
		if c.Status == status {
			conditions = append(conditions, c)
		}
	}
	return conditions
}

// IsReady reports whether the condition Ready of a pod is True.
func IsReady(p *corev1.Pod) bool { return slices.ContainsFunc(p.Status.Conditions, isReady) }

func isReady(c corev1.PodCondition) bool {
	return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
}

// ReadySince returns when a pod became ready, or the zero time if it is not ready.
func ReadySince(p *corev1.Pod) time.Time {
	if at := slices.IndexFunc(p.Status.Conditions, isReady); at >= 0 {
		return p.Status.Conditions[at].LastTransitionTime.Time
	}
	return time.Time{}
}
