package watch

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"glasshouse/internal/watch/wire"
)

const (
	// reviewEvery is how often it is asked whether what is watched still may
	// be, and whether what could not be listed now can.
	reviewEvery = 10 * time.Second
	// deniedEvery is the same for namespaces that nobody may list: there may be
	// hundreds of them.
	deniedEvery = 30 * time.Second
	// reviewsAtOnce bounds the access reviews on their way for one resource.
	reviewsAtOnce = 8
)

// verdict is what is known of the right to a namespace.
type verdict struct {
	rights

	next time.Time // When it is to be asked again.
}

// settler decides which feeds an informer has. It belongs to the goroutine of
// run.
type settler struct {
	*informer

	verdicts map[string]verdict // By namespace; "" is all.
	identity string             // Of the definition that the feeds were started for.
	retry    time.Time          // Not before this is a definition tried again that turned out to be absent.
	release  func()             // Lets go of the cluster's namespaces.
	moved    bool               // There is something to tell.
	said     State              // In the log, where there is no feed.

	estimates map[string]estimate // By namespace; "" is all.
}

// run lists and watches what may be, until ctx ends, then closes the journal.
func (i *informer) run(ctx context.Context) {
	defer i.Close()
	s := &settler{informer: i, verdicts: make(map[string]verdict), estimates: make(map[string]estimate), release: func() {}}
	defer func() { s.release() }()
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
		case <-time.After(reviewEvery):
		}
	}
}

// say logs why there is no feed.
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

// join waits for the feeds, which end with ctx.
func (s *settler) join() {
	s.mu.Lock()
	feeds := slices.Collect(maps.Values(s.feeds))
	s.mu.Unlock()
	for _, f := range feeds {
		<-f.stopped
	}
}

func everyFeed(*feed) bool { return true }

// settle starts the feeds that there should be and ends those that there should
// not. Rows that no feed covers any more go.
func (s *settler) settle(ctx context.Context) {
	if !s.isServed(ctx) || !s.heed() || s.restrain() {
		return
	}
	s.curb()
	want := s.wanted(ctx)
	if ctx.Err() != nil {
		return
	}
	before := s.end(func(f *feed) bool {
		rights, ok := want[f.namespace]
		return !ok || f.now.outdated || f.polled != s.unwatchable(rights)
	})
	if _, all := want[""]; !all {
		s.purge(func(ns string) bool { _, ok := want[ns]; return !ok })
	}
	for ns, rights := range want {
		s.begin(ctx, ns, rights, before)
	}
}

// unwatchable is why a resource must be listed again and again.
func (s *settler) unwatchable(r rights) string {
	switch {
	case s.polled:
		return "This API cannot be watched."
	case !r.watch:
		return notWatchable + "No rule of the cluster allows it."
	}
	return ""
}

// isServed reports whether there is something to list. A resource that is gone
// loses its feeds and rows; one that is there again, or anew, begins anew.
func (s *settler) isServed(ctx context.Context) bool {
	identity, served, known := s.served(ctx)
	s.mu.Lock()
	gone := s.status.State == Absent
	s.mu.Unlock()
	switch {
	case !known:
		return !gone
	case !served:
		s.absent(fmt.Sprintf("The cluster does not serve %s.", s.scope.Resource.GroupResource()))
		return false
	case identity == s.identity && gone && !s.back(ctx):
		return false
	case identity != s.identity && identity != "" && s.identity != "":
		s.end(everyFeed)
		s.clear()
	}
	if gone {
		s.stand(Status{State: Syncing, Since: time.Now()})
	}
	s.identity = cmp.Or(identity, s.identity)
	return true
}

// back reports whether the API server finds again what it did not. Who waits for
// that is told once that it is gone, not with each try.
func (s *settler) back(ctx context.Context) bool {
	if time.Now().Before(s.retry) {
		return false
	}
	s.retry = time.Now().Add(reviewEvery)
	err := s.try(ctx, "")
	return !apierrors.IsNotFound(err) && !apierrors.IsMethodNotSupported(err)
}

// try asks for a page of a list that was refused: one that still is ends no feed,
// and tells nobody.
func (s *settler) try(ctx context.Context, namespace string) error {
	scope := s.scope
	scope.Namespace = namespace
	_, _, err := s.client.Estimate(ctx, scope)
	return err
}

// mayNotAsk reports whether reviews are refused, or not served.
func mayNotAsk(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err)
}

// absent ends everything, for the resource is no more.
func (s *settler) absent(reason string) {
	s.end(everyFeed)
	s.clear()
	s.stand(Status{State: Absent, Since: time.Now(), Reason: reason})
}

// clear takes all rows out, as another definition's objects are others: what
// comes next begins a new epoch.
func (s *settler) clear() {
	s.purge(func(string) bool { return true })
	s.mu.Lock()
	s.purged = true
	s.mu.Unlock()
}

// stand sets what is told where there is no feed.
func (s *settler) stand(status Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status.State != status.State {
		s.status, s.moved = status, true
		clear(s.denied)
	}
}

// heed learns from feeds that were refused: they end, and are tried again after
// a while. It reports whether the resource is there.
func (s *settler) heed() bool {
	s.mu.Lock()
	refused := make(map[string]Status)
	there := true
	for ns, f := range s.feeds {
		switch {
		case f.now.own && f.now.status.State == Forbidden:
			refused[ns] = f.now.status
			s.denied[ns] = f.now.status
		case f.now.own && f.now.status.State == Absent:
			there = false
		}
	}
	s.mu.Unlock()
	if !there {
		s.retry = time.Now().Add(reviewEvery)
		s.absent(fmt.Sprintf("The API server does not find %s.", s.scope.Resource.GroupResource()))
		return false
	}
	for ns, status := range refused {
		s.verdicts[ns] = verdict{rights{reason: status.Reason}, time.Now().Add(reviewEvery)}
	}
	s.end(func(f *feed) bool { _, ok := refused[f.namespace]; return ok })
	return true
}

// wanted are the namespaces to be watched, with the rights to them; "" is all.
func (s *settler) wanted(ctx context.Context) map[string]rights {
	all := s.judge(ctx, []string{""})
	allowed := len(all) == 1
	if allowed && s.fits(ctx, "") {
		s.release()
		s.release = func() {}
		return all
	}
	if !s.namespaced {
		return nil
	}
	names := s.candidates(ctx, allowed)
	s.forget(names)
	some := s.judge(ctx, names)
	for ns := range some {
		if !s.fits(ctx, ns) {
			delete(some, ns)
		}
	}
	return some
}

// candidates are the namespaces that may be watched one by one: those that were
// asked for, and all that are known where all together may not be listed.
func (s *settler) candidates(ctx context.Context, asked bool) (names []string) {
	s.mu.Lock()
	names = slices.Collect(maps.Keys(s.asked))
	s.mu.Unlock()
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
	return slices.Compact(names)
}

// forget drops what is known of namespaces that are no more.
func (s *settler) forget(names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ns := range s.verdicts {
		if _, there := slices.BinarySearch(names, ns); ns != "" && !there {
			delete(s.verdicts, ns)
			delete(s.denied, ns)
		}
	}
}

// judge returns those of the namespaces that may be listed. What cannot be found
// out stays as it was, or else is tried.
func (s *settler) judge(ctx context.Context, namespaces []string) map[string]rights {
	verdicts := make([]verdict, len(namespaces))
	var reviews errgroup.Group
	reviews.SetLimit(reviewsAtOnce)
	for n, ns := range namespaces {
		known, ok := s.verdicts[ns]
		verdicts[n] = known
		if ok && time.Now().Before(known.next) {
			continue
		}
		reviews.Go(func() error {
			rights, err := s.reviews.review(ctx, wire.Scope{Resource: s.scope.Resource, Namespace: ns})
			switch {
			case err == nil:
				verdicts[n].rights = rights
			case !ok || mayNotAsk(err) && (known.list || s.try(ctx, ns) == nil): // The list alone tells.
				verdicts[n].list, verdicts[n].watch = true, true
			}
			verdicts[n].next = time.Now().Add(reviewEvery)
			if ns != "" && !verdicts[n].list {
				verdicts[n].next = time.Now().Add(deniedEvery)
			}
			return nil
		})
	}
	_ = reviews.Wait() // They give no error.
	allowed := make(map[string]rights)
	s.mu.Lock()
	defer s.mu.Unlock()
	for n, ns := range namespaces {
		s.verdicts[ns] = verdicts[n]
		switch {
		case verdicts[n].list:
			allowed[ns] = verdicts[n].rights
		case s.denied[ns].State == "":
			s.denied[ns] = Status{State: Forbidden, Since: time.Now(), Reason: verdicts[n].reason}
			s.moved = true
		}
	}
	return allowed
}

// begin starts the feed of a namespace that has none. A refusal that was told
// holds until the API server has answered it; not where feeds before it showed
// rows.
func (s *settler) begin(ctx context.Context, namespace string, r rights, before bool) {
	s.mu.Lock()
	running := s.feeds[namespace] != nil
	status, denied := s.denied[namespace]
	if !denied || before {
		status = Status{State: Syncing, Since: time.Now()}
	}
	s.mu.Unlock()
	if running {
		return
	}
	f := &feed{informer: s.informer, namespace: namespace, polled: s.unwatchable(r)}
	f.reserved.set(s.estimates[namespace])
	if err := s.startFeed(ctx, f, status); err != nil {
		s.stand(Status{State: Failed, Since: time.Now(), Reason: err.Error()})
		return
	}
	s.mu.Lock()
	delete(s.denied, namespace)
	s.moved = true
	s.mu.Unlock()
}

// end stops the feeds that which chooses, waits for them, and reports whether
// there were any.
func (s *settler) end(which func(*feed) bool) bool {
	s.mu.Lock()
	var ending []*feed
	for _, f := range s.feeds {
		if which(f) {
			ending = append(ending, f)
		}
	}
	s.mu.Unlock()
	for _, f := range ending {
		s.stopFeed(f)
	}
	s.moved = s.moved || len(ending) > 0
	return len(ending) > 0
}
