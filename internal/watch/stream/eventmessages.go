package stream

import (
	"encoding/json"
	"fmt"

	"glasshouse/internal/watch/event"
	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/status"
)

// message returns the start of a message: its type, which is the parameter kind, and the client's cursor.
func (s *Reader) message(kind string) []byte {
	text := append(s.buffer.borrow(), `"type":"`...)
	text = append(append(text, kind...), `","cursor":"`...)
	return append(s.position.appendCursor(text, kind == "heartbeat" || kind == "digest"), '"')
}

// cursorMessage returns a message without changes, which only sends the reader's new cursor. It is needed before a
// heartbeat or a digest (a hash of the rows), which must repeat the last cursor that was sent; see isCaughtUp.
func (s *Reader) cursorMessage() ([]byte, error) {
	if s.window == nil {
		return append(s.message("events"), `,"events":[]`...), nil
	}
	message, err := s.windowMessage("window-events")
	return append(s.window.sentPage.Counts.Append(message), `,"events":[]`...), err
}

// StateMessage returns the message that sends a status to the client.
func (s *Reader) StateMessage(current status.Status) ([]byte, error) {
	text, err := json.Marshal(struct {
		Type string `json:"type"`
		status.Status
	}{"state", current})
	if err != nil {
		return nil, fmt.Errorf("encode a state: %w", err)
	}
	return text[1 : len(text)-1], nil
}

func (s *Reader) eventsMessage(changes []*event.Change) ([]byte, error) {
	events, err := s.events(changes)
	if err != nil || len(events) == 0 {
		return nil, err
	}
	s.coalescer.recordStart(changes[0].Time)
	message := append(s.message("events"), `,"events":[`...)
	for n, event := range events {
		if n > 0 {
			message = append(message, ',')
		}
		message = append(message, event...)
	}
	return append(message, ']'), nil
}

func (s *Reader) encodeEvents(changes []*event.Change) ([][]byte, error) {
	if !s.view.everyChange {
		changes = event.Fold(changes)
	}
	events, size := make([][]byte, 0, len(changes)), 0
	for _, c := range changes {
		event, err := s.event(c)
		if err != nil {
			return nil, err
		}
		if event != nil {
			events = append(events, event)
		}
		if size += len(event); s.view.everyChange && size > chunk {
			s.position.cursor = journal.At(c.Offset)
			break
		}
	}
	return events, nil
}

// event encodes a change as an event for this reader. It returns nil if the reader is not permitted to see the
// change, or if its view does not show it.
func (s *Reader) event(c *event.Change) ([]byte, error) {
	if s.options.Key != "" && c.Key != s.options.Key {
		return nil, nil
	}
	if c = s.Filter.VisibleChange(c); c == nil {
		return nil, nil
	}
	if s.options.GuestMask != nil && s.view.texts {
		masked, err := event.Masked(c, s.options.GuestMask, s.options.Cache)
		if err != nil {
			return nil, err
		}
		c = masked
	}
	event, err := s.view.event(c, s.options.Cache)
	if err == nil && event != nil && s.view.everyChange && s.options.Key != "" && c.Op == journal.Add {
		return appendObject(event, c.New)
	}
	return event, err
}
