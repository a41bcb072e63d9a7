package stream

import (
	"context"

	"glasshouse/internal/watch/event"
	"glasshouse/internal/watch/journal"
)

// nextVisible waits for changes, and reads those up to the journal offset until. It returns the changes that the
// restricted reader is permitted to see, and the cursor after all changes that it has read. If all of them are
// hidden, it returns none. Hidden changes neither start nor end a pause between messages, and do not count towards
// the size of a batch.
func (s *Reader) nextVisible(ctx context.Context, until uint64) ([]*event.Change, journal.Cursor, error) {
	limit := int(min(batch, until-s.position.cursor.Offset)) //nolint:gosec // The result is at most batch.
	changes, next, err := s.informer.NextWithin(ctx, s.schedule.start, s.position.cursor, limit)
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
