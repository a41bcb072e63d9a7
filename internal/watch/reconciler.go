package watch

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

// columnsEvery is the shortest time between two lists of a namespace whose columns differ from those of another
// namespace. During an upgrade, API servers of two versions may print different columns for as long as both serve
// requests.
const columnsEvery = 10 * time.Second

// reconciler is the reconciler of an informer: it starts and stops feeds (list and watch of one namespace, or of all)
// to match permissions and memory. Only the goroutine of run may use it.
type reconciler struct {
	*informer

	// The reviewed permissions by namespace; the key "" means all namespaces together.
	access            map[string]namespaceAccess
	identity          string       // The identity of the definition for which the feeds were started.
	nextAttempt       time.Time    // The earliest time to retry a resource that the API server did not find.
	releaseNamespaces func()       // Releases the informer of the Namespace objects.
	nextReview        time.Time    // When the next permission review is due.
	counted           accessCounts // This informer's share of the reviewer's counts.
	hasLeftoverRows   bool         // Feeds were stopped whose rows may still be in the journal.
	isStatusChanged   bool         // The state has changed and readers must be informed.
	loggedState       status.State // The last state that was logged while there was no feed.

	estimates map[string]estimate // The memory estimates by namespace; the key "" means all namespaces together.
	probes    sizeProbes
}

// run lists and watches what the program has permission for, until ctx ends. Then it closes the journal.
func (i *informer) run(ctx context.Context) {
	defer i.Close()
	s := &reconciler{
		informer: i, access: make(map[string]namespaceAccess), estimates: make(map[string]estimate),
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

// logStatus logs the state and its reason if there is no feed.
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
		s.log.Warn("not watched", "state", current.State, "reason", current.Reason)
	}
	s.loggedState = current.State
}

// awaitFeeds waits until all feeds have stopped. They stop when their context ends.
func (s *reconciler) awaitFeeds() {
	s.mu.Lock()
	feeds := slices.Collect(maps.Values(s.feeds))
	s.mu.Unlock()
	for _, f := range feeds {
		<-f.stopped
	}
}

func everyFeed(*feed) bool { return true }

// reconcile makes the feeds match permissions and memory: it starts missing feeds, stops unwanted ones, and removes
// rows that no feed covers any more.
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
	isRevoked := false // A permission was revoked. A deleted namespace does not count.
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
		// isRequested means that a reader requested a namespace while its feed was being stopped.
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
// budget.
func (s *reconciler) setReconciled(all bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unreconciled == all {
		s.unreconciled, s.isStatusChanged = !all, true
	}
}

// pollReasonFor returns the reason why the resource must be polled (listed again and again). It returns "" if the
// resource can be watched.
func (s *reconciler) pollReasonFor(r authz.Permissions) string {
	switch {
	case !s.resource.Can("watch"):
		return "This API does not support watches."
	case !r.Watch:
		return notWatchable + "No RBAC rule allows it."
	}
	return ""
}

// isServed reports whether the cluster serves the resource. If it no longer does, isServed stops the feeds and removes
// the rows. A resource that is served or defined again starts from an empty list.
func (s *reconciler) isServed(ctx context.Context) bool {
	now := s.served(ctx)
	s.mu.Lock()
	isAbsent := s.status.State == status.Absent
	s.mu.Unlock()
	switch {
	case !now.known:
		return !isAbsent
	case now.resource == nil && !isAbsent && s.isStillListed(ctx):
		return true // Discovery omits the resource by mistake, or is more recent than the API server.
	case now.resource == nil:
		s.setAbsent(fmt.Sprintf("The cluster does not serve %s.", s.scope.Resource.GroupResource()))
		s.nextAttempt = time.Time{}
		return false
	case now.identity == s.identity && isAbsent && !s.isServedAgain(ctx):
		return false
	case now.identity != s.identity && now.identity != "" && s.identity != "",
		now.resource.Namespaced != s.resource.Namespaced:
		s.endFeeds(everyFeed)
		s.clearRows()
	}
	if isAbsent {
		s.setStatus(status.Status{State: status.Syncing, Since: time.Now()})
	}
	s.identity, s.resource = cmp.Or(now.identity, s.identity), now.resource
	return true
}

// isServedAgain reports whether the API server serves the resource again, after it returned "not found" although
// discovery lists the resource. It sends a request at most once per authz.ReviewEvery, and returns false in between.
func (s *reconciler) isServedAgain(ctx context.Context) bool {
	if time.Now().Before(s.nextAttempt) {
		return false
	}
	s.nextAttempt = time.Now().Add(authz.ReviewEvery)
	return s.tryList(ctx, "") != status.Absent
}

// setAbsent stops all feeds and removes all rows, because the cluster does not serve the resource any more.
func (s *reconciler) setAbsent(reason string) {
	s.mu.Lock()
	known := s.status.State == status.Absent
	s.mu.Unlock()
	// Set the status first, so that no other status is reported when the feeds have stopped.
	s.setStatus(status.Status{State: status.Absent, Since: time.Now(), Reason: reason})
	if s.endFeeds(everyFeed) || !known {
		s.clearRows()
	}
}

// clearRows removes all rows and memory estimates, because the objects of another definition are different objects, of
// different size. Later rows belong to a new epoch, so older cursors are invalid.
func (s *reconciler) clearRows() {
	clear(s.estimates)
	s.probes.drop(func(string) bool { return true })
	s.evictAll()
}

// setStatus sets the status that is reported while the informer has no feed.
func (s *reconciler) setStatus(status status.Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status.State != status.State {
		s.status, s.isStatusChanged = status, true
		clear(s.denied)
	}
}

// desiredNamespaces returns the namespaces that need a feed, with the permissions for each. The key "" means one feed
// for all namespaces.
func (s *reconciler) desiredNamespaces(ctx context.Context) map[string]authz.Permissions {
	s.expireLeases(s.pool.linger)
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
			"this one is watched when another one is no longer used.", maxLeases, s.scope.Resource.GroupResource()))
	}
	permitted := s.evaluate(ctx, names)
	for _, ns := range slices.Sorted(maps.Keys(permitted)) {
		if !s.fits(ctx, ns) {
			delete(permitted, ns)
		}
	}
	return permitted
}

// candidates returns the namespaces that may each get a feed: those that readers requested, and all known namespaces if
// the program is not permitted to list all of them together. requestedOnly means that it may, so that only requested
// ones are returned. waiting contains requested namespaces beyond the limit.
func (s *reconciler) candidates(ctx context.Context, requestedOnly bool) (names, waiting []string) {
	names, waiting = s.splitLeases()
	if !requestedOnly {
		known, release := s.namespaces(ctx)
		s.releaseNamespaces()
		s.releaseNamespaces = release
		names = append(names, known...)
		if s.defaultNamespace != "" {
			names = append(names, s.defaultNamespace)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return names, slices.DeleteFunc(waiting, func(ns string) bool {
		_, known := slices.BinarySearch(names, ns)
		return known
	})
}

// forgetExcept drops the permissions, estimates and pages of all namespaces except those in keep, which must be sorted.
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

// prepare creates the feed of a namespace, unless a running one exists. If the API server refused the namespace before,
// that status stays until the server has responded. It does not stay if the new feed replaces feeds that showed rows.
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
	f := &feed{informer: s.informer, namespace: namespace, pollReason: s.pollReasonFor(r)}
	if e, isNew := s.estimates[namespace]; isNew {
		f.reserved.bytes = e.bytes
	}
	delete(s.estimates, namespace) // The rows of a feed that starts again are in memory already.
	run, err := s.prepareFeed(ctx, f, current)
	if err != nil {
		f.releaseReservation()
		s.setStatus(status.Status{State: status.Failed, Since: time.Now(), Reason: err.Error()})
		return
	}
	prepared[f] = run
}

// endFeeds stops the feeds for which matches() is true, and waits for them. It reports whether there were any.
func (s *reconciler) endFeeds(matches func(*feed) bool) bool {
	stopped := s.stopFeeds(matches)
	s.swapFeeds(stopped, nil)
	return len(stopped) > 0
}

// stopFeeds stops the feeds for which matches() is true, waits for them, and returns them. They retain their last
// status, unless it is Live.
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
