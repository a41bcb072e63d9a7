package overview

import (
	"context"
	"strings"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/flight"
	"github.com/glasshouse-project/glasshouse/internal/watch/listwatch"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// lastChangeAge is how long the last change of an object is cached. An outdated entry hides no newer change, because
// the watch records newer changes in its history.
const lastChangeAge = 5 * time.Minute

// creationTolerance is how long after the creation of an object a change still counts as its creation. The API server
// determines both times separately, and rounds them to seconds.
const creationTolerance = time.Second

// LastChanges reads the last change of an object from its managedFields, for changes that this program did not watch.
type LastChanges struct {
	find   func(ctx context.Context, ref string) (*resource.Resource, error)
	client *listwatch.Client
	cache  *flight.Cache[verdict.Object, *Change]
}

// NewLastChanges returns LastChanges that find resources with find, and read objects with client.
func NewLastChanges(
	find func(ctx context.Context, ref string) (*resource.Resource, error), client *listwatch.Client,
) *LastChanges {
	return &LastChanges{find: find, client: client, cache: flight.New[verdict.Object, *Change](MaxFindings, lastChangeAge)}
}

// Of returns the newest change of an object's specification, according to its managedFields, or nil if unknown. Changes
// by components of Kubernetes do not count.
func (l *LastChanges) Of(ctx context.Context, o verdict.Object) *Change {
	isFresh := func(_ *Change, readAt time.Time) bool { return time.Since(readAt) < lastChangeAge }
	change, _ := l.cache.Get(ctx, o, isFresh, func(ctx context.Context) *Change {
		r, err := l.find(ctx, o.Resource)
		if err != nil {
			return nil
		}
		by, created, err := l.client.SpecAuthor(ctx, r.GVR(), o.Namespace, o.Name, isController)
		if err != nil || by == nil {
			return nil // Ignore the error: the finding is then shown without a last change.
		}
		change := &Change{
			Object: o, At: by.Time, By: by.Manager, IsCreation: !by.Time.After(created.Add(creationTolerance)),
		}
		if !change.IsCreation {
			change.What = partsText(by.Parts)
		}
		return change
	})
	return change
}

// partsText returns the changed parts of an object, such as "data". If one of several parts has changed, and it is
// unknown which, their names are separated by slashes. The text is empty for the spec.
func partsText(parts []string) string {
	if text := strings.Join(parts, "/"); text != "spec" {
		return text
	}
	return ""
}
