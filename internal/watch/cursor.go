package watch

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
)

// cursorLength is an epoch, an offset and a signature of eight bytes each.
const cursorLength = 24

// cursorKey signs cursors, so that one that comes back is known to be ours, of
// the same viewer and the same filter: another filter's state is another state.
type cursorKey [32]byte

func newCursorKey() (key cursorKey) {
	_, _ = rand.Read(key[:]) // Never fails (crypto/rand).
	return key
}

// seal is the key made for what a cursor is bound to: the short text that each
// message carries is signed with it.
type seal [sha256.Size]byte

func (k *cursorKey) seal(bound string) (s seal) {
	mac := hmac.New(sha256.New, k[:])
	_, _ = mac.Write([]byte(bound)) // A hash takes every write.
	mac.Sum(s[:0])
	return s
}

// append appends a cursor for the wire.
func (s *seal) append(dst []byte, epoch, offset uint64) []byte {
	var b [cursorLength]byte
	binary.BigEndian.PutUint64(b[:8], epoch)
	binary.BigEndian.PutUint64(b[8:16], offset)
	s.sign(&b)
	return base64.RawURLEncoding.AppendEncode(dst, b[:])
}

// decode returns the offset, or why the cursor cannot be resumed from.
func (s *seal) decode(cursor string, epoch uint64) (uint64, error) {
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	var wanted [cursorLength]byte
	copy(wanted[:], b)
	s.sign(&wanted)
	if err != nil || !hmac.Equal(b, wanted[:]) {
		return 0, errors.New("the cursor was not issued for this subscription by this server")
	}
	if binary.BigEndian.Uint64(b) != epoch {
		return 0, errors.New("the resource was listed anew since the cursor was issued")
	}
	return binary.BigEndian.Uint64(b[8:]), nil
}

// sign sets the last eight bytes by the others. The seal is secret and all that
// is hashed has one length, so the hash of both is as good as an HMAC of them.
func (s *seal) sign(b *[cursorLength]byte) {
	var text [len(s) + 16]byte
	copy(text[copy(text[:], s[:]):], b[:16])
	sum := sha256.Sum256(text[:])
	copy(b[16:], sum[:8])
}
