package informer

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/informer/budget"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

// columnsEvery is the minimum time between two lists of a namespace that are due to changed columns. During an upgrade,
// different API servers can send different columns, so that the columns change with each list.
const columnsEvery = 10 * time.Second

// Feeds starts and stops the feeds (lists and watches) of an informer. Only the reconciler's goroutine uses it.
type Feeds struct {
	Requests        <-chan struct{} // Receives a value after each call of RequestReconcile.
	informer        *Informer
	running         sync.WaitGroup
	hasLeftoverRows bool
	isStatusChanged bool
	loggedState     status.State
}

// Plan describes the feeds (lists and watches) that an informer needs.
type Plan struct {
	// PollReasons has a key for each namespace that needs a feed; "" is for all namespaces. If the feed must poll (list
	// repeatedly), the value is the reason. If the feed can watch, the value is empty.
	PollReasons map[string]string
	// IsRevoked means that the permission for a namespace with a feed was revoked. Deleted namespaces do not count.
	IsRevoked bool
	// IsComplete means that all namespaces that can be watched are known, and that the memory of each was estimated.
	IsComplete bool
	// Reserve returns the memory that is reserved for the first list of a new feed.
	Reserve func(namespace string) *budget.Reservation
}

// Feeds returns the methods with which the reconciler starts and stops the informer's feeds.
func (i *Informer) Feeds() *Feeds { return &Feeds{Requests: i.reconcileRequests, informer: i} }

// Report wakes the readers if the informer's status has changed. If the informer has no feed, Report also logs the new
// state, because only feeds log their states.
func (s *Feeds) Report() {
	if !s.isStatusChanged {
		return
	}
	s.isStatusChanged = false
	current := s.informer.CurrentState(nil).Status
	switch {
	case len(s.Running()) > 0:
		current.State = ""
	case s.loggedState != current.State && current.State != status.Syncing:
		s.informer.options.Log.Warn("the resource is not watched", "state", current.State, "reason", current.Reason)
	}
	s.loggedState = current.State
	s.informer.notify()
}

// Wait waits until all feeds have ended. They end after the context of Apply ends.
func (s *Feeds) Wait() { s.running.Wait() }

// Running returns a status for each namespace with a feed. The status is empty, unless the feed must be stopped because
// the API server refused it or its list did not fit into the memory budget.
func (s *Feeds) Running() map[string]status.Status {
	s.informer.mu.Lock()
	defer s.informer.mu.Unlock()
	running := make(map[string]status.Status, len(s.informer.feeds))
	for ns, f := range s.informer.feeds {
		running[ns] = f.state.refusal()
	}
	return running
}

// IsWatched reports whether a namespace has a feed, or has objects of a feed that has ended.
func (s *Feeds) IsWatched(namespace string) bool {
	s.informer.mu.Lock()
	defer s.informer.mu.Unlock()
	return s.informer.feeds[namespace] != nil || namespace != "" && s.informer.coverage.includes(namespace)
}

// ExpireLeases deletes the leases of namespaces that have had no readers for idleTime. Until then, a lease remains
// after its last reader has left.
func (s *Feeds) ExpireLeases(idleTime time.Duration) {
	s.informer.mu.Lock()
	defer s.informer.mu.Unlock()
	s.informer.leases.Expire(idleTime)
}

// SplitLeases returns the namespaces that readers request: those that can be watched now, and those that must wait.
func (s *Feeds) SplitLeases() (admitted, waiting []string) {
	s.informer.mu.Lock()
	defer s.informer.mu.Unlock()
	return s.informer.leases.Split(func(ns string) bool { return s.informer.feeds[ns] != nil })
}

// Apply starts the missing feeds of a plan, stops all other feeds, and removes the rows that no feed covers any more.
func (s *Feeds) Apply(ctx context.Context, plan *Plan) {
	s.informer.mu.Lock()
	if s.informer.unreconciled == plan.IsComplete {
		s.informer.unreconciled, s.isStatusChanged = !plan.IsComplete, true
	}
	s.informer.mu.Unlock()
	stopped := s.stop(func(f *feed) bool {
		pollReason, ok := plan.PollReasons[f.namespace]
		return !ok || f.state.outdated && time.Since(f.state.listedAt) >= columnsEvery || f.pollReason != pollReason
	})
	prepared := make(map[*feed]func())
	for ns := range plan.PollReasons {
		s.prepare(ctx, ns, plan, stopped, prepared)
	}
	s.swap(stopped, prepared)
	isUnwanted := func(ns string) bool { _, ok := plan.PollReasons[ns]; return !ok }
	if isUnwanted("") && s.hasLeftoverRows {
		s.hasLeftoverRows = false
		// Readers must restart if a permission was revoked, or if a reader still requests a namespace that lost its feed.
		if _, isRequested := s.informer.evict(isUnwanted); plan.IsRevoked || isRequested {
			s.informer.resetReaders()
		}
	}
	for _, run := range prepared {
		s.running.Go(run)
	}
	s.isStatusChanged = s.isStatusChanged || len(prepared) > 0
}

// prepare creates a feed for a namespace that has none. If the namespace was refused before, the feed starts with the
// status of this refusal. The status does not change until the API server responds.
func (s *Feeds) prepare(
	ctx context.Context, namespace string, plan *Plan, stopped map[*feed]bool, prepared map[*feed]func(),
) {
	i := s.informer
	i.mu.Lock()
	running := i.feeds[namespace]
	current, denied := i.denied[namespace]
	i.mu.Unlock()
	if running != nil && !stopped[running] {
		return
	}
	// A denied namespace keeps its status. But if feeds were stopped, the feeds that replace them start as Syncing.
	if !denied || len(stopped) > 0 {
		current = status.Status{State: status.Syncing, Since: time.Now()}
	}
	f := &feed{
		informer: i, namespace: namespace, pollReason: plan.PollReasons[namespace], reserved: plan.Reserve(namespace),
		stopped: make(chan struct{}), state: feedState{status: current},
	}
	run, err := f.prepare(ctx)
	if err != nil {
		f.reserved.Release()
		s.SetStatus(status.Failed, err.Error())
		return
	}
	prepared[f] = run
}

// swap replaces stopped feeds with prepared ones while the mutex stays locked. Otherwise, a reader could read a state
// in between, and regard the rows of some namespaces as those of all.
func (s *Feeds) swap(stopped map[*feed]bool, prepared map[*feed]func()) {
	i := s.informer
	i.mu.Lock()
	for f := range stopped {
		f.state.finish()
		f.state.LastEvent = f.lastChangeTime()
		delete(i.feeds, f.namespace)
		i.endedStats.add(&f.state.feedStats)
	}
	for f := range prepared {
		i.feeds[f.namespace] = f
		delete(i.denied, f.namespace)
	}
	i.mu.Unlock()
	for f := range stopped {
		f.reserved.Release()
	}
}

// stop stops the feeds that match filter, and waits until they have ended. If their status is Live, it becomes Syncing.
func (s *Feeds) stop(filter func(*feed) bool) (stopped map[*feed]bool) {
	stopped = make(map[*feed]bool)
	s.informer.mu.Lock()
	for _, f := range s.informer.feeds {
		if filter(f) {
			stopped[f] = true
			f.state.markStopping(time.Now())
		}
	}
	s.informer.mu.Unlock()
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

// End stops all feeds, waits until they have ended, and reports whether there were any.
func (s *Feeds) End() bool {
	stopped := s.stop(func(*feed) bool { return true })
	s.swap(stopped, nil)
	return len(stopped) > 0
}

// Clear removes all rows and starts a new epoch. Cursors of earlier epochs become invalid.
func (s *Feeds) Clear() {
	i, all := s.informer, func(string) bool { return true }
	i.advanceVersion()
	i.deleteRows(all)
	i.Forget()
	i.dropCoverage(all)
	i.Wake()
}

// Drop stops the feeds of the denied namespaces, and removes their rows. If these feeds had listed rows, Drop deletes
// the history, and makes all readers restart from a snapshot.
func (s *Feeds) Drop(denied map[string]status.Status) {
	if len(denied) == 0 {
		return
	}
	s.informer.mu.Lock()
	// Set these statuses before the feeds stop. Otherwise, readers could get another status in between.
	maps.Copy(s.informer.denied, denied)
	s.informer.mu.Unlock()
	hadListed := false
	s.swap(s.stop(func(f *feed) bool {
		current, ok := denied[f.namespace]
		hadListed = hadListed || current.State.IsRefused() && f.state.Lists > 0
		return ok
	}), nil)
	_, all := denied[""]
	isDenied := func(ns string) bool { _, ok := denied[ns]; return ok || all }
	if evicted, _ := s.informer.evict(isDenied); evicted || hadListed {
		s.informer.resetReaders()
	}
}

// SetStatus sets the status of an informer without feeds. If the new state equals the old one, it changes nothing.
func (s *Feeds) SetStatus(state status.State, reason string) {
	s.informer.mu.Lock()
	defer s.informer.mu.Unlock()
	if s.informer.Status.State != state {
		s.informer.Status, s.isStatusChanged = status.Status{State: state, Since: time.Now(), Reason: reason}, true
		clear(s.informer.denied)
	}
}

// Deny sets the state of namespaces without a feed. reasons contains the reason for each of these namespaces.
func (s *Feeds) Deny(state status.State, reasons map[string]string) {
	s.informer.mu.Lock()
	defer s.informer.mu.Unlock()
	for ns, reason := range reasons {
		previous, since := s.informer.denied[ns], time.Now()
		// Keep the status with its start time if neither the reason nor the state changes. The status of a refused feed,
		// such as Absent, also stays if the new state is Forbidden with the same reason.
		isKept := previous.State == state || previous.State != "" && state == status.Forbidden
		if isKept && previous.Reason == reason {
			continue
		}
		if state == status.Failed && previous.State == status.Failed {
			since = previous.Since
		}
		s.informer.denied[ns] = status.Status{State: state, Since: since, Reason: reason}
		s.isStatusChanged = true
	}
}

// Forget drops the statuses of the denied namespaces (those without a feed) that match filter.
func (s *Feeds) Forget(filter func(namespace string) bool) {
	s.informer.mu.Lock()
	defer s.informer.mu.Unlock()
	maps.DeleteFunc(s.informer.denied, func(ns string, _ status.Status) bool { return filter(ns) })
}
