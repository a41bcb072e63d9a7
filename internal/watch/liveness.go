package watch

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	// grace is how long a watch may be away before the resource is called
	// stale: API servers end each watch after some minutes, and the next one
	// opens within milliseconds.
	grace = time.Second
	// countInterval is between two tellings of how far a list has come.
	countInterval = 100 * time.Millisecond
	// countAfter is how long a first list may take before it is asked how many
	// objects there are.
	countAfter = 200 * time.Millisecond
)

// standing is how well a feed goes. The informer's lock guards it.
type standing struct {
	status   Status
	own      bool      // The status is this feed's own, not what was told before it.
	over     bool      // It is being stopped, and live no more.
	synced   bool      // All that was listed is in the journal.
	open     bool      // A watch is open,
	listing  bool      // but has not sent all of its list yet.
	going    bool      // The watch goes on from where the one before ended, or from its list.
	lost     time.Time // Since when none does; zero while one does, and before the first.
	refused  string    // Why the watch was refused, where the list was not.
	outgrown string    // Why its list ended; empty where it did not.
	outdated bool      // It has listed with other columns than those of now.
	stalled  bool      // A streaming list stalled: list the plain way from now on.
	plain    bool      // A streaming list failed: list the plain way once.
	replaced time.Time // When the last list was in the journal.
	listed   int
	told     time.Time // When listed was told last.
	awaited  int       // About how many the first list has; 0 where that is not known.
	pending  *time.Timer
	record
}

// record is what the coverage ledger tells of a feed, or of those before it.
type record struct {
	lists      int // That were read to their end.
	drops      int // Watches that ended.
	blind      int // Intervals without a watch, longer than grace, after a list.
	blindFor   time.Duration
	blindSince time.Time // Of the present one.
	lastEvent  time.Time
}

// add takes in another record, whose interval without a watch has ended.
func (r *record) add(other *record) {
	r.lists += other.lists
	r.drops += other.drops
	r.blind += other.blind
	r.blindFor += other.blindFor
	if other.lastEvent.After(r.lastEvent) {
		r.lastEvent = other.lastEvent
	}
}

// settled stops the clock of a feed that has ended.
func (s *standing) settled() {
	if s.pending != nil {
		s.pending.Stop()
		s.pending = nil
	}
	s.see(time.Now())
}

// see ends an interval without a watch.
func (s *standing) see(now time.Time) {
	if !s.blindSince.IsZero() {
		s.blindFor += now.Sub(s.blindSince)
		s.blindSince = time.Time{}
	}
}

// goOn says that a watch goes on.
func (s *standing) goOn() { s.going, s.lost = true, time.Time{} }

// end says that the feed is being stopped: what was live is told as what follows
// it, which begins with a list.
func (s *standing) end(now time.Time) {
	s.over = true
	if s.status.State == Live {
		s.status = Status{State: Syncing, Since: now}
	}
}

// set changes the status and reports whether there is something to tell. A
// state that stays keeps the time it began.
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

// observe takes note of the progress of a list.
func (f *feed) observe(objects int, bytes int64) {
	f.mu.Lock()
	f.now.listed = objects
	tell := time.Since(f.now.told) >= countInterval && f.now.status.State == Syncing
	if tell {
		f.now.told = time.Now()
		f.now.status.Count, f.now.status.Total = &objects, nil
		if total := f.now.awaited; total >= objects { // Otherwise there are more by now, or it was no good.
			f.now.status.Total = &total
		}
	}
	f.mu.Unlock()
	if tell {
		f.Nudge()
	}
	f.measure(objects, bytes)
}

// await asks how many objects the first list will have, where that takes long
// enough for people to wonder. Of one namespace among several, or with a field
// selector, nobody is told.
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
		return // The list will tell.
	}
	f.mu.Lock()
	f.now.awaited = count
	f.mu.Unlock()
}

// panicked logs what a decoder could not cope with.
func (f *feed) panicked(v any, stack []byte) {
	f.log.Error("decoding panicked", "panic", v, "stack", string(stack))
}

// stalled takes note that a streaming list came to nothing.
func (f *feed) stalled() {
	f.mu.Lock()
	f.now.stalled = true
	f.mu.Unlock()
	f.log.Warn("the streaming list made no progress; from now on the resource is listed in one answer", "after", stall)
}

// streamFailed takes note of why a streaming list came to nothing. A plain one
// follows, which tells more.
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

// refuse takes note of why the watch is refused; "" is not at all.
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

// opens says that a watch is about to be asked for.
func (f *feed) opens() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now.going = false
}

// opened says that a watch is open. One that begins with a list is live only
// when that has been read, another when it is known to go on: the API server may
// have nothing any more to begin with. It has what it has just listed.
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

// goesOn says that the watch that is open, or about to be, does.
func (f *feed) goesOn() {
	f.mu.Lock()
	f.now.goOn()
	changed := f.now.open && !f.now.listing && f.now.synced && f.now.set(Live, time.Now(), "")
	f.mu.Unlock()
	f.announce(changed)
}

// ended says that the watch is closed: live no more, unless another goes on within
// grace. One that did not has ended nothing.
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

// fail says that a list or the opening of a watch failed; it is tried again.
// Rows that may not be seen any more, or are no more, go.
func (f *feed) fail(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	f.mu.Lock()
	state := stateOf(err, f.now.synced)
	f.now.synced = f.now.synced && !state.refused() // In one step with the state: no rows are not none.
	since := time.Now()
	if state == Stale && !f.now.lost.IsZero() {
		since = f.now.lost
	}
	changed := f.now.set(state, since, reasonOf(err))
	f.now.status.senseless = apierrors.IsBadRequest(err) || apierrors.IsInvalid(err)
	f.mu.Unlock()
	f.announce(changed)
	if state.refused() {
		f.kick() // See heed.
	}
}

// announce has readers look at a Status that has changed.
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

// tell has whoever looks at the informer look at its state.
func (i *informer) tell() {
	i.Nudge()
	i.changed()
}
