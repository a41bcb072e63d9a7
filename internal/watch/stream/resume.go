package stream

import (
	"errors"

	"glasshouse/internal/watch/journal"
)

// ResumeFrom makes the reader send the changes after a cursor. If that is impossible, the reader sends a reset with
// the reason, and a snapshot.
func (s *Reader) ResumeFrom(cursor string) {
	now := s.informer.VisibleState(s.Filter)
	s.Filter.Columns = now.Columns
	offset, err := s.resumeOffset(cursor, s.informer.EpochOf(now.Version))
	if err != nil {
		s.Restart(err.Error())
		return
	}
	s.recordSnapshotSent(now.Version)
	s.cursor, s.sentOffset = journal.At(offset), offset
}

// resumeOffset returns the journal offset of a cursor, or an error with the reason why the reader cannot resume from
// it.
func (s *Reader) resumeOffset(cursor string, epoch uint64) (uint64, error) {
	if s.Filter.IsRestricted {
		return s.restrictedOffset(cursor, epoch)
	}
	cipher := s.options.NewCipher()
	offset, err := cipher.Decode(cursor, epoch)
	if err == nil && s.hasGap(offset) {
		err = errors.New("one of the namespaces was not watched for a while, so its changes in that time are not known")
	}
	return offset, err
}

// hasGap reports whether the view must send every change, but does not know some changes after an offset: one of the
// namespaces was not watched for a while.
func (s *Reader) hasGap(offset uint64) bool {
	return s.view.everyChange && s.informer.HasGap(s.Filter.Namespaces, offset)
}
