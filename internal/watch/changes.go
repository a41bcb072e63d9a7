package watch

import (
	"context"
	"slices"
	"time"

	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/rawjson"
	"glasshouse/internal/watch/wire"
)

const (
	// feedChanges and feedBytes limit the history that a new reader of the changes view is sent.
	feedChanges = 200
	feedBytes   = 1 << 20
)

// origin is where the present version of an informer's data starts. Earlier changes are not sent to readers: they have
// other columns, or changes could not be seen for a time.
type origin struct {
	cursor journal.Cursor
	at     time.Time
}

func (i *informer) begun() origin {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.origin
}

// whole returns the number of changes in the history, and the time since which the history contains every change that
// readers may see.
func (i *informer) whole() (changes int, since time.Time) {
	changes, since = i.Kept()
	if begun := i.begun().at; begun.After(since) {
		since = begun
	}
	return changes, since
}

// since returns the time since which the history contains every single change in the given namespaces; no namespaces
// means all. Of the changes before a list, only the result that the list showed is known.
func (i *informer) since(namespaces []string) time.Time {
	_, since := i.whole()
	i.mu.Lock()
	defer i.mu.Unlock()
	for ns, f := range i.feeds {
		asked := ns == "" || len(namespaces) == 0 || slices.Contains(namespaces, ns)
		if asked && f.now.replaced.After(since) {
			since = f.now.replaced
		}
	}
	return since
}

// beginChanges returns the first message for a reader of the changes view. It contains the newest changes of the
// history, and the time since which they are complete. For a reader of one object, it also contains the object as it
// was before the first of these changes. The patches of the changes, applied to it, result in the present version.
func (s *reading) beginChanges(ctx context.Context) ([]byte, error) {
	now, origin := s.filter.present(s.informer), s.informer.begun()
	s.filter.columns, s.cursor = now.columns, s.informer.Now()
	var before *wire.Object
	if s.key != "" {
		if o, ok, cursor := s.informer.Get(s.key); ok && s.filter.match(o) {
			before, s.cursor = o, cursor
		}
	}
	if !s.writing.acquire(objectMemory) { // Acquired before the events are built: they take up to feedBytes.
		return nil, nil
	}
	earliest := s.earliest(time.Now())
	events, oldest, whole, err := s.pastInTurn(ctx, origin.cursor, earliest)
	if err != nil {
		return nil, err
	}
	if later := s.filter.present(s.informer); !now.synced || !later.synced || !now.stays(later) {
		return nil, nil // The data is not synced, or its state changed while it was read.
	}
	if len(events) == 0 {
		if err := s.check(ctx); err != nil {
			return nil, err
		}
	}
	s.begun(now.version)
	since := latest(s.informer.since(s.filter.namespaces), earliest)
	if !whole {
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
		before = s.filter.seen(oldest)
	}
	if s.key == "" || before == nil {
		return message, nil
	}
	text, err := s.seen(before).JSON()
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

// pastInTurn waits for the reader's turn, then returns what past returns up to the reader's cursor.
func (s *reading) pastInTurn(
	ctx context.Context, after journal.Cursor, earliest time.Time,
) (events [][]byte, oldest *change, whole bool, err error) {
	leave, err := s.inTurn(ctx)
	if err != nil {
		return nil, nil, false, err
	}
	defer leave()
	return s.past(s.cursor, after, earliest)
}

// past returns the events of the changes after the cursor named after, up to the cursor until, newest first. It omits
// changes from before earliest, and stops at feedChanges events or feedBytes bytes. oldest is the change of the last
// returned event. whole is false if one of these limits was reached.
func (s *reading) past(
	until, after journal.Cursor, earliest time.Time,
) (events [][]byte, oldest *change, whole bool, err error) {
	size := 0
	for until.Offset > after.Offset {
		changes := s.informer.Past(until, batch)
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
			case len(events) == feedChanges || size > feedBytes:
				return events, oldest, false, nil
			}
			size += len(event)
			events, oldest = append(events, event), c
		}
		if len(changes) == 0 {
			break // The end of the history.
		}
		until = journal.At(changes[0].Offset - 1)
	}
	return events, oldest, true, nil
}

// withObject appends the object o to an encoded event. A reader of one object applies the patches of later events to o.
func withObject(event []byte, o *wire.Object) ([]byte, error) {
	text, err := o.JSON()
	if err != nil {
		return nil, err
	}
	event = append(event[:len(event)-1], `,"object":`...)
	return append(append(event, text...), '}'), nil
}

// changeEvent encodes a change as an event of the changes view. It returns nil if the object itself did not change: it
// was printed with other columns, or the namespaces that the informer has listed changed.
func changeEvent(c *change, recent *recent) ([]byte, error) {
	if c.Memo.sight {
		return nil, nil
	}
	o, op := c.New, "add"
	var delta *delta
	switch c.Op {
	case journal.Add:
	case journal.Delete:
		o, op = c.Old, "delete" // Its managedFields do not show the author of the deletion.
	case journal.Update:
		op = "update"
		var err error
		if delta, err = deltaOf(c, recent); err != nil || delta.none {
			return nil, err
		}
	}
	event := append([]byte(`{"op":"`), op...)
	event = append(event, `","ns":`...)
	event = rawjson.AppendString(event, o.Namespace())
	event = append(event, `,"name":`...)
	event = rawjson.AppendString(event, o.Name())
	event = o.AppendVersion(event)
	event = append(event, `,"time":"`...)
	event = c.Time.UTC().AppendFormat(event, "2006-01-02T15:04:05.000Z")
	event = append(event, '"')
	if delta != nil {
		event = append(event, delta.text...)
		if delta.was != nil {
			event = append(append(event, `,"was":`...), delta.was...)
		}
	}
	if by, _ := newestAuthor(c); c.Op == journal.Add && by != nil {
		event = appendMember(event, "by", by)
	}
	return append(event, '}'), nil
}
