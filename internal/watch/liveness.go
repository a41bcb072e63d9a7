package watch

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	// grace is how long a watch may be interrupted before the resource is reported as stale. API servers end each watch
	// after some minutes, and the next one opens within milliseconds.
	grace = time.Second
	// countInterval is the time between two progress reports of a list.
	countInterval = 100 * time.Millisecond
	// countAfter is how long a first list may take before the number of objects is requested.
	countAfter = 200 * time.Millisecond
)

// standing is the state of a feed (one list and watch of an informer). The informer's lock guards it.
type standing struct {
	status   Status
	own      bool      // This feed has set the status itself; otherwise it still is the initial one.
	over     bool      // The feed is being stopped and must not become Live again.
	synced   bool      // All listed objects are in the journal.
	open     bool      // A watch is open.
	listing  bool      // The open watch has not sent all of its initial list yet.
	going    bool      // The watch continues where the previous one ended, or after its own list.
	lost     time.Time // Since when no watch continues; zero while one does, and before the first.
	refused  string    // Why the API server refused the watch, although it allowed the list.
	outgrown string    // Why its list was canceled for memory; empty if it was not.
	outdated bool      // Its objects were listed with columns that have changed since.
	stalled  bool      // A streaming list stalled: use plain lists from now on.
	plain    bool      // A streaming list failed: use a plain list once.
	replaced time.Time // When the last list was in the journal.
	listed   int
	told     time.Time // When the progress of the list was last reported.
	awaited  int       // The approximate number of objects of the first list; 0 if unknown.
	pending  *time.Timer
	record
}

// record contains statistics for the watch status: those of one feed, or the sums of all feeds that have ended.
type record struct {
	lists      int // Lists that were read to their end.
	drops      int // Watches that ended.
	blind      int // Interruptions: intervals without a watch, longer than grace, after a list.
	blindFor   time.Duration
	blindSince time.Time // Start of the present interruption; zero if there is none.
	lastEvent  time.Time
}

// add adds the statistics of other, except an interruption that has not ended.
func (r *record) add(other *record) {
	r.lists += other.lists
	r.drops += other.drops
	r.blind += other.blind
	r.blindFor += other.blindFor
	if other.lastEvent.After(r.lastEvent) {
		r.lastEvent = other.lastEvent
	}
}

// settled is called when a feed has ended. It stops the timer of the feed, and ends its interruption.
func (s *standing) settled() {
	if s.pending != nil {
		s.pending.Stop()
		s.pending = nil
	}
	s.see(time.Now())
}

// see ends the present interruption, if there is one, and counts its duration.
func (s *standing) see(now time.Time) {
	if !s.blindSince.IsZero() {
		s.blindFor += now.Sub(s.blindSince)
		s.blindSince = time.Time{}
	}
}

// goOn records that a watch continues where the previous one ended, or after its own list.
func (s *standing) goOn() { s.going, s.lost = true, time.Time{} }

// end records that the feed is being stopped. A Live status becomes Syncing, because the feed that follows begins with
// a list.
func (s *standing) end(now time.Time) {
	s.over = true
	if s.status.State == Live {
		s.status = Status{State: Syncing, Since: now}
	}
}

// set changes the status, and reports whether readers must be informed. While the state stays the same, its start time
// is kept.
func (s *standing) set(state State, since time.Time, reason string) bool {
	if s.over && state == Live {
		return false
	}
	changed := s.status.State != state || s.status.Reason != reason
	if s.status.State == state {
		since = s.status.Since
	}
	switch {
	case state == Live:
		s.see(since)
	case s.status.State == Live:
		s.blind++
		s.blindSince = since
	}
	s.status, s.own = Status{State: state, Since: since, Reason: reason}, true
	if s.pending != nil {
		s.pending.Stop()
		s.pending = nil
	}
	return changed
}

// observe records the progress of a list, and reports it to readers at intervals.
func (f *feed) observe(objects int, bytes int64) {
	f.mu.Lock()
	f.now.listed = objects
	tell := time.Since(f.now.told) >= countInterval && f.now.status.State == Syncing
	if tell {
		f.now.told = time.Now()
		f.now.status.Count, f.now.status.Total = &objects, nil
		// Without a total, the estimate was too low: there are more objects by now, or it was wrong.
		if total := f.now.awaited; total >= objects {
			f.now.status.Total = &total
		}
	}
	f.mu.Unlock()
	if tell {
		f.Nudge()
	}
	f.measure(objects, bytes)
}

// await requests the number of objects from the API server, if the first list takes so long that its progress must be
// shown. It sends no request for one namespace among several, with a field selector, or for metadata alone. No total is
// reported for those.
func (f *feed) await(ctx context.Context) {
	if f.namespace != "" || f.scope.Fields != "" || f.scope.Metadata {
		return
	}
	sleep(ctx, countAfter)
	f.mu.Lock()
	waiting := f.now.status.State == Syncing
	f.mu.Unlock()
	if !waiting || ctx.Err() != nil {
		return
	}
	count, err := f.client.Count(ctx, f.scope)
	if err != nil {
		return // The list will report the error.
	}
	f.mu.Lock()
	f.now.awaited = count
	f.mu.Unlock()
}

// panicked logs a panic of the decoder.
func (f *feed) panicked(v any, stack []byte) {
	f.log.Error("decoding panicked", "panic", v, "stack", string(stack))
}

// stalled records that a streaming list made no progress.
func (f *feed) stalled() {
	f.mu.Lock()
	f.now.stalled = true
	f.mu.Unlock()
	f.log.Warn("the streaming list made no progress; using plain lists from now on", "after", stall)
}

// streamFailed records why a streaming list failed. A plain list follows, whose error is more precise.
func (f *feed) streamFailed(ctx context.Context, err error) {
	f.mu.Lock()
	f.now.plain = true
	f.mu.Unlock()
	f.fail(ctx, err)
}

func (f *feed) noStreams() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now.stalled || f.now.plain
}

// refuse records why the API server refuses the watch; "" means that it does not.
func (f *feed) refuse(reason string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now.refused = reason
}

func (f *feed) refusedToWatch() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now.refused
}

// opens records that a watch is about to be requested.
func (f *feed) opens() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now.going = false
}

// opened records that a watch is open. initial means that the watch begins with a list; the feed then becomes Live only
// when that list has been read.
//
// Any other watch makes the feed Live only when it is known to continue without a gap: the API server may no longer
// have the version from which it was to start. The API server does have the version of a list that ended less than
// grace ago.
func (f *feed) opened(initial bool) {
	f.mu.Lock()
	f.now.open, f.now.listing = true, initial
	if time.Since(f.now.replaced) < grace {
		f.now.goOn()
	}
	live := f.now.synced && !initial && f.now.going
	changed := live && f.now.set(Live, time.Now(), "")
	f.mu.Unlock()
	f.announce(changed)
	if !live {
		f.Nudge()
	}
}

// goesOn records that a watch, which is open or about to be opened, continues without a gap.
func (f *feed) goesOn() {
	f.mu.Lock()
	f.now.goOn()
	changed := f.now.open && !f.now.listing && f.now.synced && f.now.set(Live, time.Now(), "")
	f.mu.Unlock()
	f.announce(changed)
}

// ended records that the watch is closed. The feed becomes Stale, unless another watch continues within grace. If that
// watch also ends without having continued, grace still counts from the first end.
func (f *feed) ended(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.now.lost.IsZero() {
		f.now.lost = time.Now()
	}
	at := f.now.lost
	f.now.open, f.now.going = false, false
	f.now.drops++
	if f.now.pending != nil {
		f.now.pending.Stop()
		f.now.pending = nil
	}
	if f.now.status.State != Live || ctx.Err() != nil {
		return
	}
	f.now.pending = time.AfterFunc(grace-time.Since(at), func() {
		f.mu.Lock()
		stale := (!f.now.open || f.now.listing) && f.now.status.State == Live && ctx.Err() == nil
		stale = stale && f.now.set(Stale, at, "The watch ended and has not been opened again yet.")
		f.mu.Unlock()
		f.announce(stale)
	})
}

// fail records that a list or the opening of a watch failed. The Reflector or the poll retries it. If the API server
// refuses or does not know the resource, its rows are removed.
func (f *feed) fail(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	f.mu.Lock()
	state := stateOf(err, f.now.synced)
	// Change this together with the state: hidden rows must not appear as an empty list.
	f.now.synced = f.now.synced && !state.refused()
	since := time.Now()
	if state == Stale && !f.now.lost.IsZero() {
		since = f.now.lost
	}
	changed := f.now.set(state, since, reasonOf(err))
	f.now.status.senseless = apierrors.IsBadRequest(err) || apierrors.IsInvalid(err)
	f.mu.Unlock()
	f.announce(changed)
	if state.refused() {
		f.kick() // The reconciler handles the refusal in heed.
	}
}

// announce logs a changed status and wakes the readers.
func (f *feed) announce(changed bool) {
	if !changed {
		return
	}
	f.mu.Lock()
	status := f.now.status
	f.mu.Unlock()
	f.log.Info("resource state", "namespace", f.namespace, "state", status.State, "reason", status.Reason)
	f.tell()
}

// tell wakes the informer's readers, and everything that waits for a change of state in the cluster.
func (i *informer) tell() {
	i.Nudge()
	i.changed()
}
