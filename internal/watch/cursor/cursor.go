// Package cursor encodes the position of a reader in the change history of a resource as a short opaque text. A
// client sends this cursor to resume from that position. Only this program can decode a cursor.
package cursor

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
)

// Lengths of the cursors of readers who may see all objects. Other readers have cursors of the type Restricted.
const (
	// epochLength is the length, in bytes, of the epoch in a cursor. The epoch is the ID of an uninterrupted history.
	// A cursor contains only its low bytes, because every message contains a cursor, which must therefore be short.
	epochLength = 4
	// positionLength is the length, in bytes, of the encrypted part of a cursor: the epoch, and the low 5 bytes of the
	// offset in the history.
	positionLength = epochLength + 5
	// cursorLength is the length, in bytes, of a complete cursor: the encrypted part and a signature of 6 bytes.
	cursorLength = positionLength + 6
)

// Key is the secret of this server. All cursor keys are derived from it; see Cipher. A cursor is valid only for this
// server, one viewer and one filter.
type Key [32]byte

// NewKey returns a random Key.
func NewKey() (key Key) {
	_, _ = rand.Read(key[:]) // never fails (see crypto/rand)
	return key
}

// Cipher signs and encrypts cursors. It is a key, derived from the server's Key and from everything to which a cursor
// is bound, such as the viewer and the filter.
type Cipher [sha256.Size]byte

// Cipher returns the Cipher for one viewer and one filter. The parameter binding is a text that contains both.
func (k *Key) Cipher(binding string) (s Cipher) {
	mac := hmac.New(sha256.New, k[:])
	_, _ = mac.Write([]byte(binding))
	mac.Sum(s[:0])
	return s
}

// Append appends a cursor, encrypted and in base64, to dst. The cursor contains the given offset in the history with
// the given epoch.
func (s *Cipher) Append(dst []byte, epoch, offset uint64) []byte {
	var b [cursorLength]byte
	putNumber(b[:epochLength], epoch)
	putNumber(b[epochLength:positionLength], offset)
	s.sign(&b)
	s.crypt(&b)
	return base64.RawURLEncoding.AppendEncode(dst, b[:])
}

// Decode returns the offset in a cursor that a client sent. The parameter epoch is the current epoch (the ID of an
// uninterrupted history) of the resource. The error gives the reason why the client cannot resume from the cursor.
func (s *Cipher) Decode(cursor string, epoch uint64) (uint64, error) {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	var b, expected [cursorLength]byte
	hasLength := copy(b[:], text) == cursorLength && len(text) == cursorLength
	s.crypt(&b)
	expected = b
	s.sign(&expected)
	if err != nil || !hasLength || !hmac.Equal(b[:], expected[:]) {
		return 0, errors.New("the cursor was not issued for this subscription by this server")
	}
	if uint32(number(b[:epochLength])) != uint32(epoch) { //nolint:gosec // Compares the low bytes only.
		return 0, errors.New("the resource was relisted after the cursor was issued")
	}
	return number(b[epochLength:positionLength]), nil
}

// sign computes the signature of the first positionLength bytes of b, and writes it to the rest of b. The signature
// is a hash of the key followed by these bytes. This is as secure as an HMAC, because the key is secret and the
// hashed text has a fixed length.
func (s *Cipher) sign(b *[cursorLength]byte) {
	var text [len(s) + positionLength]byte
	copy(text[copy(text[:], s[:]):], b[:positionLength])
	sum := sha256.Sum256(text[:])
	copy(b[positionLength:], sum[:])
}

// crypt encrypts or decrypts the first positionLength bytes of b. It XORs them with a hash of the key and the
// signature, which is the rest of b. This is the construction of RFC 5297, with a hash instead of AES. The hashed
// text is shorter than in the method sign, so the two methods never hash the same text.
func (s *Cipher) crypt(b *[cursorLength]byte) {
	var text [len(s) + cursorLength - positionLength]byte
	copy(text[copy(text[:], s[:]):], b[positionLength:])
	sum := sha256.Sum256(text[:])
	subtle.XORBytes(b[:positionLength], b[:positionLength], sum[:])
}

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
