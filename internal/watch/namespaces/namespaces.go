// Package namespaces lists the namespaces of a cluster, and checks whether single namespaces exist.
package namespaces

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/flight"
	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer/pool"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer/shared"
	"github.com/glasshouse-project/glasshouse/internal/watch/listwatch"
	"github.com/glasshouse-project/glasshouse/internal/watch/permit"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

const (
	// existenceMaxAge is how long Existence caches whether a namespace exists.
	existenceMaxAge      = 3 * time.Second
	maxCachedNamespaces  = 1000
	maxCheckedNamespaces = 10
	// checkTimeout is the maximum time for all existence checks of one query. The result of the query waits for these
	// checks.
	checkTimeout = 2 * time.Second
	listWait     = 2 * time.Second
)

// Namespaces knows the namespaces of a cluster.
type Namespaces struct {
	// Existence caches for each namespace whether it exists. The value is nil if the namespace exists, and otherwise an
	// error.
	Existence        *flight.Cache[string, error]
	pool             *pool.Pool
	defaultNamespace string // The default namespace of the kubeconfig; can be empty.
	get              func(ctx context.Context, namespace string) error
	last             atomic.Pointer[[]string] // The newest list of namespaces; nil before the first one. Read-only.
}

// New returns the Namespaces of a cluster. The function get must request a Namespace from the API server, and return an
// error if it does not exist.
func New(pool *pool.Pool, defaultNamespace string, get func(context.Context, string) error) *Namespaces {
	existence := flight.New[string, error](maxCachedNamespaces, existenceMaxAge)
	return &Namespaces{Existence: existence, pool: pool, defaultNamespace: defaultNamespace, get: get}
}

// List returns the cluster's namespaces, or those of the last successful list. The program watches the namespaces until
// release is called.
func (n *Namespaces) List(ctx context.Context) (names []string, release func()) {
	namespaces := resource.Namespaces()
	i, release, err := n.pool.Acquire( //nolint:contextcheck // An informer outlives the request that starts it.
		listwatch.Scope{Resource: namespaces.GVR()}, namespaces, informer.Owner{},
	)
	if err != nil {
		return nil, func() {}
	}
	i.Wait(ctx, listWait, func() bool { return i.CurrentState(nil).Status.State != status.Syncing })
	if listing, now := shared.Of(i).Objects(&query.Filter{}, 0); now.Synced {
		for _, o := range listing.Objects {
			names = append(names, o.Name())
		}
		n.last.Store(&names)
		return names, release
	}
	if cached := n.last.Load(); cached != nil {
		names = *cached
	}
	return names, release
}

// Known returns the namespaces for which a user's permissions are reviewed: the known namespaces of the cluster, and
// the default namespace of the kubeconfig.
func (n *Namespaces) Known(ctx context.Context) ([]string, error) {
	names, release := n.List(ctx)
	release()
	if n.last.Load() == nil {
		current := status.Status{Reason: "The namespaces have not been listed yet."}
		if i := n.pool.Find(listwatch.Scope{Resource: resource.Namespaces().GVR()}); i != nil {
			current = i.CurrentState(nil).Status
		}
		if !current.State.IsRefused() {
			const brief = "The namespaces of the cluster are not known yet. Select namespaces with ns."
			return nil, &status.Problem{
				Cause: status.Unavailable, Title: "Namespaces unknown", Detail: brief + " " + current.Reason, PublicDetail: brief,
			}
		}
	}
	if n.defaultNamespace != "" && !slices.Contains(names, n.defaultNamespace) {
		names = slices.Sorted(slices.Values(append(slices.Clone(names), n.defaultNamespace)))
	}
	return names, nil
}

// CheckExist returns an error if one of the first maxCheckedNamespaces names is not the name of a namespace. It skips
// namespaces that the viewer may not read.
func (n *Namespaces) CheckExist(ctx context.Context, checker *permit.Checker, names []string) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	isFresh := func(_ error, startedAt time.Time) bool { return time.Since(startedAt) < existenceMaxAge }
	for _, ns := range names[:min(len(names), maxCheckedNamespaces)] {
		filter := &query.Filter{Name: ns}
		if checker.Restrict(ctx, resource.Namespaces(), filter, authz.VerbGet, authz.TTLRequest()) != nil {
			continue
		}
		check := func(ctx context.Context) error { return n.checkExists(ctx, ns) }
		if err, ok := n.Existence.Get(ctx, ns, isFresh, check); ok && err != nil {
			return err
		}
	}
	return nil
}

func (n *Namespaces) checkExists(ctx context.Context, ns string) error {
	err := n.get(ctx, ns)
	if p := new(status.Problem); err != nil && errors.As(status.FromRequest(err, ns), &p) && p.Cause == status.Unknown {
		return status.Unknownf("Unknown namespace",
			"Namespace %q does not exist. core/v1/namespaces lists those that exist.", ns)
	}
	return nil
}
