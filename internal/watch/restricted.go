package watch

import (
	"context"
	"errors"
	"time"

	"glasshouse/internal/watch/cursor"
	"glasshouse/internal/watch/event"
	"glasshouse/internal/watch/journal"
)

// A restricted reader may not see every object of its resource: filter.isRestricted is set. Nothing that it receives
// may depend on hidden changes, not even the time of a message.

// restrictedHistory limits how far back the changes view of a restricted reader starts. It also limits the age of a
// cursor from which such a reader resumes. The end of the history cannot be the limit: changes of all objects fill the
// history, so its end would reveal hidden changes.
const restrictedHistory = time.Minute

// notResumed is the reason of the reset if a restricted reader cannot resume from its cursor. The text is the same for
// all causes, because the cause may depend on hidden changes.
const notResumed = "you may not see all objects of this resource, so a cursor is valid for at most one minute"

// restrictedOffset decodes the cursor of a restricted reader, and returns the offset from which the reader resumes.
func (s *reader) restrictedOffset(at string, epoch uint64) (uint64, error) {
	c, ok := cursor.DecodeRestricted(at)
	if !ok {
		return 0, errors.New(notResumed)
	}
	cipher := s.newCipher()
	offset, issued, ok := cipher.DecryptRestricted(&c, epoch)
	if !ok || !s.isRecent(issued) || s.hasGap(offset) || !s.informer.retainsAfter(offset) {
		return 0, errors.New(notResumed)
	}
	// The first heartbeat sends a new cursor, because this one is older.
	s.restrictedCursor, s.isCursorRepeated = c, true
	return offset, nil
}

// isRecent reports whether a cursor that was issued at a time is recent enough to resume from. Its age may be at most
// restrictedHistory, and at most half of the ring's age: the history must not drop the changes after a recent cursor
// because of their age.
func (s *reader) isRecent(issued time.Time) bool {
	age := time.Since(issued)
	return age >= 0 && age <= min(restrictedHistory, s.informer.ring.Age/2)
}

// retainsAfter reports whether the history contains all changes after an offset.
func (i *informer) retainsAfter(offset uint64) bool {
	return offset == i.Now().Offset || len(i.History(journal.At(offset+1), 1)) > 0
}

// earliest returns the time from which on the changes view may show changes to this reader. It is the zero time if the
// complete history may be shown.
func (s *reader) earliest(now time.Time) time.Time {
	if !s.filter.isRestricted {
		return time.Time{}
	}
	return now.Add(-min(restrictedHistory, s.informer.ring.Age))
}

// nextVisible waits for changes up to the offset until. It returns those that the restricted reader may see, and the
// cursor after them. If all changes that it read are hidden, it returns none. Hidden changes do not start or end a
// pause, and do not count towards the size of a batch.
func (s *reader) nextVisible(ctx context.Context, until uint64) ([]*event.Change, journal.Cursor, error) {
	limit := int(min(batch, until-s.cursor.Offset)) //nolint:gosec // The result is at most batch.
	changes, next, err := s.informer.NextWithin(ctx, s.startTimer, s.cursor, limit)
	if err != nil || len(changes) == 0 {
		return nil, next, err
	}
	for _, c := range changes {
		if !s.canSee(c) {
			continue
		}
		from := journal.At(c.Offset - 1)
		if s.coalescer.pause(ctx) {
			return s.collectVisible(ctx, from, min(until, s.batchBoundary()))
		}
		return s.collectVisible(ctx, from, min(until, s.informer.Now().Offset))
	}
	return nil, next, nil
}

// collectVisible returns at most batch changes that the reader may see, from the cursor at up to the offset until.
func (s *reader) collectVisible(
	ctx context.Context, at journal.Cursor, until uint64,
) ([]*event.Change, journal.Cursor, error) {
	var visible []*event.Change
	for at.Offset < until {
		changes, next, err := s.informer.Next(
			ctx, at, int(min(batch, until-at.Offset)), //nolint:gosec // The number is at most batch.
		)
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

// canSee reports whether the reader may see something of a change.
func (s *reader) canSee(c *event.Change) bool {
	return (s.key == "" || c.Key == s.key) && s.filter.visibleChange(c) != nil
}
