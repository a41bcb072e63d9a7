package watch

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
)

// columnsEvery is the shortest time between two lists of a namespace whose columns differ from those of another
// namespace. During an upgrade, API servers of two versions may print different columns for as long as both serve
// requests.
const columnsEvery = 10 * time.Second

// settler is the reconciler of an informer: it starts and stops feeds (list and watch of one namespace, or of all) to
// match permissions and memory. Only the goroutine of run may use it.
type settler struct {
	*informer

	verdicts map[string]verdict // By namespace; "" means all.
	identity string             // The identity of the definition for which the feeds were started.
	retry    time.Time          // The earliest time to retry a resource that the API server did not find.
	release  func()             // Releases the informer of the Namespace objects.
	due      time.Time          // When the next permission review is due.
	asking   sums               // This informer's share of the reviewer's counts.
	ended    bool               // Feeds were stopped whose rows may still be in the journal.
	moved    bool               // The state has changed and readers must be informed.
	said     State              // The last state that was logged while there was no feed.

	estimates map[string]estimate // By namespace; "" means all.
	pages     pages
}

// run lists and watches what the program has permission for, until ctx ends. Then it closes the journal.
func (i *informer) run(ctx context.Context) {
	defer i.Close()
	s := &settler{
		informer: i, verdicts: make(map[string]verdict), estimates: make(map[string]estimate), release: func() {},
	}
	defer func() { s.release() }()
	defer s.count(sums{})
	defer s.pages.running.Wait()
	defer s.join()
	for ctx.Err() == nil {
		s.settle(ctx)
		s.Trim()
		if s.moved {
			s.moved = false
			s.say()
			s.tell()
		}
		select {
		case <-ctx.Done():
		case <-i.kicked:
		case <-time.After(min(max(time.Until(s.due), settleMinimum), reviewEvery)):
		}
	}
}

// say logs the state and its reason if there is no feed.
func (s *settler) say() {
	s.mu.Lock()
	status, _ := s.statusLocked(nil)
	none := len(s.feeds) == 0
	s.mu.Unlock()
	if !none {
		s.said = ""
		return
	}
	if s.said != status.State && status.State != Syncing {
		s.log.Warn("not watched", "state", status.State, "reason", status.Reason)
	}
	s.said = status.State
}

// join waits until all feeds have stopped. They stop when their context ends.
func (s *settler) join() {
	s.mu.Lock()
	feeds := slices.Collect(maps.Values(s.feeds))
	s.mu.Unlock()
	for _, f := range feeds {
		<-f.stopped
	}
}

func everyFeed(*feed) bool { return true }

// settle makes the feeds match permissions and memory: it starts missing feeds, stops unwanted ones, and removes rows
// that no feed covers any more.
func (s *settler) settle(ctx context.Context) {
	s.due = time.Now().Add(reviewEvery)
	if !s.isServed(ctx) || !s.heed() || s.restrain() {
		return
	}
	s.curb()
	want := s.wanted(ctx)
	if ctx.Err() != nil {
		return
	}
	s.settled(!s.pages.wanted())
	lost := false // A permission was revoked. A deleted namespace does not count.
	ended := s.halt(func(f *feed) bool {
		rights, ok := want[f.namespace]
		if _, known := s.verdicts[f.namespace]; known && !ok {
			lost = true
		}
		return !ok || f.now.outdated && time.Since(f.now.replaced) >= columnsEvery || f.polled != s.unwatchable(rights)
	})
	prepared := make(map[*feed]func())
	for ns, rights := range want {
		s.prepare(ctx, ns, rights, ended, prepared)
	}
	s.exchange(ended, prepared)
	unwanted := func(ns string) bool { _, ok := want[ns]; return !ok }
	if _, all := want[""]; !all && s.ended {
		s.ended = false
		// asked means that a reader requested a namespace while its feed was being stopped.
		if _, asked := s.purge(unwanted); lost || asked {
			s.beginAnew()
		}
	}
	for _, run := range prepared {
		go run()
	}
	s.moved = s.moved || len(prepared) > 0
}

// settled records whether all namespaces that can be watched are known, and were checked against the memory budget.
func (s *settler) settled(all bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unsettled == all {
		s.unsettled, s.moved = !all, true
	}
}

// unwatchable returns the reason why the resource must be polled (listed again and again). It returns "" if the
// resource can be watched.
func (s *settler) unwatchable(r rights) string {
	switch {
	case !s.resource.Can("watch"):
		return "This API does not support watches."
	case !r.watch:
		return notWatchable + "No RBAC rule allows it."
	}
	return ""
}

// isServed reports whether the cluster serves the resource. If it no longer does, isServed stops the feeds and removes
// the rows. A resource that is served or defined again starts from an empty list.
func (s *settler) isServed(ctx context.Context) bool {
	now := s.served(ctx)
	s.mu.Lock()
	gone := s.status.State == Absent
	s.mu.Unlock()
	switch {
	case !now.known:
		return !gone
	case now.resource == nil && !gone && s.listed(ctx):
		return true // Discovery omits the resource by mistake, or is more recent than the API server.
	case now.resource == nil:
		s.absent(fmt.Sprintf("The cluster does not serve %s.", s.scope.Resource.GroupResource()))
		s.retry = time.Time{}
		return false
	case now.identity == s.identity && gone && !s.found(ctx):
		return false
	case now.identity != s.identity && now.identity != "" && s.identity != "",
		now.resource.Namespaced != s.resource.Namespaced:
		s.end(everyFeed)
		s.clear()
	}
	if gone {
		s.stand(Status{State: Syncing, Since: time.Now()})
	}
	s.identity, s.resource = cmp.Or(now.identity, s.identity), now.resource
	return true
}

// found reports whether the API server serves the resource again, after it returned "not found" although discovery
// lists the resource. It sends a request at most once per reviewEvery, and returns false in between.
func (s *settler) found(ctx context.Context) bool {
	if time.Now().Before(s.retry) {
		return false
	}
	s.retry = time.Now().Add(reviewEvery)
	return s.try(ctx, "") != Absent
}

// absent stops all feeds and removes all rows, because the cluster does not serve the resource any more.
func (s *settler) absent(reason string) {
	s.mu.Lock()
	known := s.status.State == Absent
	s.mu.Unlock()
	// Set the status first, so that no other status is reported when the feeds have stopped.
	s.stand(Status{State: Absent, Since: time.Now(), Reason: reason})
	if s.end(everyFeed) || !known {
		s.clear()
	}
}

// clear removes all rows and memory estimates, because the objects of another definition are different objects, of
// different size. Later rows belong to a new epoch, so older cursors are invalid.
func (s *settler) clear() {
	clear(s.estimates)
	s.pages.drop(func(string) bool { return true })
	s.purgeAll()
}

// stand sets the status that is reported while the informer has no feed.
func (s *settler) stand(status Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status.State != status.State {
		s.status, s.moved = status, true
		clear(s.denied)
	}
}

// wanted returns the namespaces that need a feed, with the permissions for each. The key "" means one feed for all
// namespaces.
func (s *settler) wanted(ctx context.Context) map[string]rights {
	s.lapse(s.pool.linger)
	all := s.judge(ctx, []string{""})
	allowed := len(all) == 1
	if allowed && s.fits(ctx, "") {
		s.release()
		s.release = func() {}
		s.forget(nil)
		return all
	}
	if !s.resource.Namespaced {
		return nil
	}
	names, later := s.candidates(ctx, allowed)
	s.forget(slices.Sorted(slices.Values(slices.Concat(names, later))))
	for _, ns := range later {
		s.refuse(ns, fmt.Sprintf("%d namespaces of %s are watched one by one, which is the maximum: "+
			"this one is watched when another one is no longer used.", maxAsked, s.scope.Resource.GroupResource()))
	}
	some := s.judge(ctx, names)
	for _, ns := range slices.Sorted(maps.Keys(some)) {
		if !s.fits(ctx, ns) {
			delete(some, ns)
		}
	}
	return some
}

// candidates returns the namespaces that may each get a feed: those that readers requested, and all known namespaces if
// the program may not list all of them together. asked means that it may, so that only requested ones are returned.
// later contains requested namespaces beyond the limit.
func (s *settler) candidates(ctx context.Context, asked bool) (names, later []string) {
	names, later = s.turns()
	if !asked {
		known, release := s.namespaces(ctx)
		s.release()
		s.release = release
		names = append(names, known...)
		if s.home != "" {
			names = append(names, s.home)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return names, slices.DeleteFunc(later, func(ns string) bool {
		_, known := slices.BinarySearch(names, ns)
		return known
	})
}

// forget drops the verdicts, estimates and pages of all namespaces except those in but, which must be sorted.
func (s *settler) forget(but []string) {
	other := func(ns string) bool {
		_, there := slices.BinarySearch(but, ns)
		return ns != "" && !there
	}
	maps.DeleteFunc(s.verdicts, func(ns string, _ verdict) bool { return other(ns) })
	maps.DeleteFunc(s.estimates, func(ns string, _ estimate) bool { return other(ns) })
	s.pages.drop(other)
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.denied, func(ns string, _ Status) bool { return other(ns) })
}

// prepare creates the feed of a namespace, unless a running one exists. If the API server refused the namespace before,
// that status stays until the server has responded. It does not stay if the new feed replaces feeds that showed rows.
func (s *settler) prepare(
	ctx context.Context, namespace string, r rights, ended map[*feed]bool, prepared map[*feed]func(),
) {
	s.mu.Lock()
	before := s.feeds[namespace]
	status, denied := s.denied[namespace]
	if !denied || len(ended) > 0 {
		status = Status{State: Syncing, Since: time.Now()}
	}
	s.mu.Unlock()
	if before != nil && !ended[before] {
		return
	}
	f := &feed{informer: s.informer, namespace: namespace, polled: s.unwatchable(r)}
	if e, first := s.estimates[namespace]; first {
		f.reserved.bytes = e.bytes
	}
	delete(s.estimates, namespace) // The rows of a feed that starts again are in memory already.
	run, err := s.prepareFeed(ctx, f, status)
	if err != nil {
		f.arrived()
		s.stand(Status{State: Failed, Since: time.Now(), Reason: err.Error()})
		return
	}
	prepared[f] = run
}

// end stops the feeds for which which() is true, and waits for them. It reports whether there were any.
func (s *settler) end(which func(*feed) bool) bool {
	ended := s.halt(which)
	s.exchange(ended, nil)
	return len(ended) > 0
}

// halt stops the feeds for which which() is true, waits for them, and returns them. They retain their last status,
// unless it is Live.
func (s *settler) halt(which func(*feed) bool) (ended map[*feed]bool) {
	ended = make(map[*feed]bool)
	s.mu.Lock()
	for _, f := range s.feeds {
		if which(f) {
			ended[f] = true
			f.now.end(time.Now())
		}
	}
	s.mu.Unlock()
	for f := range ended {
		f.stop()
	}
	for f := range ended {
		<-f.stopped
	}
	if len(ended) > 0 {
		s.moved, s.ended = true, true
	}
	return ended
}
