// Package opened reads the results of queries whose permissions were checked.
package opened

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/cursor"
	"github.com/glasshouse-project/glasshouse/internal/watch/event"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer/pool"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer/shared"
	"github.com/glasshouse-project/glasshouse/internal/watch/inherit"
	"github.com/glasshouse-project/glasshouse/internal/watch/inherit/plan"
	"github.com/glasshouse-project/glasshouse/internal/watch/listwatch"
	"github.com/glasshouse-project/glasshouse/internal/watch/namespaces"
	"github.com/glasshouse-project/glasshouse/internal/watch/permit"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"
)

// Deps is what all Openers of a cluster share.
type Deps struct {
	Pool       *pool.Pool
	Verdicts   *inherit.Engine // Nil if objects inherit no verdicts.
	Namespaces *namespaces.Namespaces
	Cursors    cursor.Key
	Cache      *event.Cache
	Buffers    sync.Pool
}

// Find returns the running informer of a scope, or nil.
func (d *Deps) Find(scope listwatch.Scope) *shared.Informer { return shared.Of(d.Pool.Find(scope)) }

// keepVerdicts keeps the inherited verdicts of a resource up to date until release is called.
func (d *Deps) keepVerdicts(r *resource.Resource) (release func()) {
	if d.Verdicts == nil || !plan.Covers(r) {
		return func() {}
	}
	return d.Verdicts.Acquire()
}

// An Opener opens queries with the permissions of one viewer.
type Opener struct {
	*Deps

	Checker *permit.Checker
	Options Options
	Slots   chan struct{} // Limits the messages in memory; nil for no limit.
}

// A Query is a query whose permissions were checked. Its informer runs until the function Release is called.
type Query struct {
	Resource *resource.Resource
	Filter   *query.Filter
	Informer *shared.Informer
	Release  func()

	opener *Opener
	query  *query.Query
}

// Open checks the viewer's permission for the verb, and opens the informer from which the query reads.
func (o *Opener) Open(ctx context.Context, q *query.Query, verb authz.Verb, ttl authz.DecisionTTL) (*Query, error) {
	resource, err := o.Checker.Resource(ctx, q.Resource)
	if err != nil {
		return nil, err
	}
	filter, err := o.Checker.Filter(ctx, q, resource, verb, ttl)
	if err != nil {
		return nil, err
	}
	return o.Acquire(q, resource, filter) //nolint:contextcheck // An informer outlives the reader that starts it.
}

// With returns a query that reads from an informer that the caller has acquired.
func (o *Opener) With(
	informer *shared.Informer, q *query.Query, resource *resource.Resource, filter *query.Filter, release func(),
) *Query {
	return &Query{Resource: resource, Filter: filter, Informer: informer, Release: release, opener: o, query: q}
}

// Acquire opens the informer from which a query reads. The parameter filter is the result of permit.Checker.Filter.
func (o *Opener) Acquire(q *query.Query, resource *resource.Resource, filter *query.Filter) (*Query, error) {
	scope := o.Checker.Viewer.InformerScope(resource, filter.Fields)
	// If q.Watched is set, read only from an informer that is already running.
	if q.Watched {
		running := o.Find(scope)
		if running == nil {
			return nil, notWatched(resource)
		}
		return o.With(running, q, resource, filter, func() {}), nil
	}
	var by informer.Owner
	if scope.Fields != "" {
		by = o.Checker.Viewer.Owner()
	}
	informer, release, err := o.Pool.Acquire(scope, resource, by)
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
	releaseVerdicts := o.keepVerdicts(resource)
	releaseAll := sync.OnceFunc(func() { releaseVerdicts(); releaseLeases(); release() })
	return o.With(shared.Of(informer), q, resource, filter, releaseAll), nil
}

func notWatched(r *resource.Resource) *status.Problem {
	return status.Unavailablef("Not watched",
		"%s have no readers now; subscribe without the member watched to start a watch.", r.Plural())
}

// cursor returns the encrypted position in the changes from which a subscription can resume after a snapshot.
func (q *Query) cursor(version int, offset uint64) string {
	cipher, epoch := q.cipher(), q.Informer.EpochOf(version)
	if q.Filter.IsRestricted {
		restricted := cipher.EncryptRestricted(epoch, offset, time.Now())
		return string(restricted.Append(nil))
	}
	return string(cipher.Append(nil, epoch, offset))
}

// cipher returns the key that encrypts the viewer's cursors. The key depends on the query and on the viewer's
// permissions, so cursors are invalid after a change of permissions.
func (q *Query) cipher() cursor.Cipher {
	request, f := q.query, q.Filter
	return q.opener.Cursors.Cipher(fmt.Sprintf(
		"%q %q %q %t %q %q %q %q %v", q.opener.Checker.Viewer.Key(), request.Resource, f.Namespaces, f.IsRestricted,
		request.Labels, request.Fields, request.Name, request.Text, q.Informer.Scope,
	))
}

// checkNamespaces returns an error if a namespace in the query does not exist. It skips namespaces that the viewer may
// not read.
func (q *Query) checkNamespaces(ctx context.Context) error {
	return q.opener.Namespaces.CheckExist(ctx, q.opener.Checker, q.Filter.Named)
}

// NewReader returns a reader that sends the result of the query in the form of the given view.
func (q *Query) NewReader(view stream.View) *stream.Reader {
	o, request := q.opener, q.query
	options := stream.Options{
		Informer: q.Informer, Filter: q.Filter, View: view, GuestMask: o.Checker.Viewer.GuestMask(q.Resource),
		Cipher: q.cipher(), Check: q.checkNamespaces,
		EndError: stream.ErrClosed, AcquireScan: o.Options.AcquireProcessor, Every: request.Every,
		Buffers: &o.Buffers, Slots: o.Slots, Reserve: o.Options.Reserve, Cache: o.Cache,
		Window: request.Window, Owner: o.Checker.Viewer.Owner(),
	}
	if request.Watched {
		options.EndError = notWatched(q.Resource)
	}
	if request.Name != "" && q.Resource.Namespaced == (len(request.Namespaces) == 1) {
		options.Key = informer.Key(strings.Join(request.Namespaces, ""), request.Name)
	}
	return stream.New(&options)
}
