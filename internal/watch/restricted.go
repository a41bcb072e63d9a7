package watch

import (
	"context"
	"errors"
	"time"

	"glasshouse/internal/watch/journal"
)

// A restricted reader may not see every object of its resource: filter.hides is set.
// Its messages, and their times, must not depend on hidden changes.

// restrictedPast is how far back a restricted reader's view changes begins, and how old a
// cursor may be that it resumes from. The kept past ends where changes of all objects
// fill it, so its end would show hidden changes.
const restrictedPast = time.Minute

// notResumed is the reason of the reset that answers a restricted reader's cursor. There
// is one for all causes, because the cause may depend on hidden changes.
const notResumed = "you may not see all of this resource, so a cursor is good for one minute at most"

// restrictedOffset returns the offset that a restricted reader resumes from.
func (s *reading) restrictedOffset(cursor string, epoch uint64) (uint64, error) {
	c, ok := decodeRestricted(cursor)
	if !ok {
		return 0, errors.New(notResumed)
	}
	sealed := s.seal()
	offset, issued, ok := sealed.parseRestricted(&c, epoch)
	if !ok || !s.isRecent(issued) || s.hasGap(offset) || !s.informer.keepsAfter(offset) {
		return 0, errors.New(notResumed)
	}
	// The first silence sends a fresh cursor: this one has grown old.
	s.restricted, s.repeated = c, true
	return offset, nil
}

// isRecent reports whether a cursor may be resumed from. Half of the ring's age bounds
// that, too: the changes after a recent cursor must not be dropped for their age.
func (s *reading) isRecent(issued time.Time) bool {
	age := time.Since(issued)
	return age >= 0 && age <= min(restrictedPast, s.informer.ring.Age/2)
}

// keepsAfter reports whether all changes after an offset are kept.
func (i *informer) keepsAfter(offset uint64) bool {
	return offset == i.Now().Offset || len(i.Past(journal.At(offset+1), 1)) > 0
}

// earliest is the time of the oldest change that the view changes may begin with; the
// zero time where it may begin with all that is kept.
func (s *reading) earliest(now time.Time) time.Time {
	if !s.filter.hides {
		return time.Time{}
	}
	return now.Add(-min(restrictedPast, s.informer.ring.Age))
}

// nextVisible returns the changes up to an offset that a restricted reader may see, and
// the cursor behind them. Hidden changes neither start nor end a pause, nor do they
// count for the size of a batch. It returns no changes where it has read hidden ones.
func (s *reading) nextVisible(ctx context.Context, until uint64) ([]*change, journal.Cursor, error) {
	limit := int(min(batch, until-s.cursor.Offset)) //nolint:gosec // At most batch.
	changes, next, err := s.informer.NextWithin(ctx, s.alarm, s.cursor, limit)
	if err != nil || len(changes) == 0 {
		return nil, next, err
	}
	for _, c := range changes {
		if !s.canSee(c) {
			continue
		}
		from := journal.At(c.Offset - 1)
		if s.pace.rest(ctx) {
			return s.collectVisible(ctx, from, min(until, s.stop()))
		}
		return s.collectVisible(ctx, from, min(until, s.informer.Now().Offset))
	}
	return nil, next, nil
}

// collectVisible returns the visible changes between a cursor and an offset, at most
// batch of them.
func (s *reading) collectVisible(
	ctx context.Context, at journal.Cursor, until uint64,
) ([]*change, journal.Cursor, error) {
	var visible []*change
	for at.Offset < until {
		changes, next, err := s.informer.Next(ctx, at, int(min(batch, until-at.Offset))) //nolint:gosec // At most batch.
		if err != nil {
			return nil, at, err
		}
		for _, c := range changes {
			if len(visible) == batch {
				return visible, journal.At(c.Offset - 1), nil
			}
			if s.canSee(c) {
				visible = append(visible, c)
			}
		}
		at = next
	}
	return visible, at, nil
}

// canSee reports whether the reader may see a change.
func (s *reading) canSee(c *change) bool {
	return (s.key == "" || c.Key == s.key) && s.filter.see(c) != nil
}
