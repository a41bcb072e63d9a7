// Package cursor encodes the position of a reader in the history of a resource as a short text. Clients resume from it,
// and only this program can read it.
package cursor

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
)

// The lengths of a cursor and its parts, in bytes. A cursor contains the low four bytes of an epoch and the low five
// bytes of an offset, encrypted, and a signature of six bytes. It is short because every message has one. Restricted
// readers have another type of cursor: Restricted.
const (
	epochLength    = 4
	positionLength = epochLength + 5
	cursorLength   = positionLength + 6
)

// Key is the secret from which the keys of cursors are derived; see Cipher. A cursor is valid only for this
// server, one viewer and one filter, because another filter has another state.
type Key [32]byte

// NewKey returns a random key.
func NewKey() (key Key) {
	_, _ = rand.Read(key[:]) // Never fails (crypto/rand).
	return key
}

// Cipher is a key that is derived from the Key and from everything that a cursor is bound to, such as the
// viewer. It signs and encrypts the cursor of each message.
type Cipher [sha256.Size]byte

// Cipher returns the cipher of the cursors that are bound to binding.
func (k *Key) Cipher(binding string) (s Cipher) {
	mac := hmac.New(sha256.New, k[:])
	_, _ = mac.Write([]byte(binding)) // Writing to a hash never fails.
	mac.Sum(s[:0])
	return s
}

// Append appends to dst a cursor for an epoch and an offset: encrypted, and in base64, as clients receive it.
func (s *Cipher) Append(dst []byte, epoch, offset uint64) []byte {
	var b [cursorLength]byte
	putNumber(b[:epochLength], epoch)
	putNumber(b[epochLength:positionLength], offset)
	s.sign(&b)
	s.crypt(&b)
	return base64.RawURLEncoding.AppendEncode(dst, b[:])
}

// Decode returns the offset of a cursor that a client sent, or an error with the reason why the cursor cannot be
// resumed. epoch is the present epoch.
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

// sign writes the signature, the last bytes of b. It signs the bytes before them. The key is secret and the hashed
// text has a fixed length, so this hash is as secure as an HMAC.
func (s *Cipher) sign(b *[cursorLength]byte) {
	var text [len(s) + positionLength]byte
	copy(text[copy(text[:], s[:]):], b[:positionLength])
	sum := sha256.Sum256(text[:])
	copy(b[positionLength:], sum[:])
}

// crypt encrypts or decrypts the bytes before the signature with a hash of the key and the signature. This is the
// construction of RFC 5297, with a hash in place of AES. The hashed text has a different length than in sign.
func (s *Cipher) crypt(b *[cursorLength]byte) {
	var text [len(s) + cursorLength - positionLength]byte
	copy(text[copy(text[:], s[:]):], b[positionLength:])
	sum := sha256.Sum256(text[:])
	subtle.XORBytes(b[:positionLength], b[:positionLength], sum[:])
}

// putNumber fills b with the low bytes of n, the most significant byte first.
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
