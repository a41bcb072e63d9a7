package watch

import (
	"context"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/fieldmanager"
	"github.com/glasshouse-project/glasshouse/internal/watch/permit"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

// maxAuthors is the maximum number of authors of an object in a response. Usually there are fewer: if the managedFields
// have more than ten entries of Update operations, the API server merges the oldest of them.
const maxAuthors = 20

// AuthorsOf returns the last authors of an object, newest first, with the parts of the object that each author owns. It
// reads them from the API server, because the cache contains no managedFields. Guests get an error, because they may
// see only changes that occur during their visit.
func AuthorsOf(ctx context.Context, a *Access, ref, namespace, name string) ([]fieldmanager.Owner, error) {
	if a.checker.Viewer.Scope != nil {
		return nil, permit.NotShared()
	}
	o, err := a.readable(ctx, ref, namespace, name)
	if err != nil {
		return nil, err
	}
	if !o.resource.Can("get") {
		return []fieldmanager.Owner{}, nil
	}
	c := a.cluster
	if !c.reviews.Allows(ctx, authz.VerbGet, o.resource, namespace, name, authz.TTLRequest()) {
		return nil, permit.Forbidden(o.resource, authz.VerbGet, &query.Filter{Namespaces: o.namespaces()})
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	owners, err := c.client.Owners(ctx, o.resource.GVR(), namespace, name)
	if err != nil {
		return nil, status.FromRequest(err, strings.TrimPrefix(namespace+"/"+name, "/"))
	}
	a.checker.RecordObject(o.resource, o.permitted, authz.VerbGet, namespace, name, func() bool { return true })
	return owners[:min(maxAuthors, len(owners))], nil
}
