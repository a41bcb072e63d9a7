package stream

import (
	"context"
	"slices"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/event"
	"github.com/glasshouse-project/glasshouse/internal/watch/journal"
	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
	"github.com/glasshouse-project/glasshouse/internal/watch/messages"
)

const (
	// maxHistoryChanges is the maximum number of earlier changes that a reader of the Changes view gets at its start.
	maxHistoryChanges = 200
	// maxHistoryBytes limits the size of the earlier changes that a reader gets at its start, in bytes. It is checked
	// before a change is added, so the last change can exceed it.
	maxHistoryBytes = 1 << 20
)

// changes is the view Changes: first the newest changes of the history, and then every new change.
type changes struct{ events }

func newChanges(c *client) *changes {
	v := &changes{}
	v.events = events{c, v.encode}
	return v
}

// begin returns a message with the newest changes of the history, and with the time since which no change is missing.
func (v *changes) begin(ctx context.Context) ([]byte, error) {
	c := v.client
	now, start := c.informer.VisibleState(c.filter), c.informer.CurrentEpochStart()
	c.filter.Columns, c.position.cursor = now.Columns, c.informer.Now()
	// before is the object before the first change in the message. The client applies the patches of the changes to it.
	var before *compact.Object
	if c.options.Key != "" {
		if o, ok, cursor := c.informer.Get(c.options.Key); ok && c.filter.Match(o) {
			before, c.position.cursor = o, cursor
		}
	}
	// Reserve memory before the events are built, because the events can need up to maxHistoryBytes.
	if !c.buffer.Acquire(messages.ObjectMemory) {
		return nil, nil
	}
	earliest := c.position.earliest()
	events, oldest, isComplete, err := v.readHistory(ctx, c.position.cursor, start.Cursor, earliest)
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
	if !isComplete {
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

// readHistory returns the events since minTime, newest first. isComplete is false if there are more events than
// maxHistoryChanges or maxHistoryBytes permits.
func (v *changes) readHistory(
	ctx context.Context, end, start journal.Cursor, minTime time.Time,
) (events [][]byte, oldest *event.Change, isComplete bool, err error) {
	release, err := v.client.options.AcquireScan(ctx)
	if err != nil {
		return nil, nil, false, err
	}
	defer release()
	size := 0
	for end.Offset > start.Offset {
		changes := v.client.informer.History(end, batch)
		for _, c := range slices.Backward(changes) {
			if c.Offset <= start.Offset || c.Time.Before(minTime) {
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
		end = journal.At(changes[0].Offset - 1)
	}
	return events, oldest, true, nil
}

// encode encodes a change as an event. It returns nil if only cells or only the set of watched namespaces changed.
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
	if c.Op == journal.Add {
		var err error
		if encoded, err = v.appendAdded(encoded, c, cache); err != nil {
			return nil, err
		}
	}
	return append(encoded, '}'), nil
}

// appendAdded appends the members that only the event of an added object has.
func (v *changes) appendAdded(dst []byte, c *event.Change, cache *event.Cache) ([]byte, error) {
	if severity := c.New.Verdict().Severity(); severity.IsProblem() {
		dst = event.AppendMember(dst, "severity", severity)
	}
	author, err := event.AuthorOf(c, cache)
	if err != nil {
		return nil, err
	}
	if author != nil {
		dst = event.AppendMember(dst, "by", author)
	}
	if v.client.options.Key == "" {
		return dst, nil
	}
	text, err := c.New.JSON()
	if err != nil {
		return nil, err
	}
	return append(append(dst, `,"object":`...), text...), nil
}
