package cursor

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"time"
)

// A Restricted is a cursor for a reader who may not see all objects. It contains a random nonce, so that a reader
// who compares two cursors cannot detect whether their positions are equal.
type Restricted [nonceLength + payloadLength + tagLength]byte

const (
	issuedLength  = 4
	payloadLength = issuedLength + positionLength
	nonceLength   = 12
	tagLength     = 16
)

// EncryptRestricted returns an encrypted cursor for an offset in the history. issued is the present time, from
// which the age of the cursor counts.
func (s *Cipher) EncryptRestricted(epoch, offset uint64, issued time.Time) (c Restricted) {
	var text [payloadLength]byte
	putNumber(text[:issuedLength], uint64(issued.Unix())) //nolint:gosec // The time is not before 1970.
	putNumber(text[issuedLength:issuedLength+epochLength], epoch)
	putNumber(text[issuedLength+epochLength:], offset)
	s.aead().Seal(c[:0], nil, text[:], nil)
	return c
}

// DecryptRestricted returns the offset in a cursor, and its time of issue. ok is false if the Cipher or epoch differs.
func (s *Cipher) DecryptRestricted(c *Restricted, epoch uint64) (offset uint64, issued time.Time, ok bool) {
	text, err := s.aead().Open(nil, nil, c[:], nil)
	if err != nil ||
		number(text[issuedLength:issuedLength+epochLength]) !=
			uint64(uint32(epoch)) { //nolint:gosec // Compares the low bytes only.
		return 0, time.Time{}, false
	}
	issued = time.Unix(int64(number(text[:issuedLength])), 0) //nolint:gosec // A number of four bytes cannot overflow.
	return number(text[issuedLength+epochLength:]), issued, true
}

func (s *Cipher) aead() cipher.AEAD {
	block, _ := aes.NewCipher(s[:]) // never fails with a 32-byte key
	aead, _ := cipher.NewGCMWithRandomNonce(block)
	return aead
}

// Append appends the base64 text of the cursor to dst.
func (r *Restricted) Append(dst []byte) []byte {
	return base64.RawURLEncoding.AppendEncode(dst, r[:])
}

// DecodeRestricted converts the base64 text of a cursor to a Restricted, which is still encrypted.
func DecodeRestricted(cursor string) (c Restricted, ok bool) {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(text) != len(c) {
		return c, false
	}
	return Restricted(text), true
}
