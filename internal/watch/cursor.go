package watch

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
)

// A cursor is the low four bytes of an epoch and five of an offset, encrypted, and
// a signature of six: every message carries one, and a trillion changes will do.
// Offsets count what happens to others, too, which is nobody's business.
const (
	epochLength  = 4
	placeLength  = epochLength + 5
	cursorLength = placeLength + 6
)

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
	putNumber(b[:epochLength], epoch)
	putNumber(b[epochLength:placeLength], offset)
	s.sign(&b)
	s.veil(&b)
	return base64.RawURLEncoding.AppendEncode(dst, b[:])
}

// decode returns the offset, or why the cursor cannot be resumed from.
func (s *seal) decode(cursor string, epoch uint64) (uint64, error) {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	var b, wanted [cursorLength]byte
	whole := copy(b[:], text) == cursorLength && len(text) == cursorLength
	s.veil(&b)
	wanted = b
	s.sign(&wanted)
	if err != nil || !whole || !hmac.Equal(b[:], wanted[:]) {
		return 0, errors.New("the cursor was not issued for this subscription by this server")
	}
	if uint32(number(b[:epochLength])) != uint32(epoch) { //nolint:gosec // The low bytes are meant.
		return 0, errors.New("the resource was listed anew since the cursor was issued")
	}
	return number(b[epochLength:placeLength]), nil
}

// sign sets the signature by what is before it. The seal is secret and all that
// is hashed has one length, so the hash of both is as good as an HMAC of them.
func (s *seal) sign(b *[cursorLength]byte) {
	var text [len(s) + placeLength]byte
	copy(text[copy(text[:], s[:]):], b[:placeLength])
	sum := sha256.Sum256(text[:])
	copy(b[placeLength:], sum[:])
}

// veil encrypts what is before the signature, or decrypts it, by what the seal makes
// of the signature: the construction of RFC 5297, with a hash in place of AES. What
// is hashed has another length than what is signed.
func (s *seal) veil(b *[cursorLength]byte) {
	var text [len(s) + cursorLength - placeLength]byte
	copy(text[copy(text[:], s[:]):], b[placeLength:])
	sum := sha256.Sum256(text[:])
	subtle.XORBytes(b[:placeLength], b[:placeLength], sum[:])
}

// putNumber writes the low bytes of n.
func putNumber(b []byte, n uint64) {
	for i := range b {
		b[len(b)-1-i] = byte(n >> (8 * i))
	}
}

func number(b []byte) (n uint64) {
	for _, v := range b {
		n = n<<8 | uint64(v)
	}
	return n
}
