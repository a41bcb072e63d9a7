package compact

import (
	"bytes"
	"encoding/binary"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/fieldmanager"
)

// LastChange is the newest change of an object's specification by a person or a deployment tool.
type LastChange struct {
	By         string    // The field manager, such as "kubectl-edit".
	At         time.Time // With a precision of 1 s.
	IsCreation bool      // The specification has not changed since the creation of the object.
}

// timeBytes is the size of the time of a last change in the data of an Object. The rest is the field manager.
const timeBytes = 4

// appendLastChange appends the last change to the data of an Object, preceded by its length. Without an author, it
// appends only the length, which is one byte. Most objects are pods, and pods have no author here.
func appendLastChange(data []byte, by *fieldmanager.Author) []byte {
	if by == nil {
		return append(data, 0)
	}
	data = binary.AppendUvarint(data, uint64(timeBytes+len(by.Manager)))
	data = binary.BigEndian.AppendUint32(data, uint32(secondsOf(by.Time)))
	return append(data, by.Manager...)
}

// LastChangeOf returns the newest change of an object's specification. ok is false if its author is unknown.
func LastChangeOf(o *Object) (c LastChange, ok bool) {
	stored := part(o, 4)
	if len(stored) < timeBytes {
		return LastChange{}, false
	}
	at := seconds(binary.BigEndian.Uint32(stored)).time()
	return LastChange{
		By: string(stored[timeBytes:]), At: at, IsCreation: fieldmanager.IsCreation(at, o.Created()),
	}, true
}

// NewLastChange returns the last change of the version after of an object if it was made after the version before. ok
// is false if it is older: the author of a newer change then no longer owns a field. It is also false if the
// specification is the same: managedFields have one time for all fields of an author, which a write of the labels
// changes, too.
func NewLastChange(before, after *Object) (c LastChange, ok bool) {
	if bytes.Equal(part(before, 4), part(after, 4)) {
		return LastChange{}, false
	}
	c, ok = LastChangeOf(after)
	return c, ok && !c.At.Before(before.ManagedTime()) && !SameSpec(before, after)
}
