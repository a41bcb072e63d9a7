package informer

import (
	"context"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/signal"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	// gracePeriod is how long a watch can be interrupted before its state becomes Stale. It is not zero, because API
	// servers regularly end watches.
	gracePeriod      = time.Second
	progressInterval = 100 * time.Millisecond
	// totalDelay is the time after which the total number of objects is requested, if the first list is not complete.
	totalDelay = 200 * time.Millisecond
)

// feedState is the state of a feed (one list and watch of an informer). The informer's mutex protects it.
type feedState struct {
	status           status.Status
	hasOwnStatus     bool // The feed has set the field status, which no longer has its initial value.
	isStopping       bool // The feed is being stopped, so its status must not become Live any more.
	synced           bool // The journal contains all objects of the last list.
	open             bool
	listing          bool      // The open watch has not sent all objects of its initial list yet.
	continues        bool      // It is certain that the open watch misses no changes since the previous watch or list.
	interruptedSince time.Time // When the present interruption of the watch began; zero without an interruption.
	watchRefusal     string
	oversizedReason  string
	outdated         bool // The cells of the list are for old columns, so the resource must be listed again.
	stalled          bool // A streaming list stalled, so all later lists must be plain lists.
	usePlainOnce     bool // A streaming list failed, so the next list must be a plain list.
	listedAt         time.Time
	reportedAt       time.Time
	estimatedTotal   int
	staleTimer       *time.Timer
	feedStats
}

// feedStats contains statistics of one feed for the status page, or the sums for all feeds that have ended.
type feedStats struct {
	Lists             int
	Drops             int
	Interruptions     int // Number of watch interruptions longer than gracePeriod, after the first list.
	InterruptedFor    time.Duration
	interruptionStart time.Time
	LastEvent         time.Time
}

func (f *feedStats) add(other *feedStats) {
	f.Lists += other.Lists
	f.Drops += other.Drops
	f.Interruptions += other.Interruptions
	f.InterruptedFor += other.InterruptedFor
	if other.LastEvent.After(f.LastEvent) {
		f.LastEvent = other.LastEvent
	}
}

// finish stops the timer, and ends the current interruption, if there is one. It is called after the feed has ended.
func (s *feedState) finish() {
	s.stopTimer()
	s.endInterruption(time.Now())
}

func (s *feedState) stopTimer() {
	if s.staleTimer != nil {
		s.staleTimer.Stop()
		s.staleTimer = nil
	}
}

func (s *feedState) endInterruption(now time.Time) {
	if !s.interruptionStart.IsZero() {
		s.InterruptedFor += now.Sub(s.interruptionStart)
		s.interruptionStart = time.Time{}
	}
}

// markStopping records that the feed is being stopped. The status Live becomes Syncing, because the feed that replaces
// this one begins with a list.
func (s *feedState) markStopping(now time.Time) {
	s.isStopping = true
	if s.status.State == status.Live {
		s.status = status.Status{State: status.Syncing, Since: now}
	}
}

// set changes the status, and reports whether the state or the reason has changed, so that readers must be informed. If
// the state stays the same, the status keeps its start time.
func (s *feedState) set(state status.State, start time.Time, reason string) bool {
	if s.isStopping && state == status.Live {
		return false
	}
	changed := s.status.State != state || s.status.Reason != reason
	if s.status.State == state {
		start = s.status.Since
	}
	switch {
	case state == status.Live:
		s.endInterruption(start)
	case s.status.State == status.Live:
		s.Interruptions++
		s.interruptionStart = start
	}
	s.status, s.hasOwnStatus = status.Status{State: state, Since: start, Reason: reason}, true
	s.stopTimer()
	return changed
}

// refusal returns the status that requires the feed to stop, or an empty status if the feed can continue.
func (s *feedState) refusal() status.Status {
	switch {
	case s.hasOwnStatus && s.status.State.IsRefused():
		return s.status
	case s.oversizedReason != "":
		return status.Status{State: status.Failed, Since: time.Now(), Reason: s.oversizedReason}
	}
	return status.Status{}
}

// opened records that a watch is open. isLive is true if the status is Live now: this requires that the watch misses no
// changes since the list or the previous watch. Otherwise, continued or listed makes the status Live later.
func (s *feedState) opened(startsWithList bool) (isLive, isChanged bool) {
	s.open, s.listing = true, startsWithList
	// A watch that opens soon after the list misses no changes. A later watch can miss some, because the API server can
	// have discarded events after the list's resourceVersion.
	if time.Since(s.listedAt) < gracePeriod {
		s.markContinued()
	}
	isLive = s.synced && !startsWithList && s.continues
	return isLive, isLive && s.set(status.Live, time.Now(), "")
}

// continued records that the open watch has no gap after the last watch or list. It reports whether the status changed.
func (s *feedState) continued() (isChanged bool) {
	s.markContinued()
	return s.open && !s.listing && s.synced && s.set(status.Live, time.Now(), "")
}

func (s *feedState) markContinued() { s.continues, s.interruptedSince = true, time.Time{} }

// listed records that a list is complete. columnsMatch means that its cells belong to the informer's current columns.
// pollReason is why the resource is polled, or empty. isChanged reports whether the status changed.
func (s *feedState) listed(at time.Time, columnsMatch bool, pollReason string) (isChanged bool) {
	s.synced, s.outdated = columnsMatch, !columnsMatch
	s.listing, s.usePlainOnce = false, false
	if s.open {
		s.markContinued()
	}
	s.listedAt = at
	s.Lists++
	if pollReason == "" {
		return s.open && columnsMatch && s.set(status.Live, time.Now(), "")
	}
	isChanged = columnsMatch && s.set(status.Stale, time.Now(), pollReason)
	// Clear Since, the start of the state Stale. This start can be long ago, but the rows are from the current list.
	s.status.Since = time.Time{}
	return isChanged
}

// failed records the error of a list request or of a watch request. isChanged reports whether the status changed.
func (s *feedState) failed(err error) (isChanged bool) {
	state := status.StateOf(err, s.synced)
	// Change s.synced together with the state. Otherwise, after the rows of a refused feed are removed, readers could
	// show an empty list as if it were complete.
	s.synced = s.synced && !state.IsRefused()
	since := time.Now()
	if state == status.Stale && !s.interruptedSince.IsZero() {
		since = s.interruptedSince
	}
	isChanged = s.set(state, since, status.ReasonOf(err))
	s.status.IsInvalidRequest = apierrors.IsBadRequest(err) || apierrors.IsInvalid(err)
	return isChanged
}

// ended records that the watch has ended. It returns when the interruption began: see interruptedSince.
func (s *feedState) ended() (since time.Time) {
	if s.interruptedSince.IsZero() {
		s.interruptedSince = time.Now()
	}
	s.open, s.continues = false, false
	s.Drops++
	s.stopTimer()
	return s.interruptedSince
}

// update calls the function change to change the state. If change returns true, update logs the state and wakes
// readers.
func (f *feed) update(change func(s *feedState) (isChanged bool)) {
	f.informer.mu.Lock()
	isChanged := change(&f.state)
	current := f.state.status
	f.informer.mu.Unlock()
	if isChanged {
		f.informer.options.Log.Info("the watch state has changed", "namespace", f.namespace,
			"state", current.State, "reason", current.Reason)
		f.informer.notify()
	}
}

func (f *feed) current() feedState {
	f.informer.mu.Lock()
	defer f.informer.mu.Unlock()
	return f.state
}

// observe is called while a list arrives. It reports progress, and cancels a list that does not fit into the budget.
func (f *feed) observe(objects int, bytes int64) {
	isReported := false
	f.update(func(s *feedState) bool {
		isReported = time.Since(s.reportedAt) >= progressInterval && s.status.State == status.Syncing
		if isReported {
			s.reportedAt = time.Now()
			s.status.Count, s.status.Total = &objects, nil
			if total := s.estimatedTotal; total >= objects {
				s.status.Total = &total
			}
		}
		return false
	})
	if isReported {
		f.informer.Wake()
	}
	if refusal := f.reserved.Measure(objects, bytes); refusal != "" {
		f.update(func(s *feedState) bool {
			s.markStopping(time.Now())
			s.oversizedReason = refusal
			return false
		})
		f.stop()
		f.informer.RequestReconcile()
	}
}

func (f *feed) replaceableBytes() int64 {
	if f.namespace == "" {
		state, _ := f.informer.Weight()
		return int64(state)
	}
	return int64(f.informer.WeightIn(f.covers))
}

// requestTotal requests the total number of objects, so that readers can show progress. It does so only if the
// feed covers the complete resource in all namespaces, and its first list takes longer than totalDelay.
func (f *feed) requestTotal(ctx context.Context) {
	scope := &f.informer.Scope
	if f.namespace != "" || scope.Fields != "" || scope.Labels != "" || scope.Metadata {
		return
	}
	signal.Sleep(ctx, totalDelay)
	if f.current().status.State != status.Syncing || ctx.Err() != nil {
		return
	}
	if count, err := f.informer.options.Client.Count(ctx, f.informer.Scope); err == nil {
		f.update(func(s *feedState) bool { s.estimatedTotal = count; return false })
	}
}

// recordStall records that a streaming list stopped making progress. All later lists of this feed are plain lists.
func (f *feed) recordStall() {
	f.update(func(s *feedState) bool { s.stalled = true; return false })
	f.informer.options.Log.Warn(
		"the streaming list made no progress; using plain lists from now on", "after", stallTimeout,
	)
}

// recordStreamFailure records why a streaming list failed. The next list is a plain list. If the plain list
// fails, too, its error replaces the recorded one, because it is more precise.
func (f *feed) recordStreamFailure(ctx context.Context, err error) {
	f.update(func(s *feedState) bool { s.usePlainOnce = true; return false })
	f.recordFailure(ctx, err)
}

func (f *feed) recordOpened(startsWithList bool) {
	isLive := false
	f.update(func(s *feedState) (isChanged bool) {
		isLive, isChanged = s.opened(startsWithList)
		return isChanged
	})
	if !isLive {
		f.informer.Wake()
	}
}

// recordEnded records that the watch has ended. If no other watch opens within gracePeriod, the status becomes Stale.
func (f *feed) recordEnded(ctx context.Context) {
	f.informer.mu.Lock()
	defer f.informer.mu.Unlock()
	at := f.state.ended()
	if f.state.status.State != status.Live || ctx.Err() != nil {
		return
	}
	// Count the grace period from the end of the last watch that missed no changes.
	f.state.staleTimer = time.AfterFunc(gracePeriod-time.Since(at), func() {
		f.update(func(s *feedState) bool {
			return (!s.open || s.listing) && s.status.State == status.Live && ctx.Err() == nil &&
				s.set(status.Stale, at, "The watch ended and has not been opened again yet.")
		})
	})
}

// recordFailure records that a list or watch request failed. The Reflector, or the next poll, sends the request again.
func (f *feed) recordFailure(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	f.update(func(s *feedState) bool { return s.failed(err) })
	// If the request was refused, wake the reconciler, which removes the rows (see Feeds.Drop).
	if status.StateOf(err, false).IsRefused() {
		f.informer.RequestReconcile()
	}
}

func (i *Informer) notify() {
	i.Wake()
	i.options.StateChanged()
}
