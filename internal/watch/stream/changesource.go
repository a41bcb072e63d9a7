package stream

import (
	"context"

	"github.com/glasshouse-project/glasshouse/internal/watch/event"
	"github.com/glasshouse-project/glasshouse/internal/watch/journal"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
)

// boundaryMaxAge is the maximum age of a boundary: a journal offset at which the batches of several readers end.
const boundaryMaxAge = maxDelay / 2

// changeSource waits for changes that the client has not received. It reads at most as many as fit into one message.
type changeSource struct{ client *client }

// next waits for changes up to the journal offset lastOffset, and returns them with the cursor after them.
func (s changeSource) next(ctx context.Context, lastOffset uint64) ([]*event.Change, journal.Cursor, error) {
	c, at := s.client, s.client.position.cursor
	limit := int(min(batch, lastOffset-at.Offset)) //nolint:gosec // The result is at most batch.
	if c.filter.IsRestricted {
		return s.nextVisible(ctx, lastOffset, limit)
	}
	firstLimit := limit
	if c.coalescer.isPausing() {
		// One change is enough to end the wait, because the reader then pauses, and reads all changes after the pause.
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

// boundary returns the journal offset at which this reader and other readers end their next batch.
func (s changeSource) boundary() uint64 {
	c := s.client
	var id query.FilterID
	// Use a separate boundary for each filter: a common boundary for all readers would reveal when hidden objects
	// change.
	if c.filter.IsRestricted {
		id = c.id()
	}
	return c.informer.Batches.Boundary(
		id, c.position.cursor.Offset, boundaryMaxAge, func() uint64 { return c.informer.Now().Offset },
	)
}

// nextVisible is the variant of next for a restricted reader. Hidden changes affect neither its pauses nor the size of
// its batch.
func (s changeSource) nextVisible(
	ctx context.Context, lastOffset uint64, limit int,
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
			return s.collectVisible(ctx, from, min(lastOffset, s.boundary()))
		}
		return s.collectVisible(ctx, from, min(lastOffset, c.informer.Now().Offset))
	}
	return nil, next, nil
}

// collectVisible returns the visible changes after a cursor, and the cursor after the last read change. The constant
// batch is the maximum number of changes.
func (s changeSource) collectVisible(
	ctx context.Context, cursor journal.Cursor, lastOffset uint64,
) ([]*event.Change, journal.Cursor, error) {
	var visible []*event.Change
	for cursor.Offset < lastOffset {
		changes, next, err := s.client.informer.Next(
			ctx, cursor, int(min(batch, lastOffset-cursor.Offset)), //nolint:gosec // The result is at most batch.
		)
		if err != nil {
			return nil, cursor, err
		}
		for _, c := range changes {
			if len(visible) == batch {
				return visible, journal.At(c.Offset - 1), nil
			}
			if s.canSee(c) {
				visible = append(visible, c)
			}
		}
		cursor = next
	}
	return visible, cursor, nil
}

func (s changeSource) canSee(c *event.Change) bool {
	key := s.client.options.Key
	return (key == "" || c.Key == key) && s.client.filter.VisibleChange(c) != nil
}
