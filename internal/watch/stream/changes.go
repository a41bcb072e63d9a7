package stream

import (
	"context"
	"slices"
	"time"

	"glasshouse/internal/watch/event"
	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/jsonscan"
	"glasshouse/internal/watch/listwatch"
)

const (
	// maxHistoryChanges is the maximum number of past changes that a reader of the Changes view gets at its start.
	maxHistoryChanges = 200
	// maxHistoryBytes is the maximum size of these past changes, in bytes. The last one can exceed it.
	maxHistoryBytes = 1 << 20
)

// beginChanges returns the first message for a reader of the Changes view, or nil if the data is not available yet.
// The message contains the newest changes of the history, and the time since which they are complete.
//
// For a reader of one object, the message also contains the object as it was before these changes. The reader applies
// the patches of the changes to it to get the present object.
func (s *Reader) beginChanges(ctx context.Context) ([]byte, error) {
	now, start := s.informer.VisibleState(s.Filter), s.informer.CurrentEpochStart()
	s.Filter.Columns, s.position.cursor = now.Columns, s.informer.Now()
	var before *listwatch.Object
	if s.options.Key != "" {
		if o, ok, cursor := s.informer.Get(s.options.Key); ok && s.Filter.Match(o) {
			before, s.position.cursor = o, cursor
		}
	}
	// Reserve memory before the events are built, because they can have up to maxHistoryBytes.
	if !s.buffer.acquire(objectMemory) {
		return nil, nil
	}
	earliest := s.position.earliest()
	events, oldest, complete, err := s.scanHistory(ctx, start.Cursor, earliest)
	if err != nil {
		return nil, err
	}
	if later := s.informer.VisibleState(s.Filter); !now.Synced || !later.Synced || !now.IsUnchanged(later) {
		return nil, nil
	}
	if len(events) == 0 {
		if err := s.options.Check(ctx); err != nil {
			return nil, err
		}
	}
	s.recordSnapshotSent(now.Version)
	since := latest(s.informer.CompleteSince(s.Filter.Namespaces), earliest)
	if !complete {
		since = latest(since, oldest.Time)
	}
	message := append(s.message("snapshot"), `,"since":"`...)
	message = since.UTC().AppendFormat(message, time.RFC3339Nano)
	message = append(message, `","events":[`...)
	for n, event := range slices.Backward(events) {
		message = append(message, event...)
		if n > 0 {
			message = append(message, ',')
		}
	}
	message = append(message, `],"last":true`...)
	if oldest != nil {
		before = s.Filter.MatchingOld(oldest)
	}
	if s.options.Key == "" || before == nil {
		return message, nil
	}
	text, err := s.options.GuestMask.Object(before).JSON()
	if err != nil {
		return nil, err
	}
	return append(append(message, `,"object":`...), text...), nil
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (s *Reader) scanHistory(
	ctx context.Context, after journal.Cursor, earliest time.Time,
) (events [][]byte, oldest *event.Change, complete bool, err error) {
	release, err := s.options.AcquireScan(ctx)
	if err != nil {
		return nil, nil, false, err
	}
	defer release()
	return s.readHistory(s.position.cursor, after, earliest)
}

// readHistory returns the events of the changes between the cursors after and until, newest first. It omits changes
// from before the time earliest. The result oldest is the oldest returned change.
//
// It stops at maxHistoryChanges events or maxHistoryBytes bytes. The result complete is false if it reached one of
// these limits.
func (s *Reader) readHistory(
	until, after journal.Cursor, earliest time.Time,
) (events [][]byte, oldest *event.Change, complete bool, err error) {
	size := 0
	for until.Offset > after.Offset {
		changes := s.informer.History(until, batch)
		for _, c := range slices.Backward(changes) {
			if c.Offset <= after.Offset || c.Time.Before(earliest) {
				return events, oldest, true, nil
			}
			event, err := s.event(c)
			switch {
			case err != nil:
				return nil, nil, false, err
			case event == nil:
				continue
			case len(events) == maxHistoryChanges || size > maxHistoryBytes:
				return events, oldest, false, nil
			}
			size += len(event)
			events, oldest = append(events, event), c
		}
		if len(changes) == 0 {
			break
		}
		until = journal.At(changes[0].Offset - 1)
	}
	return events, oldest, true, nil
}

// appendObject adds the JSON text of the object o to an encoded event. The client applies the patches of later events
// to this text.
func appendObject(event []byte, o *listwatch.Object) ([]byte, error) {
	text, err := o.JSON()
	if err != nil {
		return nil, err
	}
	event = append(event[:len(event)-1], `,"object":`...)
	return append(append(event, text...), '}'), nil
}

// changeEvent encodes a change as an event of the Changes view. It returns nil if the object itself did not change:
// only its cells changed, or a permission made it visible or hidden.
func changeEvent(c *event.Change, cache *event.Cache) ([]byte, error) {
	if c.Memo.CoverageOnly {
		return nil, nil
	}
	o, op := c.New, "add"
	var delta *event.Delta
	switch c.Op {
	case journal.Add:
	case journal.Delete:
		o, op = c.Old, "delete" // No author is added, because managedFields do not record deletions.
	case journal.Update:
		op = "update"
		var err error
		if delta, err = event.DeltaOf(c, cache); err != nil || delta.IsEmpty {
			return nil, err
		}
	}
	encoded := append([]byte(`{"op":"`), op...)
	encoded = append(encoded, `","ns":`...)
	encoded = jsonscan.AppendString(encoded, o.Namespace())
	encoded = append(encoded, `,"name":`...)
	encoded = jsonscan.AppendString(encoded, o.Name())
	encoded = o.AppendVersion(encoded)
	encoded = append(encoded, `,"time":"`...)
	encoded = c.Time.UTC().AppendFormat(encoded, "2006-01-02T15:04:05.000Z")
	encoded = append(encoded, '"')
	if delta != nil {
		encoded = append(encoded, delta.Text...)
		if delta.OldValues != nil {
			encoded = append(append(encoded, `,"was":`...), delta.OldValues...)
		}
	}
	if by, _ := event.NewestAuthor(c); c.Op == journal.Add && by != nil {
		encoded = event.AppendMember(encoded, "by", by)
	}
	return append(encoded, '}'), nil
}
