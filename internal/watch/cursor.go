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

// encode makes a cursor for the wire.
func (k *cursorKey) encode(bound string, epoch, offset uint64) string {
	b := make([]byte, 0, cursorLength)
	b = binary.BigEndian.AppendUint64(b, epoch)
	b = binary.BigEndian.AppendUint64(b, offset)
	b = append(b, k.sign(bound, b)...)
	return base64.RawURLEncoding.EncodeToString(b)
}

// decode returns the offset, or why the cursor cannot be resumed from.
func (k *cursorKey) decode(cursor, bound string, epoch uint64) (uint64, error) {
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(b) != cursorLength || !hmac.Equal(b[16:], k.sign(bound, b[:16])) {
		return 0, errors.New("the cursor was not issued for this subscription by this server")
	}
	if binary.BigEndian.Uint64(b) != epoch {
		return 0, errors.New("the resource was listed anew since the cursor was issued")
	}
	return binary.BigEndian.Uint64(b[8:]), nil
}

func (k *cursorKey) sign(bound string, b []byte) []byte {
	mac := hmac.New(sha256.New, k[:])
	_, _ = mac.Write(b) // A hash takes every write.
	_, _ = mac.Write([]byte(bound))
	return mac.Sum(nil)[:8]
}
