// Package cursor encodes the position of a reader in a change history. A client can resume from this cursor.
package cursor

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
)

// Lengths of unrestricted cursors, in bytes. Readers who may not see all objects get a Restricted instead.
const (
	// epochLength is the length of an epoch, the ID of an uninterrupted history. Only its low bytes are sent.
	epochLength = 4
	// positionLength is the length of the encrypted part: the epoch and the low 5 bytes of the history offset.
	positionLength = epochLength + 5
	// cursorLength includes a signature of 6 bytes.
	cursorLength = positionLength + 6
)

// Key is this server's secret, from which the keys of all cursors are derived.
type Key [32]byte

// NewKey returns a random Key.
func NewKey() (key Key) {
	_, _ = rand.Read(key[:])
	return key
}

// Cipher signs and encrypts the cursors of one viewer and one filter.
type Cipher [sha256.Size]byte

// Cipher derives a Cipher from the key. The parameter binding identifies the viewer and the filter.
func (k *Key) Cipher(binding string) (s Cipher) {
	mac := hmac.New(sha256.New, k[:])
	_, _ = mac.Write([]byte(binding))
	mac.Sum(s[:0])
	return s
}

// Append appends an encrypted cursor in base64 to dst.
func (s *Cipher) Append(dst []byte, epoch, offset uint64) []byte {
	var b [cursorLength]byte
	putNumber(b[:epochLength], epoch)
	putNumber(b[epochLength:positionLength], offset)
	s.sign(&b)
	s.crypt(&b)
	return base64.RawURLEncoding.AppendEncode(dst, b[:])
}

// Decode returns the history offset in a cursor. An error means that the client cannot resume from the cursor.
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

// sign writes the signature after the position. For texts of fixed length, a keyed hash is as secure as HMAC.
func (s *Cipher) sign(b *[cursorLength]byte) {
	var text [len(s) + positionLength]byte
	copy(text[copy(text[:], s[:]):], b[:positionLength])
	sum := sha256.Sum256(text[:])
	copy(b[positionLength:], sum[:])
}

// crypt encrypts or decrypts the position by XOR with a hash of the key and the signature (RFC 5297, with a hash
// instead of AES).
func (s *Cipher) crypt(b *[cursorLength]byte) {
	var text [len(s) + cursorLength - positionLength]byte
	// The method sign hashes a longer text. Therefore, its hash never equals this hash.
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
