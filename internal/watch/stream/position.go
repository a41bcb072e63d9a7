package stream

import (
	"errors"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/cursor"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer/shared"
	"github.com/glasshouse-project/glasshouse/internal/watch/journal"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
)

// position is how far a reader has read the changes, and which cursors it has sent.
//
// A restricted reader may not see all objects. Nothing that it receives may depend on hidden changes, not even the
// time of a message.
type position struct {
	informer    *shared.Informer
	filter      *query.Filter
	everyChange bool // The client gets each change separately. Otherwise, the pending changes of an object are combined.
	cipher      cursor.Cipher

	cursor     journal.Cursor
	version    int    // The informer's version when data was sent: see informer.State.
	sentOffset uint64 // The offset in the last cursor that was sent. Not used for a restricted reader.
	restricted cursor.Restricted
	// isRepeated means that the cursor in the field restricted was sent two times. Before the next heartbeat or digest,
	// the client must get a message with a new cursor.
	isRepeated bool
}

// restrictedHistory limits the age of changes and cursors for restricted readers. The real start of the history
// depends on hidden changes, and would reveal them.
const restrictedHistory = time.Minute

// notResumed is the reason why a restricted reader cannot resume. The exact cause would reveal hidden changes.
const notResumed = "you are not allowed to see all objects of this resource, so a cursor is valid for at most " +
	"one minute"

// appendCursor appends the client's cursor. If repeat is true, the cursor must equal the last one that was sent: a
// heartbeat or a digest with another cursor would make the client assume a lost message.
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

// isCaughtUp reports whether the client has the newest cursor. A client without the newest cursor must get it before a
// heartbeat or a digest.
func (p *position) isCaughtUp() bool {
	// Comparing offsets would reveal hidden changes to a restricted reader.
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
		err = errors.New("at least one namespace was not watched for some time, so changes after the cursor can be missing")
	}
	return offset, err
}

// decodeRestricted decrypts the cursor of a restricted reader. If the reader cannot resume from it, err is
// notResumed.
func (p *position) decodeRestricted(text string, epoch uint64) (offset uint64, err error) {
	c, ok := cursor.DecodeRestricted(text)
	if !ok {
		return 0, errors.New(notResumed)
	}
	offset, issued, ok := p.cipher.DecryptRestricted(&c, epoch)
	if !ok || !p.isRecent(issued) || p.hasGap(offset) || !p.informer.RetainsAfter(offset) {
		return 0, errors.New(notResumed)
	}
	// Set isRepeated, because the client has this cursor already. It then gets a new cursor before the first heartbeat.
	p.restricted, p.isRepeated = c, true
	return offset, nil
}

// isRecent reports whether a cursor is recent enough for a restricted reader. The limit does not depend on hidden
// changes.
func (p *position) isRecent(issued time.Time) bool {
	age := time.Since(issued)
	return age >= 0 && age <= min(restrictedHistory, p.informer.HistoryAge()/2)
}

// hasGap reports whether the client needs every change, but some are missing, because a namespace was not watched for
// a while after offset.
func (p *position) hasGap(offset uint64) bool {
	return p.everyChange && p.informer.HasGap(p.filter.Namespaces, offset)
}

// earliest returns the time from which the Changes view can send changes. Zero means the complete history.
func (p *position) earliest() time.Time {
	if !p.filter.IsRestricted {
		return time.Time{}
	}
	return time.Now().Add(-min(restrictedHistory, p.informer.HistoryAge()))
}
