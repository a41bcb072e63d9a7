package watch

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/cursor"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer/shared"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"
)

// openedQuery is a query whose permissions were checked. Its informer runs until the function release is called.
type openedQuery struct {
	access   *Access
	query    *query.Query
	resource *resource.Resource
	filter   *query.Filter
	informer *shared.Informer
	release  func()
}

// open checks the viewer's permission for the verb, and opens the informer from which the query reads.
func (a *Access) open(
	ctx context.Context, q *query.Query, verb authz.Verb, ttl authz.DecisionTTL,
) (*openedQuery, error) {
	resource, err := a.Resource(ctx, q.Resource)
	if err != nil {
		return nil, err
	}
	filter, err := a.checker.Filter(ctx, q, resource, verb, ttl)
	if err != nil {
		return nil, err
	}
	return a.acquire(q, resource, filter) //nolint:contextcheck // An informer outlives the reader that starts it.
}

// acquire opens the informer from which a query reads. The parameter filter is the result of permit.Checker.Filter.
func (a *Access) acquire(q *query.Query, resource *resource.Resource, filter *query.Filter) (*openedQuery, error) {
	scope := a.checker.Viewer.InformerScope(resource, filter.Fields)
	// A query with Watched starts no informer.
	if q.Watched {
		running := a.cluster.find(scope)
		if running == nil {
			return nil, notWatched(resource)
		}
		return &openedQuery{a, q, resource, filter, running, func() {}}, nil
	}
	var by informer.Owner
	if scope.Fields != "" {
		by = a.checker.Viewer.Owner()
	}
	informer, release, err := a.cluster.pool.Acquire(scope, resource, by)
	if err != nil {
		return nil, err
	}
	releaseLeases, err := informer.AcquireLeases(
		slices.Concat(filter.Named, filter.PermittedNamespaces), len(filter.PermittedNamespaces) == 0,
	)
	if err != nil {
		release()
		return nil, err
	}
	releaseVerdicts := a.cluster.acquireVerdicts(resource)
	releaseAll := sync.OnceFunc(func() { releaseVerdicts(); releaseLeases(); release() })
	return &openedQuery{a, q, resource, filter, shared.Of(informer), releaseAll}, nil
}

func notWatched(r *resource.Resource) *status.Problem {
	return status.Unavailablef("Not watched",
		"%s has no readers now; subscribe without watched to start a watch.", r.Ref())
}

// cursor returns the encrypted position in the changes from which a subscription can resume after a snapshot.
func (o *openedQuery) cursor(version int, offset uint64) string {
	cipher, epoch := o.cursorCipher(), o.informer.EpochOf(version)
	if o.filter.IsRestricted {
		restricted := cipher.EncryptRestricted(epoch, offset, time.Now())
		return string(restricted.Append(nil))
	}
	return string(cipher.Append(nil, epoch, offset))
}

// cursorCipher returns the key for the viewer's cursors. After a change of permissions, older cursors are invalid.
func (o *openedQuery) cursorCipher() cursor.Cipher {
	q, f := o.query, o.filter
	return o.access.cluster.cursors.Cipher(fmt.Sprintf(
		"%q %q %q %t %q %q %q %q %v", o.access.checker.Viewer.Key(),
		q.Resource, f.Namespaces, f.IsRestricted, q.Labels, q.Fields, q.Name, q.Text, o.informer.Scope,
	))
}

// checkNamespaces returns an error if a named namespace does not exist. It skips namespaces that may not be read.
func (o *openedQuery) checkNamespaces(ctx context.Context) error {
	return o.access.cluster.namespaces.CheckExist(ctx, &o.access.checker, o.filter.Named)
}

func (o *openedQuery) newReader(view stream.View) *stream.Reader {
	a, q := o.access, o.query
	options := stream.Options{
		Informer: o.informer, Filter: o.filter, View: view, GuestMask: a.checker.Viewer.GuestMask(o.resource),
		Cipher: o.cursorCipher(), Check: o.checkNamespaces,
		EndError: stream.ErrClosed, AcquireScan: a.AcquireProcessor, Every: q.Every, FanOut: a.options.FanOut,
		Buffers: &a.cluster.buffers, Slots: a.slots, Reserve: a.options.Reserve, Cache: &a.cluster.encodedCache,
		Window: q.Window, Owner: a.checker.Viewer.Owner(),
	}
	if q.Watched {
		options.EndError = notWatched(o.resource)
	}
	if q.Name != "" && o.resource.Namespaced == (len(q.Namespaces) == 1) {
		options.Key = informer.Key(strings.Join(q.Namespaces, ""), q.Name)
	}
	return stream.New(&options)
}
