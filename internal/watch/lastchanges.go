package watch

import (
	"context"
	"slices"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/overview"
	"github.com/glasshouse-project/glasshouse/internal/watch/permit"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

// maxListedNamespaces is the maximum number of namespaces that LastChangesOf lists one by one. If there are more, it
// lists all namespaces together. If this is not permitted, it lists only the first of them.
const maxListedNamespaces = 20

// LastChangesOf returns who last changed the specifications of the objects of a resource, and when. It reads them from
// the API server, because the cache contains no managedFields. Guests get an error, because they may see only changes
// that occur during their visit.
func LastChangesOf(ctx context.Context, a *Access, q query.Query) (*overview.ChangeList, error) {
	if a.IsGuest() {
		return nil, permit.NotShared()
	}
	r, err := a.Resource(ctx, q.Resource)
	if err != nil {
		return nil, err
	}
	filter, err := a.checker.Filter(ctx, &q, r, authz.VerbList, authz.TTLRequest())
	if err != nil {
		return nil, err
	}
	namespaces := filter.Namespaces
	if i := a.cluster.find(a.checker.Viewer.InformerScope(r, "")); i != nil {
		if listed := i.VisibleState(filter).Status.Namespaces; len(listed) > 0 {
			namespaces = listed // The program possibly cannot list the others.
		}
	}
	all := []string{""}
	isTruncated := len(namespaces) > maxListedNamespaces && a.checker.PermitList(ctx, r, filter, all) != nil
	switch {
	case isTruncated:
		namespaces = namespaces[:maxListedNamespaces]
	case len(namespaces) == 0 || len(namespaces) > maxListedNamespaces:
		namespaces = all
	}
	if err := a.checker.PermitList(ctx, r, filter, namespaces); err != nil {
		return nil, err
	}
	list, err := a.cluster.lastChanges.List(ctx, r, namespaces)
	if err != nil {
		return nil, status.FromRequest(err, r.Plural())
	}
	permitted := *list
	permitted.IsTruncated = list.IsTruncated || isTruncated
	permitted.Items = slices.DeleteFunc(slices.Clone(list.Items), func(c overview.ObjectChange) bool {
		return !filter.IncludesNamespace(c.Namespace)
	})
	return &permitted, nil
}
