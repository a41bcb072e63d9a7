// Package reconcile decides which feeds (lists and watches) an informer needs. It needs one feed for all namespaces, if
// this is permitted and fits into memory. Otherwise, it needs one feed for each permitted namespace that fits.
package reconcile

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer/lease"
	"github.com/glasshouse-project/glasshouse/internal/watch/listwatch"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

// reconcileMinimum is the minimum time between two runs of the reconciler that start because access reviews are due.
const reconcileMinimum = time.Second

// Definition is what the newest discovery reports about a resource.
type Definition struct {
	Known    bool               // False if discovery failed. The other fields are then unknown.
	Resource *resource.Resource // nil if the cluster does not serve the resource.
	Identity string             // UID of the CRD, or empty. If a CRD is deleted and created again, the UID changes.
}

// Options are the settings of a Reconciler, and the functions with which it reads other data of the cluster.
type Options struct {
	Client  *listwatch.Client
	Reviews *authz.Reviewer
	Linger  time.Duration // How long a namespace keeps its own watch after its last reader has closed.
	Served  func(context.Context) Definition
	// RefreshSoon requests a discovery, because the list of served resources has possibly changed. It must not block.
	RefreshSoon func()
	// Namespaces returns the names of the last known namespaces. It also keeps the list of namespaces up to date until
	// release is called.
	Namespaces func(ctx context.Context) (names []string, release func())
	// DefaultNamespace is the namespace of the kubeconfig's context, or empty.
	DefaultNamespace string
}

// Reconciler starts and stops the feeds of an informer to match the permissions and the free memory. Only the goroutine
// that runs Run uses it.
type Reconciler struct {
	options  Options
	informer *informer.Informer
	feeds    *informer.Feeds
	scope    listwatch.Scope
	resource *resource.Resource

	access            accessTable
	identity          string
	isAbsent          bool // The API server does not serve the resource.
	nextAttempt       time.Time
	releaseNamespaces func()
	estimates         map[string]estimate
	isIncomplete      bool // The memory estimate of at least one namespace has not arrived yet.
	probes            sizeProbes
}

// New returns a Reconciler of the informer i. Each informer must have only one Reconciler.
func New(i *informer.Informer, resource *resource.Resource, options Options) *Reconciler {
	return &Reconciler{
		options: options, informer: i, feeds: i.Feeds(), scope: i.Scope, resource: resource,
		estimates: make(map[string]estimate),
		access: accessTable{
			reviews: options.Reviews, client: options.Client, scope: i.Scope, byNamespace: make(map[string]namespaceAccess),
		},
		probes: sizeProbes{
			client: options.Client, scope: i.Scope, arrived: i.RequestReconcile, probes: make(map[string]*sizeProbe),
		},
		releaseNamespaces: func() {},
	}
}

// Run lists and watches everything that the program may list and watch, until ctx ends. It then closes the informer.
func (r *Reconciler) Run(ctx context.Context) {
	defer r.informer.Close()
	defer func() { r.releaseNamespaces() }()
	defer r.access.count(nil)
	defer r.probes.running.Wait()
	defer r.feeds.Wait()
	for ctx.Err() == nil {
		r.reconcile(ctx)
		r.informer.Trim()
		r.feeds.Report()
		select {
		case <-ctx.Done():
		case <-r.feeds.Requests:
		case <-time.After(min(max(time.Until(r.access.nextReview), reconcileMinimum), authz.ReviewEvery)):
		}
	}
}

func always(string) bool { return true }

// reconcile starts and stops feeds to match the permissions and the free memory.
func (r *Reconciler) reconcile(ctx context.Context) {
	r.access.nextReview = time.Now().Add(authz.ReviewEvery)
	if !r.isServed(ctx) || !r.dropForbidden() || r.enforceBudget() {
		return
	}
	r.dropOversized()
	desired := r.desiredNamespaces(ctx)
	if ctx.Err() != nil {
		return
	}
	plan := informer.Plan{
		PollReasons: make(map[string]string, len(desired)), Reserve: r.takeReservation, IsComplete: !r.isIncomplete,
	}
	for ns, permissions := range desired {
		plan.PollReasons[ns] = r.pollReasonFor(permissions)
	}
	for ns := range r.feeds.Running() {
		_, isDesired := desired[ns]
		plan.IsRevoked = plan.IsRevoked || !isDesired && r.access.has(ns)
	}
	r.feeds.Apply(ctx, &plan)
}

// pollReasonFor returns why the resource must be polled (listed repeatedly), or "" if it can be watched.
func (r *Reconciler) pollReasonFor(p authz.Permissions) string {
	switch {
	case !r.resource.Can("watch"):
		return "This API does not support watches."
	case !p.Watch:
		return informer.NotWatchable + "No RBAC rule allows it."
	}
	return ""
}

// isServed reports whether the cluster serves the resource. If the cluster does not serve it, isServed stops the feeds
// and removes the rows.
func (r *Reconciler) isServed(ctx context.Context) bool {
	now := r.options.Served(ctx)
	switch {
	case !now.Known:
		return !r.isAbsent
	case now.Resource == nil && !r.isAbsent && r.isStillListed(ctx):
		return true // Lists do not fail with "not found", so discovery is wrong or premature.
	case now.Resource == nil:
		r.setAbsent(fmt.Sprintf("The cluster does not serve %s.", r.resource.Plural()))
		r.nextAttempt = time.Time{}
		return false
	case now.Identity == r.identity && r.isAbsent && !r.isServedAgain(ctx):
		return false
	// The resource was defined again, for example because its CRD was deleted and created again.
	case now.Identity != r.identity && now.Identity != "" && r.identity != "",
		now.Resource.Namespaced != r.resource.Namespaced:
		r.feeds.End()
		r.clearRows()
	}
	if r.isAbsent {
		r.isAbsent = false
		r.feeds.SetStatus(status.Syncing, "")
	}
	r.identity, r.resource = cmp.Or(now.Identity, r.identity), now.Resource
	return true
}

// isServedAgain reports whether a resource that was absent is served again. At most once per authz.ReviewEvery, it
// sends a list request to find out. In between, it returns false.
func (r *Reconciler) isServedAgain(ctx context.Context) bool {
	if time.Now().Before(r.nextAttempt) {
		return false
	}
	r.nextAttempt = time.Now().Add(authz.ReviewEvery)
	state, _ := tryList(ctx, r.options.Client, r.scope, "")
	return state != status.Absent
}

// isStillListed reports whether the API server still serves a resource that has feeds. It sends a short list request.
// If the request fails with an error other than "not found", the resource counts as served.
func (r *Reconciler) isStillListed(ctx context.Context) bool {
	for ns := range r.feeds.Running() {
		state, _ := tryList(ctx, r.options.Client, r.scope, ns)
		return state != status.Absent
	}
	return false
}

func (r *Reconciler) setAbsent(reason string) {
	// Set this status before the feeds stop. Otherwise, readers could get another status in between.
	r.feeds.SetStatus(status.Absent, reason)
	if r.feeds.End() || !r.isAbsent {
		r.clearRows()
	}
	r.isAbsent = true
}

// clearRows removes all rows and memory estimates. It is called if the resource is removed, defined again, or exceeds
// the memory budget.
func (r *Reconciler) clearRows() {
	clear(r.estimates)
	r.probes.drop(always)
	r.feeds.Clear()
}

// dropForbidden stops each feed whose list or watch the API server refused, and removes its rows. If the API server
// reports that the resource itself is not found, dropForbidden sets the status Absent and returns false.
func (r *Reconciler) dropForbidden() bool {
	refused := make(map[string]status.Status)
	for ns, current := range r.feeds.Running() {
		if current.State.IsRefused() {
			refused[ns] = current
		}
		if current.State == status.Absent {
			r.options.RefreshSoon()
		}
	}
	if refused[""].State == status.Absent {
		r.nextAttempt = time.Now().Add(authz.ReviewEvery)
		r.setAbsent(fmt.Sprintf("The API server returned 404 (Not Found) for the list of %s.", r.resource.Plural()))
		return false
	}
	for ns, current := range refused {
		r.access.refuse(ns, current.Reason)
	}
	r.feeds.Drop(refused)
	return true
}

// desiredNamespaces returns the namespaces that need a feed, with the permissions in each of them. The key "" is for
// one feed for all namespaces.
func (r *Reconciler) desiredNamespaces(ctx context.Context) map[string]authz.Permissions {
	r.isIncomplete = false
	r.feeds.ExpireLeases(r.options.Linger)
	all, denied := r.access.evaluate(ctx, []string{""})
	r.feeds.Deny(status.Forbidden, denied)
	allowed := len(all) == 1
	if allowed && r.fits(ctx, "") {
		r.releaseNamespaces()
		r.releaseNamespaces = func() {}
		r.forgetExcept(nil)
		return all
	}
	if !r.resource.Namespaced {
		return nil
	}
	// If the program may watch all namespaces, but they do not fit into memory, only the namespaces that readers request
	// can get a feed.
	names, waiting := r.candidates(ctx, allowed)
	r.forgetExcept(slices.Sorted(slices.Values(slices.Concat(names, waiting))))
	for _, ns := range waiting {
		r.fail(ns, fmt.Sprintf("%d namespaces of %s are watched one by one, which is the maximum: "+
			"this namespace is watched when another namespace is no longer used.",
			lease.Max, r.resource.Plural()))
	}
	permitted, denied := r.access.evaluate(ctx, names)
	r.feeds.Deny(status.Forbidden, denied)
	for _, ns := range slices.Sorted(maps.Keys(permitted)) {
		if !r.fits(ctx, ns) {
			delete(permitted, ns)
		}
	}
	return permitted
}

// candidates returns the names of the namespaces that can get a feed: those that readers request and, unless
// requestedOnly is true, the known ones. waiting contains further requested namespaces, which exceed lease.Max.
func (r *Reconciler) candidates(ctx context.Context, requestedOnly bool) (names, waiting []string) {
	names, waiting = r.feeds.SplitLeases()
	if !requestedOnly {
		known, release := r.options.Namespaces(ctx)
		r.releaseNamespaces()
		r.releaseNamespaces = release
		names = append(names, known...)
		if r.options.DefaultNamespace != "" {
			names = append(names, r.options.DefaultNamespace)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return names, slices.DeleteFunc(waiting, func(ns string) bool {
		_, known := slices.BinarySearch(names, ns)
		return known
	})
}

// forgetExcept deletes the permissions, estimates, probes and statuses of namespaces that are not in sortedNamespaces.
// It keeps those with the key "" (the feed for all namespaces).
func (r *Reconciler) forgetExcept(sortedNamespaces []string) {
	isOther := func(ns string) bool {
		_, isKept := slices.BinarySearch(sortedNamespaces, ns)
		return ns != "" && !isKept
	}
	r.access.forget(isOther)
	maps.DeleteFunc(r.estimates, func(ns string, _ estimate) bool { return isOther(ns) })
	r.probes.drop(isOther)
	r.feeds.Forget(isOther)
}
