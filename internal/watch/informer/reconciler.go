package informer

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"glasshouse/internal/watch/authz"
	"glasshouse/internal/watch/status"
)

// columnsEvery is the minimum time between two lists of a namespace whose columns differ from those of another
// namespace. During an upgrade, API servers of two versions can send different columns for as long as both serve
// requests. Without a minimum, the namespaces would be listed all the time.
const columnsEvery = 10 * time.Second

// reconciler starts and stops the feeds of an informer, to match permissions and memory. A feed lists and watches one
// namespace, or all namespaces. Only the goroutine of Run uses the reconciler.
type reconciler struct {
	*Informer

	// access contains the program's permissions by namespace, as last reviewed. The key "" means all namespaces
	// together.
	access            map[string]namespaceAccess
	identity          string
	nextAttempt       time.Time
	releaseNamespaces func()
	nextReview        time.Time
	counted           accessCounts
	hasLeftoverRows   bool
	isStatusChanged   bool
	loggedState       status.State

	estimates map[string]estimate
	probes    sizeProbes
}

// Run lists and watches everything that the program is permitted to, until ctx ends. Then it closes the journal.
func (i *Informer) Run(ctx context.Context) {
	defer i.Close()
	s := &reconciler{
		Informer: i, access: make(map[string]namespaceAccess), estimates: make(map[string]estimate),
		releaseNamespaces: func() {},
	}
	defer func() { s.releaseNamespaces() }()
	defer s.updateCounts(accessCounts{})
	defer s.probes.running.Wait()
	defer s.awaitFeeds()
	for ctx.Err() == nil {
		s.reconcile(ctx)
		s.Trim()
		if s.isStatusChanged {
			s.isStatusChanged = false
			s.logStatus()
			s.notify()
		}
		select {
		case <-ctx.Done():
		case <-i.reconcileRequests:
		case <-time.After(min(max(time.Until(s.nextReview), reconcileMinimum), authz.ReviewEvery)):
		}
	}
}

// logStatus logs a new state with its reason if the informer has no feed (list and watch). Each feed logs its own
// state.
func (s *reconciler) logStatus() {
	s.mu.Lock()
	current, _ := s.statusLocked(nil)
	hasNoFeed := len(s.feeds) == 0
	s.mu.Unlock()
	if !hasNoFeed {
		s.loggedState = ""
		return
	}
	if s.loggedState != current.State && current.State != status.Syncing {
		s.options.Log.Warn("the resource is not watched", "state", current.State, "reason", current.Reason)
	}
	s.loggedState = current.State
}

func (s *reconciler) awaitFeeds() {
	s.mu.Lock()
	feeds := slices.Collect(maps.Values(s.feeds))
	s.mu.Unlock()
	for _, f := range feeds {
		<-f.stopped
	}
}

func everyFeed(*feed) bool { return true }

// reconcile makes the feeds match permissions and memory. Each feed lists and watches one namespace, or all.
// reconcile starts missing feeds, stops unwanted ones, and removes rows that no feed covers any more.
func (s *reconciler) reconcile(ctx context.Context) {
	s.nextReview = time.Now().Add(authz.ReviewEvery)
	if !s.isServed(ctx) || !s.dropForbidden() || s.enforceBudget() {
		return
	}
	s.dropOversized()
	desired := s.desiredNamespaces(ctx)
	if ctx.Err() != nil {
		return
	}
	s.setReconciled(!s.probes.takeMissing())
	isRevoked := false // Set if a permission was revoked. A deleted namespace does not count.
	stopped := s.stopFeeds(func(f *feed) bool {
		rights, ok := desired[f.namespace]
		if _, known := s.access[f.namespace]; known && !ok {
			isRevoked = true
		}
		return !ok || f.state.outdated && time.Since(f.state.listedAt) >= columnsEvery ||
			f.pollReason != s.pollReasonFor(rights)
	})
	prepared := make(map[*feed]func())
	for ns, rights := range desired {
		s.prepare(ctx, ns, rights, stopped, prepared)
	}
	s.swapFeeds(stopped, prepared)
	isUnwanted := func(ns string) bool { _, ok := desired[ns]; return !ok }
	if _, all := desired[""]; !all && s.hasLeftoverRows {
		s.hasLeftoverRows = false
		// evict removes the rows of unwanted namespaces. Its result isRequested is true if a reader requests one of
		// these namespaces. The request then arrived while the feed (list and watch) of the namespace was being stopped.
		if _, isRequested := s.evict(isUnwanted); isRevoked || isRequested {
			s.resetReaders()
		}
	}
	for _, run := range prepared {
		go run()
	}
	s.isStatusChanged = s.isStatusChanged || len(prepared) > 0
}

// setReconciled records whether all namespaces that can be watched are known, and were checked against the memory
// limit.
func (s *reconciler) setReconciled(all bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unreconciled == all {
		s.unreconciled, s.isStatusChanged = !all, true
	}
}

// pollReasonFor returns the reason why the resource must be polled (listed repeatedly). It returns "" if the resource
// can be watched. r contains the permissions of this program.
func (s *reconciler) pollReasonFor(r authz.Permissions) string {
	switch {
	case !s.resource.Can("watch"):
		return "This API does not support watches."
	case !r.Watch:
		return notWatchable + "No RBAC rule allows it."
	}
	return ""
}

// isServed reports whether the cluster serves the resource. If not, isServed stops the feeds (lists and watches) and
// removes the rows. It also removes the rows if the resource was defined again, such as by a recreated CRD.
func (s *reconciler) isServed(ctx context.Context) bool {
	now := s.options.Served(ctx)
	s.mu.Lock()
	isAbsent := s.Status.State == status.Absent
	s.mu.Unlock()
	switch {
	case !now.Known:
		return !isAbsent
	case now.Resource == nil && !isAbsent && s.isStillListed(ctx):
		return true // The API server still serves it: the result of discovery is wrong or too early.
	case now.Resource == nil:
		s.setAbsent(fmt.Sprintf("The cluster does not serve %s.", s.Scope.Resource.GroupResource()))
		s.nextAttempt = time.Time{}
		return false
	case now.Identity == s.identity && isAbsent && !s.isServedAgain(ctx):
		return false
	case now.Identity != s.identity && now.Identity != "" && s.identity != "",
		now.Resource.Namespaced != s.resource.Namespaced:
		s.endFeeds(everyFeed)
		s.clearRows()
	}
	if isAbsent {
		s.setStatus(status.Status{State: status.Syncing, Since: time.Now()})
	}
	s.identity, s.resource = cmp.Or(now.Identity, s.identity), now.Resource
	return true
}

// isServedAgain reports whether the API server serves the resource again, after it returned "not found" although
// discovery lists the resource. It sends at most one request per authz.ReviewEvery, and returns false in between.
func (s *reconciler) isServedAgain(ctx context.Context) bool {
	if time.Now().Before(s.nextAttempt) {
		return false
	}
	s.nextAttempt = time.Now().Add(authz.ReviewEvery)
	return s.tryList(ctx, "") != status.Absent
}

func (s *reconciler) setAbsent(reason string) {
	s.mu.Lock()
	known := s.Status.State == status.Absent
	s.mu.Unlock()
	// Set the status before the feeds stop, so that no other status is reported in between.
	s.setStatus(status.Status{State: status.Absent, Since: time.Now(), Reason: reason})
	if s.endFeeds(everyFeed) || !known {
		s.clearRows()
	}
}

// clearRows removes all rows and memory estimates, because a new definition of the resource has different objects.
// Later rows belong to a new epoch, in which older cursors (positions in the changes) are invalid.
func (s *reconciler) clearRows() {
	clear(s.estimates)
	s.probes.drop(func(string) bool { return true })
	s.evictAll()
}

// setStatus sets the status that is reported while the informer has no feed (list and watch). If the state stays the
// same, it changes nothing.
func (s *reconciler) setStatus(status status.Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Status.State != status.State {
		s.Status, s.isStatusChanged = status, true
		clear(s.denied)
	}
}

// desiredNamespaces returns the namespaces that need a feed (their own list and watch), with the permissions for
// each. The key "" means one feed for all namespaces.
func (s *reconciler) desiredNamespaces(ctx context.Context) map[string]authz.Permissions {
	s.expireLeases(s.options.Linger)
	all := s.evaluate(ctx, []string{""})
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
	names, waiting := s.candidates(ctx, allowed)
	s.forgetExcept(slices.Sorted(slices.Values(slices.Concat(names, waiting))))
	for _, ns := range waiting {
		s.setFailed(ns, fmt.Sprintf("%d namespaces of %s are watched one by one, which is the maximum: "+
			"this namespace is watched when another namespace is no longer used.", maxLeases, s.Scope.Resource.GroupResource()))
	}
	permitted := s.evaluate(ctx, names)
	for _, ns := range slices.Sorted(maps.Keys(permitted)) {
		if !s.fits(ctx, ns) {
			delete(permitted, ns)
		}
	}
	return permitted
}

// candidates returns the namespaces that can each get a feed (a list and watch): those that readers requested and all
// known ones. waiting contains requested namespaces beyond the maximum number. If requestedOnly is true, only
// requested namespaces are returned. This is used if all namespaces together are permitted, but do not fit into
// memory.
func (s *reconciler) candidates(ctx context.Context, requestedOnly bool) (names, waiting []string) {
	names, waiting = s.splitLeases()
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

// forgetExcept drops the permissions, estimates and size probes of some namespaces. It keeps those of the namespaces
// in keep, which must be sorted, and those for all namespaces together ("").
func (s *reconciler) forgetExcept(keep []string) {
	isOther := func(ns string) bool {
		_, isKept := slices.BinarySearch(keep, ns)
		return ns != "" && !isKept
	}
	maps.DeleteFunc(s.access, func(ns string, _ namespaceAccess) bool { return isOther(ns) })
	maps.DeleteFunc(s.estimates, func(ns string, _ estimate) bool { return isOther(ns) })
	s.probes.drop(isOther)
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.denied, func(ns string, _ status.Status) bool { return isOther(ns) })
}

// prepare creates the feed (list and watch) of a namespace if none is running. If the API server refused the
// namespace before, the status of the refusal stays until the API server responds again. But if the new feed replaces
// feeds with rows, its status is Syncing.
func (s *reconciler) prepare(
	ctx context.Context, namespace string, r authz.Permissions, stopped map[*feed]bool, prepared map[*feed]func(),
) {
	s.mu.Lock()
	running := s.feeds[namespace]
	current, denied := s.denied[namespace]
	if !denied || len(stopped) > 0 {
		current = status.Status{State: status.Syncing, Since: time.Now()}
	}
	s.mu.Unlock()
	if running != nil && !stopped[running] {
		return
	}
	f := &feed{Informer: s.Informer, namespace: namespace, pollReason: s.pollReasonFor(r)}
	if f.reserved = s.estimates[namespace].reserved; f.reserved == nil {
		f.reserved = s.Account.Reserve(0)
	}
	delete(s.estimates, namespace)
	run, err := s.prepareFeed(ctx, f, current)
	if err != nil {
		f.reserved.Release()
		s.setStatus(status.Status{State: status.Failed, Since: time.Now(), Reason: err.Error()})
		return
	}
	prepared[f] = run
}

// endFeeds stops the feeds (lists and watches) for which the function matches returns true, and waits until they have
// stopped. It reports whether there were any.
func (s *reconciler) endFeeds(matches func(*feed) bool) bool {
	stopped := s.stopFeeds(matches)
	s.swapFeeds(stopped, nil)
	return len(stopped) > 0
}

// stopFeeds stops the feeds (lists and watches) for which the function matches returns true, waits until they have
// stopped, and returns them. They retain their last status, except Live, which becomes Syncing.
func (s *reconciler) stopFeeds(matches func(*feed) bool) (stopped map[*feed]bool) {
	stopped = make(map[*feed]bool)
	s.mu.Lock()
	for _, f := range s.feeds {
		if matches(f) {
			stopped[f] = true
			f.state.markStopping(time.Now())
		}
	}
	s.mu.Unlock()
	for f := range stopped {
		f.stop()
	}
	for f := range stopped {
		<-f.stopped
	}
	if len(stopped) > 0 {
		s.isStatusChanged, s.hasLeftoverRows = true, true
	}
	return stopped
}
