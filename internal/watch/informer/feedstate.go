package informer

import (
	"context"
	"time"

	"glasshouse/internal/watch/signal"
	"glasshouse/internal/watch/status"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	// gracePeriod is how long a watch can be interrupted before the resource is reported as stale. API servers end each
	// watch after some minutes, and the next one opens within milliseconds.
	gracePeriod      = time.Second
	progressInterval = 100 * time.Millisecond
	// totalDelay is the time after which a running first list requests the total number of objects.
	totalDelay = 200 * time.Millisecond
)

// feedState is the state of a feed (one list and watch of an informer). The informer's lock guards it.
type feedState struct {
	status           status.Status
	hasOwnStatus     bool // The field status was set by this feed. It is false while the feed has its initial status.
	isStopping       bool // The list and watch is being stopped, so its status must not become Live again.
	synced           bool // All listed objects are in the journal.
	open             bool
	listing          bool      // The open watch is still sending its initial list.
	continues        bool      // It is known that the watch misses no changes since the previous watch or list.
	interruptedSince time.Time // End of the last watch that worked; zero before the first watch, and while a watch works.
	watchRefusal     string
	oversizedReason  string
	outdated         bool // The columns have changed since the list, so the resource must be listed again.
	stalled          bool // A streaming list stalled: use plain lists from now on.
	usePlainOnce     bool // A streaming list failed: use a plain list once.
	listedAt         time.Time
	listedCount      int
	reportedAt       time.Time
	estimatedTotal   int
	staleTimer       *time.Timer
	feedStats
}

// feedStats contains statistics for the status page: those of one feed (a list and watch), or the sums of all feeds
// that have ended.
type feedStats struct {
	Lists             int
	Drops             int
	Interruptions     int // Number of interruptions: times longer than gracePeriod without a watch, after a list.
	InterruptedFor    time.Duration
	interruptionStart time.Time
	LastEvent         time.Time
}

func (r *feedStats) add(other *feedStats) {
	r.Lists += other.Lists
	r.Drops += other.Drops
	r.Interruptions += other.Interruptions
	r.InterruptedFor += other.InterruptedFor
	if other.LastEvent.After(r.LastEvent) {
		r.LastEvent = other.LastEvent
	}
}

// finish stops the timer of a feed that has ended. If there is an interruption (a time without a watch), it ends now.
func (s *feedState) finish() {
	if s.staleTimer != nil {
		s.staleTimer.Stop()
		s.staleTimer = nil
	}
	s.endInterruption(time.Now())
}

func (s *feedState) endInterruption(now time.Time) {
	if !s.interruptionStart.IsZero() {
		s.InterruptedFor += now.Sub(s.interruptionStart)
		s.interruptionStart = time.Time{}
	}
}

func (s *feedState) markContinued() { s.continues, s.interruptedSince = true, time.Time{} }

// markStopping records that the feed (a list and watch) is being stopped. A Live status becomes Syncing, because the
// next feed of the namespace begins with a list.
func (s *feedState) markStopping(now time.Time) {
	s.isStopping = true
	if s.status.State == status.Live {
		s.status = status.Status{State: status.Syncing, Since: now}
	}
}

// set changes the status. It reports whether the state or its reason has changed, so that readers must be informed.
// since is the start time of the state. If the state does not change, its old start time stays.
func (s *feedState) set(state status.State, since time.Time, reason string) bool {
	if s.isStopping && state == status.Live {
		return false
	}
	changed := s.status.State != state || s.status.Reason != reason
	if s.status.State == state {
		since = s.status.Since
	}
	switch {
	case state == status.Live:
		s.endInterruption(since)
	case s.status.State == status.Live:
		s.Interruptions++
		s.interruptionStart = since
	}
	s.status, s.hasOwnStatus = status.Status{State: state, Since: since, Reason: reason}, true
	if s.staleTimer != nil {
		s.staleTimer.Stop()
		s.staleTimer = nil
	}
	return changed
}

// observe records the progress of a list, and sends it to readers at intervals.
func (f *feed) observe(objects int, bytes int64) {
	f.mu.Lock()
	f.state.listedCount = objects
	report := time.Since(f.state.reportedAt) >= progressInterval && f.state.status.State == status.Syncing
	if report {
		f.state.reportedAt = time.Now()
		f.state.status.Count, f.state.status.Total = &objects, nil
		if total := f.state.estimatedTotal; total >= objects {
			f.state.status.Total = &total
		}
	}
	f.mu.Unlock()
	if report {
		f.Wake()
	}
	f.measure(objects, bytes)
}

// requestTotal requests the total number of objects from the API server if the first list takes longer than
// totalDelay. Readers get the total with the progress of the list. No total is requested for a single namespace, with
// a field selector, or for metadata only.
func (f *feed) requestTotal(ctx context.Context) {
	if f.namespace != "" || f.Scope.Fields != "" || f.Scope.Metadata {
		return
	}
	signal.Sleep(ctx, totalDelay)
	f.mu.Lock()
	waiting := f.state.status.State == status.Syncing
	f.mu.Unlock()
	if !waiting || ctx.Err() != nil {
		return
	}
	count, err := f.options.Client.Count(ctx, f.Scope)
	if err != nil {
		return
	}
	f.mu.Lock()
	f.state.estimatedTotal = count
	f.mu.Unlock()
}

func (f *feed) logPanic(v any, stack []byte) {
	f.options.Log.Error("panic while decoding a response of the API server", "panic", v, "stack", string(stack))
}

// recordStall records that a streaming list made no progress. All later lists are plain lists.
func (f *feed) recordStall() {
	f.mu.Lock()
	f.state.stalled = true
	f.mu.Unlock()
	f.options.Log.Warn("the streaming list made no progress; using plain lists from now on", "after", stallTimeout)
}

// recordStreamFailure records why a streaming list failed. A plain list follows, whose error is more precise.
func (f *feed) recordStreamFailure(ctx context.Context, err error) {
	f.mu.Lock()
	f.state.usePlainOnce = true
	f.mu.Unlock()
	f.recordFailure(ctx, err)
}

func (f *feed) usesPlainLists() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state.stalled || f.state.usePlainOnce
}

// recordRefusal records why the API server refuses the watch; reason is empty if it does not.
func (f *feed) recordRefusal(reason string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.state.watchRefusal = reason
}

func (f *feed) watchRefusal() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state.watchRefusal
}

func (f *feed) recordOpening() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.state.continues = false
}

// recordOpened records that a watch is open. initial means that the watch begins with a list. The feed then becomes
// Live when that list has been read.
//
// If initial is false, the feed becomes Live as soon as it is known that the watch misses no changes. This is known
// at once if the last list ended less than gracePeriod ago. Otherwise the API server can have discarded the events
// since the resourceVersion from which the watch starts.
func (f *feed) recordOpened(initial bool) {
	f.mu.Lock()
	f.state.open, f.state.listing = true, initial
	if time.Since(f.state.listedAt) < gracePeriod {
		f.state.markContinued()
	}
	live := f.state.synced && !initial && f.state.continues
	changed := live && f.state.set(status.Live, time.Now(), "")
	f.mu.Unlock()
	f.announce(changed)
	if !live {
		f.Wake()
	}
}

func (f *feed) recordContinued() {
	f.mu.Lock()
	f.state.markContinued()
	changed := f.state.open && !f.state.listing && f.state.synced && f.state.set(status.Live, time.Now(), "")
	f.mu.Unlock()
	f.announce(changed)
}

// recordEnded records that the watch has ended. If no other watch continues within gracePeriod, the feed becomes
// Stale. gracePeriod starts at the end of the last watch that missed no changes.
func (f *feed) recordEnded(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.state.interruptedSince.IsZero() {
		f.state.interruptedSince = time.Now()
	}
	at := f.state.interruptedSince
	f.state.open, f.state.continues = false, false
	f.state.Drops++
	if f.state.staleTimer != nil {
		f.state.staleTimer.Stop()
		f.state.staleTimer = nil
	}
	if f.state.status.State != status.Live || ctx.Err() != nil {
		return
	}
	f.state.staleTimer = time.AfterFunc(gracePeriod-time.Since(at), func() {
		f.mu.Lock()
		stale := (!f.state.open || f.state.listing) && f.state.status.State == status.Live && ctx.Err() == nil
		stale = stale && f.state.set(status.Stale, at, "The watch ended and has not been opened again yet.")
		f.mu.Unlock()
		f.announce(stale)
	})
}

// recordFailure records that a list, or the request for a watch, failed. The Reflector or the poll retries it. If the
// API server forbids or does not know the resource, its rows are removed.
func (f *feed) recordFailure(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	f.mu.Lock()
	state := status.StateOf(err, f.state.synced)
	// Change synced together with the state. Otherwise readers could mistake rows that are not sent for an empty
	// list.
	f.state.synced = f.state.synced && !state.IsRefused()
	since := time.Now()
	if state == status.Stale && !f.state.interruptedSince.IsZero() {
		since = f.state.interruptedSince
	}
	changed := f.state.set(state, since, status.ReasonOf(err))
	f.state.status.IsInvalidRequest = apierrors.IsBadRequest(err) || apierrors.IsInvalid(err)
	f.mu.Unlock()
	f.announce(changed)
	if state.IsRefused() {
		f.RequestReconcile() // The reconciler removes the rows, see dropForbidden.
	}
}

func (f *feed) announce(changed bool) {
	if !changed {
		return
	}
	f.mu.Lock()
	status := f.state.status
	f.mu.Unlock()
	f.options.Log.Info("the state of the resource has changed", "namespace", f.namespace, "state", status.State,
		"reason", status.Reason)
	f.notify()
}

func (i *Informer) notify() {
	i.Wake()
	i.options.StateChanged()
}
