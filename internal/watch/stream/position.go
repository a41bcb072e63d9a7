package stream

import (
	"errors"
	"time"

	"glasshouse/internal/watch/cursor"
	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/query"
)

// position contains how far a reader has read the changes, and which cursor its client has received.
//
// A restricted reader is one whose viewer is not permitted to see all objects of the resource (filter.IsRestricted).
// Nothing that it receives may depend on changes of hidden objects, not even the time of a message.
type position struct {
	informer    *SharedInformer
	filter      *query.Filter
	everyChange bool // The client gets each change separately. Otherwise, the pending changes of an object are combined.
	cipher      cursor.Cipher

	cursor     journal.Cursor
	version    int    // The informer's version when data was sent. It changes with new columns or a dropped history.
	sentOffset uint64 // The offset in the last cursor that was sent. Not used for a restricted reader.
	restricted cursor.Restricted
	// isRepeated means that the cursor in restricted has been used twice: a heartbeat or a digest (a hash of the
	// rows) repeated it, or the reader has resumed from it. The reader then needs a new cursor before the next
	// heartbeat or digest.
	isRepeated bool
}

// restrictedHistory limits how much of the history a restricted reader can get. It is the maximum age of the changes
// with which the reader's Changes view starts. It is also the maximum age of a cursor from which the reader can
// resume. The start of the history cannot be the limit: hidden changes also fill the history, so its start would
// reveal them.
const restrictedHistory = time.Minute

// notResumed is the reason in the reset message if a restricted reader (which may not see all objects) cannot resume
// from its cursor. The text does not contain the cause, because the cause can depend on hidden changes.
const notResumed = "you are not allowed to see all objects of this resource, so a cursor is valid for at most " +
	"one minute"

// appendCursor appends the cursor of a message to text.
//
// A heartbeat or a digest (a hash of the rows) must repeat the cursor of the message before it. With another cursor,
// the client would assume that a message was lost. With any other message, a restricted reader (which may not see all
// objects) gets a newly encrypted cursor.
func (p *position) appendCursor(text []byte, repeat bool) []byte {
	epoch := p.informer.EpochOf(p.version)
	if !p.filter.IsRestricted {
		p.sentOffset = p.cursor.Offset
		return p.cipher.Append(text, epoch, p.sentOffset)
	}
	if p.isRepeated = repeat; !repeat {
		p.restricted = p.cipher.EncryptRestricted(epoch, p.cursor.Offset, time.Now())
	}
	return p.restricted.Append(text)
}

// isCaughtUp reports whether the client has the newest cursor. A heartbeat or a digest (a hash of the rows) can then
// repeat this cursor. Otherwise, a message without changes must send the new cursor first.
//
// For a restricted reader (which may not see all objects), offsets are not compared, because the result would reveal
// hidden changes. Instead, such a reader gets a new cursor if its last one was already repeated. Its cursor is
// therefore always recent.
func (p *position) isCaughtUp() bool {
	if p.filter.IsRestricted {
		return !p.isRepeated
	}
	return p.sentOffset == p.cursor.Offset
}

// resume moves the position to a client's cursor. If that is impossible, resume returns an error with the reason.
func (p *position) resume(text string, version int) error {
	offset, err := p.decode(text, p.informer.EpochOf(version))
	if err == nil {
		p.cursor, p.sentOffset, p.version = journal.At(offset), offset, version
	}
	return err
}

func (p *position) decode(text string, epoch uint64) (uint64, error) {
	if p.filter.IsRestricted {
		return p.decodeRestricted(text, epoch)
	}
	offset, err := p.cipher.Decode(text, epoch)
	if err == nil && p.hasGap(offset) {
		err = errors.New("one of the namespaces was not watched for a while, so its changes in that time are not known")
	}
	return offset, err
}

// decodeRestricted decrypts a cursor of a restricted reader (which may not see all objects). If the reader cannot
// resume from it, the error is notResumed.
func (p *position) decodeRestricted(text string, epoch uint64) (offset uint64, err error) {
	c, ok := cursor.DecodeRestricted(text)
	if !ok {
		return 0, errors.New(notResumed)
	}
	offset, issued, ok := p.cipher.DecryptRestricted(&c, epoch)
	if !ok || !p.isRecent(issued) || p.hasGap(offset) || !p.informer.RetainsAfter(offset) {
		return 0, errors.New(notResumed)
	}
	// Count this old cursor as repeated, so that the reader gets a new one before the first heartbeat.
	p.restricted, p.isRepeated = c, true
	return offset, nil
}

// isRecent reports whether a cursor that was issued at the given time is recent enough for a restricted reader (which
// may not see all objects) to resume. Its maximum age is restrictedHistory, but at most half of the maximum age of
// the history. The changes after such a cursor are therefore never dropped from the history because of their age.
func (p *position) isRecent(issued time.Time) bool {
	age := time.Since(issued)
	return age >= 0 && age <= min(restrictedHistory, p.informer.HistoryAge()/2)
}

// hasGap reports whether the client must get every change, but some changes after an offset are unknown. Changes are
// unknown if one of the namespaces was not watched for a while.
func (p *position) hasGap(offset uint64) bool {
	return p.everyChange && p.informer.HasGap(p.filter.Namespaces, offset)
}

// earliest returns the time from which the Changes view can send changes to the client. The zero time means that it
// can send the complete history.
func (p *position) earliest() time.Time {
	if !p.filter.IsRestricted {
		return time.Time{}
	}
	return time.Now().Add(-min(restrictedHistory, p.informer.HistoryAge()))
}
