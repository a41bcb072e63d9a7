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

// changes is the view Changes: the newest changes of the history, and then every change.
type changes struct{ events }

func newChanges(c *client) *changes {
	v := &changes{}
	v.events = events{c, v.encode}
	return v
}

// begin returns a message with the newest changes of the history, and the time since which they are complete.
//
// For a reader of one object, the message also contains the object as it was before these changes. The reader applies
// the patches of the changes to it to get the present object.
func (v *changes) begin(ctx context.Context) ([]byte, error) {
	c := v.client
	now, start := c.informer.VisibleState(c.filter), c.informer.CurrentEpochStart()
	c.filter.Columns, c.position.cursor = now.Columns, c.informer.Now()
	var before *listwatch.Object
	if c.options.Key != "" {
		if o, ok, cursor := c.informer.Get(c.options.Key); ok && c.filter.Match(o) {
			before, c.position.cursor = o, cursor
		}
	}
	// Reserve memory before the events are built, because they can have up to maxHistoryBytes.
	if !c.buffer.acquire(objectMemory) {
		return nil, nil
	}
	earliest := c.position.earliest()
	events, oldest, complete, err := v.readHistory(ctx, c.position.cursor, start.Cursor, earliest)
	if err != nil {
		return nil, err
	}
	if later := c.informer.VisibleState(c.filter); !now.Synced || !later.Synced || !now.IsUnchanged(later) {
		return nil, nil
	}
	if len(events) == 0 {
		if err := c.options.Check(ctx); err != nil {
			return nil, err
		}
	}
	c.position.version = now.Version
	starts := []time.Time{c.informer.CompleteSince(c.filter.Namespaces), earliest}
	if !complete {
		starts = append(starts, oldest.Time)
	}
	since := slices.MaxFunc(starts, time.Time.Compare)
	slices.Reverse(events)
	message := append(c.message("snapshot"), `,"since":"`...)
	message = append(since.UTC().AppendFormat(message, time.RFC3339Nano), '"')
	message = append(appendEvents(message, events), `,"last":true`...)
	if oldest != nil {
		before = c.filter.MatchingOld(oldest)
	}
	if c.options.Key == "" || before == nil {
		return message, nil
	}
	text, err := c.options.GuestMask.Object(before).JSON()
	if err != nil {
		return nil, err
	}
	return append(append(message, `,"object":`...), text...), nil
}

// readHistory returns the events of the changes between the cursors after and until, newest first. It omits changes
// from before the time earliest. The result oldest is the oldest returned change.
//
// It stops at maxHistoryChanges events or maxHistoryBytes bytes. The result complete is false if it reached one of
// these limits.
func (v *changes) readHistory(
	ctx context.Context, until, after journal.Cursor, earliest time.Time,
) (events [][]byte, oldest *event.Change, complete bool, err error) {
	release, err := v.client.options.AcquireScan(ctx)
	if err != nil {
		return nil, nil, false, err
	}
	defer release()
	size := 0
	for until.Offset > after.Offset {
		changes := v.client.informer.History(until, batch)
		for _, c := range slices.Backward(changes) {
			if c.Offset <= after.Offset || c.Time.Before(earliest) {
				return events, oldest, true, nil
			}
			event, err := v.event(c)
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

// encode encodes a change as an event. It returns nil if the object itself did not change: only its cells changed, or a
// permission made it visible or hidden.
//
// For a reader of one object, the event of an add contains the JSON text of the object, to which the client applies the
// patches of later events.
func (v *changes) encode(c *event.Change, cache *event.Cache) ([]byte, error) {
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
	if c.Op == journal.Add && v.client.options.Key != "" {
		text, err := o.JSON()
		if err != nil {
			return nil, err
		}
		encoded = append(append(encoded, `,"object":`...), text...)
	}
	return append(encoded, '}'), nil
}
