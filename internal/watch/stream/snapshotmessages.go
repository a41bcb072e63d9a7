package stream

import (
	"context"
	"encoding/json"
	"fmt"

	"glasshouse/internal/watch/event"
	"glasshouse/internal/watch/listwatch"
)

// ListedMemory is the memory for one row in a list of pointers to rows, in bytes, if the list is allocated once.
const ListedMemory = 8

// recordSnapshotSent records that a snapshot was sent, and that events follow. The parameter version is the
// informer's version, which changes with the columns.
func (s *Reader) recordSnapshotSent(version int) {
	s.needsSnapshot, s.started, s.position.version = false, true, version
	if s.view.digests {
		s.schedule.digestAt = s.informer.nextDigest(s.Filter)
	}
}

// beginRows starts a snapshot of rows and returns the message with its first part. It returns nil if the rows cannot
// be sent yet.
func (s *Reader) beginRows(ctx context.Context) ([]byte, error) {
	var list int64
	if !s.Filter.MatchesAll() {
		list = ListedMemory * int64(s.informer.Len()) // This reader needs a filtered list of its own.
	}
	if !s.buffer.acquire(partMemory + list) {
		return nil, nil
	}
	s.buffer.listBytes = list
	listing, now, err := s.objects(ctx)
	if err != nil {
		return nil, err
	}
	s.position.cursor = listing.Cursor
	if !now.Status.Same(s.sentStatus) || !now.Synced && !now.HasNoRows {
		// Send nothing yet: the changed status is sent first, or a list with new columns is about to arrive.
		return nil, nil
	}
	s.listing, s.rows = listing, listing.Objects
	s.recordSnapshotSent(now.Version)
	if len(s.rows) == 0 {
		if err := s.options.Check(ctx); err != nil {
			return nil, err
		}
	}
	s.columns, s.isFirstPart, s.isSendingSnapshot = now.Columns, true, true
	return s.view.next(s)
}

func (s *Reader) nextRows() ([]byte, error) {
	message, err := s.partMessage()
	if err != nil {
		return nil, err
	}
	message = append(message, `,"rows":[`...)
	n := 0
	for ; n < len(s.rows) && len(message) < chunk; n++ {
		if n > 0 {
			message = append(message, ',')
		}
		message = s.rows[n].AppendRow(message)
	}
	s.recordRowsSent(n)
	return fmt.Appendf(message, `],"last":%t`, !s.isSendingSnapshot), nil
}

// partMessage returns the start of the message for one part of a snapshot. Only the message for the first part
// contains the columns.
func (s *Reader) partMessage() ([]byte, error) {
	message := s.message("snapshot")
	if !s.isFirstPart {
		return message, nil
	}
	return appendColumns(message, s.columns)
}

func appendColumns(dst []byte, columns []listwatch.Column) ([]byte, error) {
	text, err := json.Marshal(append([]listwatch.Column{}, columns...)) // Encode no columns as [], not as null.
	if err != nil {
		return nil, fmt.Errorf("encode the columns: %w", err)
	}
	return append(append(dst, `,"columns":`...), text...), nil
}

func (s *Reader) recordRowsSent(n int) {
	s.rows, s.isFirstPart = s.rows[n:], false
	if len(s.rows) == 0 {
		s.listing, s.rows, s.isSendingSnapshot = nil, nil, false
	}
}

// beginObject returns the snapshot of a single object, for the view Object. If the object does not exist, the
// snapshot is empty.
func (s *Reader) beginObject(context.Context) ([]byte, error) {
	now := s.informer.VisibleState(s.Filter)
	o, ok, cursor := s.informer.Get(s.options.Key)
	if !now.Status.Same(s.sentStatus) || !now.IsUnchanged(s.informer.VisibleState(s.Filter)) ||
		!s.buffer.acquire(objectMemory) {
		return nil, nil
	}
	s.recordSnapshotSent(now.Version)
	s.position.cursor = cursor
	s.Filter.Columns = now.Columns
	message := s.message("snapshot")
	if ok && s.Filter.Match(o) {
		text, err := s.options.GuestMask.Object(o).JSON()
		if err != nil {
			return nil, err
		}
		s.buffer.growReservation(text)
		message = event.AppendHealth(append(append(message, `,"object":`...), text...), text)
	}
	return append(message, `,"last":true`...), nil
}
