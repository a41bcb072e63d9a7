// Package cursor encodes cursors: the position of a reader in a history of changes, from which a client can resume.
package cursor

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
)

// Lengths of the cursors for readers who may see all objects, in bytes. Other readers get a cursor of type Restricted.
const (
	// epochLength is the length of the epoch in a cursor: the low 4 bytes of the number that Informer.EpochOf returns.
	epochLength = 4
	// positionLength is the length of the encrypted part of a cursor: the epoch, and the low 5 bytes of the offset in the
	// history.
	positionLength = epochLength + 5
	// cursorLength is the length of a cursor: the encrypted part, and a signature of 6 bytes.
	cursorLength = positionLength + 6
)

// Key is a secret of this server, from which the key of each Cipher is derived.
type Key [32]byte

// NewKey returns a random Key.
func NewKey() (key Key) {
	_, _ = rand.Read(key[:])
	return key
}

// Cipher is a key that signs and encrypts the cursors of one viewer with one filter.
type Cipher [sha256.Size]byte

// Cipher derives a Cipher from the key. binding is a text that identifies the viewer and the filter.
func (k *Key) Cipher(binding string) (s Cipher) {
	mac := hmac.New(sha256.New, k[:])
	_, _ = mac.Write([]byte(binding))
	mac.Sum(s[:0])
	return s
}

// Append appends a cursor to dst: the epoch and the offset, signed, encrypted, and in base64.
func (s *Cipher) Append(dst []byte, epoch, offset uint64) []byte {
	var b [cursorLength]byte
	putNumber(b[:epochLength], epoch)
	putNumber(b[epochLength:positionLength], offset)
	s.sign(&b)
	s.crypt(&b)
	return base64.RawURLEncoding.AppendEncode(dst, b[:])
}

// Decode returns the offset in the history that a cursor contains. An error means that the client cannot resume from
// the cursor.
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
		return 0, errors.New("the history of the resource was restarted after the cursor was issued")
	}
	return number(b[epochLength:positionLength]), nil
}

// sign writes the signature of the position into the cursor, after the position. It needs no HMAC: all texts have the
// same length, so an attacker cannot extend them, and a hash of key and text is as secure.
func (s *Cipher) sign(b *[cursorLength]byte) {
	var text [len(s) + positionLength]byte
	copy(text[copy(text[:], s[:]):], b[:positionLength])
	sum := sha256.Sum256(text[:])
	copy(b[positionLength:], sum[:])
}

// crypt encrypts or decrypts the position in the cursor. It applies XOR with a hash of the key and the signature, like
// the SIV mode of RFC 5297, but with a hash instead of AES.
func (s *Cipher) crypt(b *[cursorLength]byte) {
	var text [len(s) + cursorLength - positionLength]byte
	// The text that the method "sign" hashes is longer than this text, so the two hashes never have the same input.
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
