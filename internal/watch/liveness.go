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

func (i *informer) restart() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.listed = 0
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

// opened says that a watch is open. One that begins with a list is live only
// when that has been read.
func (i *informer) opened(initial bool) {
	i.mu.Lock()
	i.streaming = true
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
	i.streaming = false
	if i.status.State != Live || ctx.Err() != nil {
		return
	}
	i.pending = time.AfterFunc(grace, func() {
		i.mu.Lock()
		stale := !i.streaming && i.status.State == Live
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
	since := i.status.Since
	if state != i.status.State {
		since = time.Now()
	}
	purge := i.synced && (state == Forbidden || state == Absent)
	i.mu.Unlock()
	i.setStatus(state, since, reasonOf(err)) // First: rows that may not be seen must not look like rows that were deleted.
	if purge {
		i.Replace(nil)
	}
}

func (i *informer) setStatus(state State, since time.Time, reason string) {
	i.mu.Lock()
	if i.status.State == state {
		since = i.status.Since
	}
	changed := i.status.State != state || i.status.Reason != reason
	i.status = Status{State: state, Since: since, Reason: reason}
	if i.pending != nil {
		i.pending.Stop()
		i.pending = nil
	}
	i.mu.Unlock()
	if changed {
		i.log.Info("resource state", "state", state, "reason", reason)
		i.Nudge()
	}
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
		answered: i.streaming || i.listed > 0 || i.status.State != Syncing,
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
