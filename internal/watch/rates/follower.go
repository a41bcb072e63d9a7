package rates

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/event"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/journal"
)

const (
	batch = 1000
	// restrictedHistory limits the age of the earlier changes that a restricted viewer gets. The age of the oldest change
	// in the history would reveal the number of hidden changes.
	restrictedHistory = time.Minute
)

// follower reads the visible changes of one resource: first those in the history, and then the new ones.
type follower struct {
	source  *source
	started bool
	cursor  journal.Cursor
	version int
	// from is the time since which this follower has missed no change. After a new list, this is the time of the list,
	// because changes before the list can be missing.
	from time.Time
	// left contains objects that are no longer in the list, because they were deleted or do not match any more. The key
	// is the journal key. The map is used only if keepsLeft is true.
	left      map[string]departure
	keepsLeft bool
}

// departure describes an object that has left the list: its last version in the list, and the time.
type departure struct {
	object *compact.Object
	at     time.Time
}

// isRead reports whether the viewer may read the resource, and an informer watches it. It is false for a nil follower.
func (f *follower) isRead() bool {
	return f != nil && f.source.Informer != nil && f.source.Refusal == nil
}

// read returns the visible changes since the last call, oldest first. It sets f.started to false as long as the
// informer does not have the complete data of the resource.
func (f *follower) read(ctx context.Context, now time.Time) (changes []*event.Change, err error) {
	i, filter := f.source.Informer, f.source.Filter
	state := i.VisibleState(filter)
	filter.Columns = state.Columns
	isSame := f.started && f.version == state.Version
	if f.started = state.Synced; !f.started {
		return nil, nil
	}
	if isSame {
		changes, err = f.readNew(ctx)
		if err != nil && !errors.Is(err, journal.ErrGone) {
			return nil, err
		}
		f.from = later(f.from, i.ListedSince(filter.Namespaces))
	}
	if !isSame || err != nil {
		f.version, f.left = state.Version, make(map[string]departure)
		changes = f.readHistory(now)
	}
	f.noteLeft(changes, now)
	return changes, nil
}

// readHistory returns the visible changes in the history, and sets the cursor after them.
func (f *follower) readHistory(now time.Time) (changes []*event.Change) {
	i, filter := f.source.Informer, f.source.Filter
	start := i.CurrentEpochStart().Cursor
	f.cursor = i.Now()
	f.from = now.Add(-Buckets * Step)
	if filter.IsRestricted {
		f.from = now.Add(-min(restrictedHistory, i.HistoryAge()))
	}
	for end, isComplete := f.cursor, false; !isComplete && end.Offset > start.Offset; {
		older := i.History(end, batch)
		if len(older) == 0 {
			break
		}
		changes, isComplete = f.appendVisible(changes, older, start.Offset)
		end = journal.At(older[0].Offset - 1)
	}
	f.from = later(f.from, i.CompleteSince(filter.Namespaces))
	slices.Reverse(changes)
	return changes
}

// appendVisible appends the visible changes of the list part to changes, newest first. It stops at the offset start, at
// a change older than f.from, or after maxChanges changes. If isComplete is false, read the older changes of another
// list, too.
func (f *follower) appendVisible(changes, part []*event.Change, start uint64) (_ []*event.Change, isComplete bool) {
	for _, c := range slices.Backward(part) {
		switch {
		case c.Offset <= start || c.Time.Before(f.from):
			return changes, true
		case len(changes) == maxChanges:
			f.from = c.Time
			return changes, true
		case f.sees(c):
			changes = append(changes, c)
		}
	}
	return changes, false
}

// readNew returns the visible changes after the cursor. It does not wait for more.
func (f *follower) readNew(ctx context.Context) (changes []*event.Change, err error) {
	i := f.source.Informer
	for f.cursor.Offset < i.Now().Offset && len(changes) < maxChanges {
		next, cursor, err := i.Next(ctx, f.cursor, batch)
		if err != nil {
			return nil, fmt.Errorf("read changes: %w", err)
		}
		for _, c := range next {
			if f.sees(c) {
				changes = append(changes, c)
			}
		}
		f.cursor = cursor
	}
	return changes, nil
}

// sees reports whether the viewer may see both versions of a changed object. If one version is hidden, the change is
// not counted, because the count would reveal something about this version.
func (f *follower) sees(c *event.Change) bool {
	filter := f.source.Filter
	return c.Op != 0 && !c.Memo.CoverageOnly && (c.Op == journal.Add || filter.MatchesIgnoringText(c.Old)) &&
		(c.Op == journal.Delete || filter.MatchesIgnoringText(c.New))
}

// noteLeft records the objects that have left the list, so that their last changes are still counted.
func (f *follower) noteLeft(changes []*event.Change, now time.Time) {
	if !f.keepsLeft {
		return
	}
	filter := f.source.Filter
	for _, c := range changes {
		if c.Op != journal.Add && filter.Match(c.Old) && (c.Op == journal.Delete || !filter.Match(c.New)) {
			f.left[c.Key] = departure{c.Old, c.Time}
		}
	}
	for key, one := range f.left {
		if now.Sub(one.at) > Buckets*Step || len(f.left) > maxLeft {
			delete(f.left, key)
		}
	}
}

// find returns an object that is in the list now, or was in it during the last 5 minutes. Otherwise, it returns nil.
func (f *follower) find(namespace, name string) *compact.Object {
	if !f.isRead() || !f.started {
		return nil
	}
	key := informer.Key(namespace, name)
	if o, ok, _ := f.source.Informer.Get(key); ok && f.source.Filter.Match(o) {
		return o
	}
	return f.left[key].object
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
