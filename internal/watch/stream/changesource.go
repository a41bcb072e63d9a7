package stream

import (
	"context"

	"glasshouse/internal/watch/event"
	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/query"
)

// changeSource waits for the next changes of a client, and reads those that go into one message.
type changeSource struct{ client *client }

// next waits for changes, and returns them with the cursor after them. It returns at most those up to the journal
// offset until.
func (s changeSource) next(ctx context.Context, until uint64) ([]*event.Change, journal.Cursor, error) {
	c, at := s.client, s.client.position.cursor
	limit := int(min(batch, until-at.Offset)) //nolint:gosec // The result is at most batch.
	if c.filter.IsRestricted {
		return s.nextVisible(ctx, until, limit)
	}
	firstLimit := limit
	if c.coalescer.isPausing() {
		// Wait only for the first change, because all changes are read again after the pause.
		firstLimit = 1
	}
	changes, next, err := c.informer.NextWithin(ctx, c.schedule.start, at, firstLimit)
	if err != nil || len(changes) == 0 {
		return nil, next, err
	}
	//nolint:gosec // A limit is not negative.
	hasPaused := c.informer.Now().Offset-at.Offset < uint64(limit) && c.coalescer.pause(ctx)
	if hasPaused {
		limit = min(limit, int(s.boundary()-at.Offset)) //nolint:gosec // The boundary is not below the cursor.
	}
	if hasPaused || firstLimit < limit {
		return c.informer.Next(ctx, at, limit)
	}
	return changes, next, nil
}

// boundary returns the journal offset at which the reader ends its batch after a pause. A restricted reader, which may
// not see all objects, shares boundaries only with readers of the same filter. The boundaries of other readers would
// reveal when hidden objects change.
func (s changeSource) boundary() uint64 {
	c := s.client
	var id query.FilterID
	if c.filter.IsRestricted {
		id = c.id()
	}
	return c.informer.sharedBatches.boundary(
		id, c.position.cursor.Offset, func() uint64 { return c.informer.Now().Offset },
	)
}

// nextVisible waits for changes, and reads those up to the journal offset until. It returns the changes that the
// restricted reader is permitted to see, and the cursor after all changes that it has read. If all of them are
// hidden, it returns none. Hidden changes neither start nor end a pause between messages, and do not count towards
// the size of a batch.
func (s changeSource) nextVisible(
	ctx context.Context, until uint64, limit int,
) ([]*event.Change, journal.Cursor, error) {
	c := s.client
	changes, next, err := c.informer.NextWithin(ctx, c.schedule.start, c.position.cursor, limit)
	if err != nil || len(changes) == 0 {
		return nil, next, err
	}
	for _, change := range changes {
		if !s.canSee(change) {
			continue
		}
		from := journal.At(change.Offset - 1)
		if c.coalescer.pause(ctx) {
			return s.collectVisible(ctx, from, min(until, s.boundary()))
		}
		return s.collectVisible(ctx, from, min(until, c.informer.Now().Offset))
	}
	return nil, next, nil
}

// collectVisible reads the changes from the cursor at to the offset until. It returns those that the reader is
// permitted to see, at most batch, and the cursor after the last change that it has read.
func (s changeSource) collectVisible(
	ctx context.Context, at journal.Cursor, until uint64,
) ([]*event.Change, journal.Cursor, error) {
	var visible []*event.Change
	for at.Offset < until {
		changes, next, err := s.client.informer.Next(
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

func (s changeSource) canSee(c *event.Change) bool {
	key := s.client.options.Key
	return (key == "" || c.Key == key) && s.client.filter.VisibleChange(c) != nil
}
