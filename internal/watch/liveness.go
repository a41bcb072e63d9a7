package watch

import (
	"context"
	"errors"
	"time"

	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/wire"
)

// observe takes note of the progress of a list.
func (i *informer) observe(objects int) {
	i.mu.Lock()
	i.listed = objects
	tell := time.Since(i.told) >= countInterval && i.status.State == Syncing
	if tell {
		i.told = time.Now()
		i.status.Count = &objects
	}
	i.mu.Unlock()
	if tell {
		i.Nudge()
	}
}

// restart prepares for a list.
func (i *informer) restart(ctx context.Context) {
	i.mu.Lock()
	i.listed = 0
	i.mu.Unlock()
	i.source.SetDates(i.dates(ctx))
}

// panicked logs what a decoder could not cope with.
func (i *informer) panicked(v any, stack []byte) {
	i.log.Error("decoding panicked", "panic", v, "stack", string(stack))
}

// stalled takes note that a streaming list came to nothing.
func (i *informer) stalled() {
	i.mu.Lock()
	i.noStreams = true
	i.mu.Unlock()
	i.log.Warn("the streaming list made no progress; from now on the resource is listed in one answer", "after", stall)
}

func (i *informer) streamsStall() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.noStreams
}

// refuse takes note of why the watch is refused; "" is not at all.
func (i *informer) refuse(reason string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.refused = reason
}

func (i *informer) refusedToWatch() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.refused
}

// opened says that a watch is open. One that begins with a list is live only
// when that has been read.
func (i *informer) opened(initial bool) {
	i.mu.Lock()
	i.open, i.listing = true, initial
	live := i.synced && !initial
	i.mu.Unlock()
	if live {
		i.setStatus(Live, time.Now(), "")
		return
	}
	i.Nudge()
}

// ended says that the watch is closed: live no more, unless the next one opens
// within grace.
func (i *informer) ended(ctx context.Context) {
	at := time.Now()
	i.mu.Lock()
	defer i.mu.Unlock()
	i.open = false
	if i.pending != nil {
		i.pending.Stop()
		i.pending = nil
	}
	if i.status.State != Live || ctx.Err() != nil {
		return
	}
	i.pending = time.AfterFunc(grace, func() {
		i.mu.Lock()
		stale := (!i.open || i.listing) && i.status.State == Live && ctx.Err() == nil
		i.mu.Unlock()
		if stale {
			i.setStatus(Stale, at, "The watch ended and has not been opened again yet.")
		}
	})
}

// fail says that a list or the opening of a watch failed; it is tried again.
// Rows that may not be seen any more, or are no more, go.
func (i *informer) fail(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	i.mu.Lock()
	state := stateOf(err, i.synced)
	purge := i.synced && (state == Forbidden || state == Absent)
	if purge {
		i.synced, i.purged = false, true // In one step with the state: no rows are not none.
	}
	changed := i.setStatusLocked(state, time.Now(), reasonOf(err))
	i.mu.Unlock()
	if purge {
		i.Replace(nil)
	}
	i.tell(changed)
}

func (i *informer) setStatus(state State, since time.Time, reason string) {
	i.mu.Lock()
	changed := i.setStatusLocked(state, since, reason)
	i.mu.Unlock()
	i.tell(changed)
}

// setStatusLocked reports whether there is something to tell. A state that
// stays keeps the time it began.
func (i *informer) setStatusLocked(state State, since time.Time, reason string) bool {
	if i.status.State == state {
		since = i.status.Since
	}
	changed := i.status.State != state || i.status.Reason != reason
	i.status = Status{State: state, Since: since, Reason: reason}
	if i.pending != nil {
		i.pending.Stop()
		i.pending = nil
	}
	return changed
}

// tell has readers look at a Status that has changed.
func (i *informer) tell(changed bool) {
	if !changed {
		return
	}
	status := i.present().status
	i.log.Info("resource state", "state", status.State, "reason", status.Reason)
	i.Nudge()
}

// present is what a reader must know beside the journal.
type present struct {
	status  Status
	synced  bool
	columns []wire.Column
	version int

	answered bool // The API server has let the first list begin, or refused it.
}

func (i *informer) present() present {
	i.mu.Lock()
	defer i.mu.Unlock()
	now := present{
		status: i.status, synced: i.synced, columns: i.columns, version: i.version,
		answered: i.open || i.listed > 0 || i.status.State != Syncing,
	}
	if now.columns == nil && i.source != nil {
		now.columns = i.source.Columns() // Known before the first list is whole.
	}
	return now
}

// wait returns when until holds, at the end of ctx, or after long enough.
func (i *informer) wait(ctx context.Context, long time.Duration, until func(present) bool) {
	ctx, cancel := context.WithTimeout(ctx, long)
	defer cancel()
	for cursor := i.Now(); !until(i.present()); {
		_, next, err := i.Next(ctx, cursor, 1)
		if errors.Is(err, journal.ErrGone) {
			next = i.Now()
		} else if err != nil {
			return
		}
		cursor = next
	}
}
