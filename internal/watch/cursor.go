package watch

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
)

const signatureLength = 8

// cursorKey signs cursors, so that one that comes back is known to be ours, of
// the same viewer and the same filter: another filter's state is another state.
type cursorKey [32]byte

func newCursorKey() (key cursorKey) {
	_, _ = rand.Read(key[:]) // Never fails (crypto/rand).
	return key
}

// encode makes a cursor for the wire, as short as it can be, since every message
// has one: part of the epoch, the offset and a signature.
func (k *cursorKey) encode(bound string, epoch, offset uint64) string {
	b := make([]byte, 0, 24)
	b = binary.BigEndian.AppendUint32(b, shortEpoch(epoch))
	b = binary.AppendUvarint(b, offset)
	b = append(b, k.sign(bound, b)...)
	return base64.RawURLEncoding.EncodeToString(b)
}

// decode returns the offset, or why the cursor cannot be resumed from.
func (k *cursorKey) decode(cursor, bound string, epoch uint64) (uint64, error) {
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	content := b[:max(0, len(b)-signatureLength)]
	if err != nil || len(content) < 5 || !hmac.Equal(b[len(content):], k.sign(bound, content)) {
		return 0, errors.New("the cursor was not issued for this subscription by this server")
	}
	if binary.BigEndian.Uint32(content) != shortEpoch(epoch) {
		return 0, errors.New("the resource was listed anew since the cursor was issued")
	}
	offset, _ := binary.Uvarint(content[4:])
	return offset, nil
}

// shortEpoch tells the few epochs of one process apart.
func shortEpoch(epoch uint64) uint32 { return uint32(epoch >> 32) }

func (k *cursorKey) sign(bound string, b []byte) []byte {
	mac := hmac.New(sha256.New, k[:])
	_, _ = mac.Write(b) // A hash takes every write.
	_, _ = mac.Write([]byte(bound))
	return mac.Sum(nil)[:signatureLength]
}
