package stream

import (
	"context"
	"errors"
	"time"

	"glasshouse/internal/watch/cursor"
	"glasshouse/internal/watch/event"
	"glasshouse/internal/watch/journal"
)

// A restricted reader is one whose viewer is not permitted to see all objects of the resource (filter.IsRestricted).
// Nothing that it receives may depend on changes of hidden objects, not even the time of a message.

// restrictedHistory is the maximum age of the changes with which the Changes view of a restricted reader starts, and
// of a cursor from which such a reader can resume. The start of the history cannot be the limit: changes of hidden
// objects also fill the history, so its start would reveal them.
const restrictedHistory = time.Minute

// notResumed is the reason in the reset message if a restricted reader (which may not see all objects) cannot resume
// from its cursor. The text is the same for all causes, because the cause can depend on hidden changes.
const notResumed = "you are not allowed to see all objects of this resource, so a cursor is valid for at most " +
	"one minute"

// restrictedOffset decrypts a cursor of a restricted reader (which may not see all objects). It returns the offset in
// the changes from which the reader resumes. If the reader cannot resume, the error is notResumed.
func (s *Reader) restrictedOffset(at string, epoch uint64) (uint64, error) {
	c, ok := cursor.DecodeRestricted(at)
	if !ok {
		return 0, errors.New(notResumed)
	}
	cipher := s.options.NewCipher()
	offset, issued, ok := cipher.DecryptRestricted(&c, epoch)
	if !ok || !s.isRecent(issued) || s.hasGap(offset) || !s.informer.RetainsAfter(offset) {
		return 0, errors.New(notResumed)
	}
	// Count this old cursor as repeated, so that the reader gets a new one before the first heartbeat.
	s.restrictedCursor, s.isCursorRepeated = c, true
	return offset, nil
}

// isRecent reports whether a restricted reader (which may not see all objects) can resume from a cursor that was
// issued at the given time. The age of the cursor can be at most restrictedHistory, and at most half of the maximum
// age of the history. The history therefore never drops the changes after such a cursor because of their age.
func (s *Reader) isRecent(issued time.Time) bool {
	age := time.Since(issued)
	return age >= 0 && age <= min(restrictedHistory, s.informer.HistoryAge()/2)
}

// earliest returns the start of the history that this reader may get in the Changes view. The zero time means the
// complete history.
func (s *Reader) earliest(now time.Time) time.Time {
	if !s.Filter.IsRestricted {
		return time.Time{}
	}
	return now.Add(-min(restrictedHistory, s.informer.HistoryAge()))
}

// nextVisible waits for changes, and reads those up to the journal offset until. It returns the changes that the
// restricted reader is permitted to see, and the cursor after all changes that it has read. If all of them are
// hidden, it returns none. Hidden changes neither start nor end a pause between messages, and do not count towards
// the size of a batch.
func (s *Reader) nextVisible(ctx context.Context, until uint64) ([]*event.Change, journal.Cursor, error) {
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

// collectVisible reads the changes from the cursor at to the offset until. It returns those that the reader is
// permitted to see, at most batch, and the cursor after the last change that it has read.
func (s *Reader) collectVisible(
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

func (s *Reader) canSee(c *event.Change) bool {
	return (s.options.Key == "" || c.Key == s.options.Key) && s.Filter.VisibleChange(c) != nil
}
