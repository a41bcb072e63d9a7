package overview

import (
	"context"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/fieldmanager"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
)

const (
	// maxListedChanges is the maximum number of objects whose last changes are read for one ChangeList.
	maxListedChanges = 5000
	changeListAge    = time.Minute // How long a ChangeList is cached.
	maxChangeLists   = 20          // A cached list of 5,000 objects needs about 1 MB.
	// changeListTimeout is the time limit for reading a ChangeList from the API server.
	changeListTimeout = 20 * time.Second
)

// ChangeList contains the newest changes of the specifications of a resource's objects.
type ChangeList struct {
	Items []ObjectChange `json:"items"` // Only objects whose newest change has a known author.
	// IsTruncated reports that the program has not read all objects.
	IsTruncated bool `json:"truncated"`

	err error
}

// ObjectChange is the newest change of one object's specification, and its author.
type ObjectChange struct {
	Namespace string    `json:"ns"`
	Name      string    `json:"name"`
	At        time.Time `json:"at"`
	By        string    `json:"by"` // The field manager, such as "kubectl-edit".
	// IsCreation reports that the specification has not changed since the creation of the object.
	IsCreation bool `json:"created,omitempty"`
}

type listKey struct {
	resource   schema.GroupVersionResource
	namespaces string
}

// List returns the newest changes of the objects of a resource. Changes by components of Kubernetes do not count. An
// empty namespace means all. The caller must not change the result, which is cached.
func (l *LastChanges) List(ctx context.Context, r *resource.Resource, namespaces []string) (*ChangeList, error) {
	key := listKey{r.GVR(), strings.Join(namespaces, " ")}
	isFresh := func(list *ChangeList, readAt time.Time) bool {
		return list.err == nil && time.Since(readAt) < changeListAge
	}
	list, ok := l.lists.Get(ctx, key, isFresh, func(ctx context.Context) *ChangeList {
		ctx, cancel := context.WithTimeout(ctx, changeListTimeout)
		defer cancel()
		return l.readList(ctx, key.resource, namespaces)
	})
	if !ok {
		return nil, ctx.Err()
	}
	return list, list.err
}

func (l *LastChanges) readList(ctx context.Context, r schema.GroupVersionResource, namespaces []string) *ChangeList {
	list, objects := &ChangeList{Items: []ObjectChange{}}, 0
	managers := make(map[string]string) // Equal names share their memory.
	for _, namespace := range namespaces {
		isComplete, err := l.client.EachMetadata(ctx, r, namespace, maxListedChanges-objects, func(m *compact.Metadata) {
			objects++
			by := fieldmanager.NewestSpec(m.Managed, isController)
			if by == nil {
				return
			}
			if _, ok := managers[by.Manager]; !ok {
				managers[by.Manager] = by.Manager
			}
			list.Items = append(list.Items, ObjectChange{
				Namespace: m.Namespace, Name: m.Name, At: by.Time, By: managers[by.Manager],
				IsCreation: !by.Time.After(m.Created().Add(creationTolerance)),
			})
		})
		if err != nil {
			return &ChangeList{err: err}
		}
		if !isComplete {
			list.IsTruncated = true
			break
		}
	}
	list.Items = slices.Clip(list.Items)
	return list
}

// IsController reports whether a field manager is a component of Kubernetes, whose changes do not count.
func IsController(manager string) bool { return isController(manager) }
