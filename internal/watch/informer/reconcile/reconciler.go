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
func (s *Reconciler) Run(ctx context.Context) {
	defer s.informer.Close()
	defer func() { s.releaseNamespaces() }()
	defer s.access.count(nil)
	defer s.probes.running.Wait()
	defer s.feeds.Wait()
	for ctx.Err() == nil {
		s.reconcile(ctx)
		s.informer.Trim()
		s.feeds.Report()
		select {
		case <-ctx.Done():
		case <-s.feeds.Requests:
		case <-time.After(min(max(time.Until(s.access.nextReview), reconcileMinimum), authz.ReviewEvery)):
		}
	}
}

func always(string) bool { return true }

// reconcile starts and stops feeds to match the permissions and the free memory.
func (s *Reconciler) reconcile(ctx context.Context) {
	s.access.nextReview = time.Now().Add(authz.ReviewEvery)
	if !s.isServed(ctx) || !s.dropForbidden() || s.enforceBudget() {
		return
	}
	s.dropOversized()
	desired := s.desiredNamespaces(ctx)
	if ctx.Err() != nil {
		return
	}
	plan := informer.Plan{
		PollReasons: make(map[string]string, len(desired)), Reserve: s.takeReservation, IsComplete: !s.isIncomplete,
	}
	for ns, permissions := range desired {
		plan.PollReasons[ns] = s.pollReasonFor(permissions)
	}
	for ns := range s.feeds.Running() {
		_, isDesired := desired[ns]
		plan.IsRevoked = plan.IsRevoked || !isDesired && s.access.has(ns)
	}
	s.feeds.Apply(ctx, &plan)
}

// pollReasonFor returns why the resource must be polled (listed repeatedly), or "" if it can be watched.
func (s *Reconciler) pollReasonFor(p authz.Permissions) string {
	switch {
	case !s.resource.Can("watch"):
		return "This API does not support watches."
	case !p.Watch:
		return informer.NotWatchable + "No RBAC rule allows it."
	}
	return ""
}

// isServed reports whether the cluster serves the resource. If the cluster does not serve it, isServed stops the feeds
// and removes the rows.
func (s *Reconciler) isServed(ctx context.Context) bool {
	now := s.options.Served(ctx)
	switch {
	case !now.Known:
		return !s.isAbsent
	case now.Resource == nil && !s.isAbsent && s.isStillListed(ctx):
		return true // Lists do not fail with "not found", so discovery is wrong or premature.
	case now.Resource == nil:
		s.setAbsent(fmt.Sprintf("The cluster does not serve %s.", s.scope.Resource.GroupResource()))
		s.nextAttempt = time.Time{}
		return false
	case now.Identity == s.identity && s.isAbsent && !s.isServedAgain(ctx):
		return false
	// The resource was defined again, for example because its CRD was deleted and created again.
	case now.Identity != s.identity && now.Identity != "" && s.identity != "",
		now.Resource.Namespaced != s.resource.Namespaced:
		s.feeds.End()
		s.clearRows()
	}
	if s.isAbsent {
		s.isAbsent = false
		s.feeds.SetStatus(status.Syncing, "")
	}
	s.identity, s.resource = cmp.Or(now.Identity, s.identity), now.Resource
	return true
}

// isServedAgain reports whether a resource that was absent is served again. At most once per authz.ReviewEvery, it
// sends a list request to find out. In between, it returns false.
func (s *Reconciler) isServedAgain(ctx context.Context) bool {
	if time.Now().Before(s.nextAttempt) {
		return false
	}
	s.nextAttempt = time.Now().Add(authz.ReviewEvery)
	return tryList(ctx, s.options.Client, s.scope, "") != status.Absent
}

// isStillListed reports whether the API server still serves a resource that has feeds. It sends a short list request.
// If the request fails with an error other than "not found", the resource counts as served.
func (s *Reconciler) isStillListed(ctx context.Context) bool {
	for ns := range s.feeds.Running() {
		return tryList(ctx, s.options.Client, s.scope, ns) != status.Absent
	}
	return false
}

func (s *Reconciler) setAbsent(reason string) {
	// Set this status before the feeds stop. Otherwise, readers could get another status in between.
	s.feeds.SetStatus(status.Absent, reason)
	if s.feeds.End() || !s.isAbsent {
		s.clearRows()
	}
	s.isAbsent = true
}

// clearRows removes all rows and memory estimates. It is called if the resource is removed, defined again, or exceeds
// the memory budget.
func (s *Reconciler) clearRows() {
	clear(s.estimates)
	s.probes.drop(always)
	s.feeds.Clear()
}

// dropForbidden stops each feed whose list or watch the API server refused, and removes its rows. If the API server
// reports that the resource itself is not found, dropForbidden sets the status Absent and returns false.
func (s *Reconciler) dropForbidden() bool {
	refused := make(map[string]status.Status)
	for ns, current := range s.feeds.Running() {
		if current.State.IsRefused() {
			refused[ns] = current
		}
		if current.State == status.Absent {
			s.options.RefreshSoon()
		}
	}
	if refused[""].State == status.Absent {
		s.nextAttempt = time.Now().Add(authz.ReviewEvery)
		s.setAbsent(fmt.Sprintf("The API server reports that %s is not found.", s.scope.Resource.GroupResource()))
		return false
	}
	for ns, current := range refused {
		s.access.refuse(ns, current.Reason)
	}
	s.feeds.Drop(refused)
	return true
}

// desiredNamespaces returns the namespaces that need a feed, with the permissions in each of them. The key "" is for
// one feed for all namespaces.
func (s *Reconciler) desiredNamespaces(ctx context.Context) map[string]authz.Permissions {
	s.isIncomplete = false
	s.feeds.ExpireLeases(s.options.Linger)
	all, denied := s.access.evaluate(ctx, []string{""})
	s.feeds.Deny(status.Forbidden, denied)
	allowed := len(all) == 1
	if allowed && s.fits(ctx, "") {
		s.releaseNamespaces()
		s.releaseNamespaces = func() {}
		s.forgetExcept(nil)
		return all
	}
	if !s.resource.Namespaced {
		return nil
	}
	// If the program may watch all namespaces, but they do not fit into memory, only the namespaces that readers request
	// can get a feed.
	names, waiting := s.candidates(ctx, allowed)
	s.forgetExcept(slices.Sorted(slices.Values(slices.Concat(names, waiting))))
	for _, ns := range waiting {
		s.fail(ns, fmt.Sprintf("%d namespaces of %s are watched one by one, which is the maximum: "+
			"this namespace is watched when another namespace is no longer used.",
			lease.Max, s.scope.Resource.GroupResource()))
	}
	permitted, denied := s.access.evaluate(ctx, names)
	s.feeds.Deny(status.Forbidden, denied)
	for _, ns := range slices.Sorted(maps.Keys(permitted)) {
		if !s.fits(ctx, ns) {
			delete(permitted, ns)
		}
	}
	return permitted
}

// candidates returns the names of the namespaces that can get a feed: those that readers request and, unless
// requestedOnly is true, the known ones. waiting contains further requested namespaces, which exceed lease.Max.
func (s *Reconciler) candidates(ctx context.Context, requestedOnly bool) (names, waiting []string) {
	names, waiting = s.feeds.SplitLeases()
	if !requestedOnly {
		known, release := s.options.Namespaces(ctx)
		s.releaseNamespaces()
		s.releaseNamespaces = release
		names = append(names, known...)
		if s.options.DefaultNamespace != "" {
			names = append(names, s.options.DefaultNamespace)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return names, slices.DeleteFunc(waiting, func(ns string) bool {
		_, known := slices.BinarySearch(names, ns)
		return known
	})
}

// forgetExcept deletes the permissions, estimates and probes of namespaces that are not in sortedNamespaces. It keeps
// those with the key "" (the feed for all namespaces).
func (s *Reconciler) forgetExcept(sortedNamespaces []string) {
	isOther := func(ns string) bool {
		_, isKept := slices.BinarySearch(sortedNamespaces, ns)
		return ns != "" && !isKept
	}
	s.access.forget(isOther)
	maps.DeleteFunc(s.estimates, func(ns string, _ estimate) bool { return isOther(ns) })
	s.probes.drop(isOther)
	s.feeds.Forget(isOther)
}
