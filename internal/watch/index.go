package watch

import (
	"context"

	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/related"
)

type (
	// Index reads the index of references and verdicts with the permissions of one viewer. Callers of its method Keep get
	// a release function. Until they call it, the cluster keeps the index up to date.
	Index = related.Index
	// Neighbors are the objects that are related to one object. They are read from the index of references.
	Neighbors = related.Neighbors
)

// IndexOf returns the Index of a cluster for a viewer.
func IndexOf(a *Access) Index {
	return related.New(a.opener(), func(ctx context.Context, ref, namespace, name string) (*query.Filter, error) {
		o, err := a.readable(ctx, ref, namespace, name)
		if err != nil {
			return nil, err
		}
		return o.permitted, nil
	})
}
