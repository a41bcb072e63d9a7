package cursor

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"time"
)

// A Restricted is the cursor in one message to a restricted reader, who may not see all objects of the resource.
// It contains the time of issue, the low four bytes of an epoch and the low five bytes of an offset. AES-GCM with a
// random nonce encrypts and authenticates it. Therefore, two cursors for one position have nothing in common, and
// comparing cursors does not reveal hidden changes.
type Restricted [nonceLength + payloadLength + tagLength]byte

const (
	issuedLength  = 4
	payloadLength = issuedLength + positionLength
	nonceLength   = 12
	tagLength     = 16
)

// EncryptRestricted returns a new encrypted cursor for an offset.
func (s *Cipher) EncryptRestricted(epoch, offset uint64, issued time.Time) (c Restricted) {
	var text [payloadLength]byte
	putNumber(text[:issuedLength], uint64(issued.Unix())) //nolint:gosec // The time is not before 1970.
	putNumber(text[issuedLength:issuedLength+epochLength], epoch)
	putNumber(text[issuedLength+epochLength:], offset)
	s.aead().Seal(c[:0], nil, text[:], nil)
	return c
}

// DecryptRestricted decrypts a cursor. It returns the offset and the time of issue in whole seconds. ok is false if the
// cursor was not issued with this key and epoch.
func (s *Cipher) DecryptRestricted(c *Restricted, epoch uint64) (offset uint64, issued time.Time, ok bool) {
	text, err := s.aead().Open(nil, nil, c[:], nil)
	if err != nil ||
		number(text[issuedLength:issuedLength+epochLength]) !=
			uint64(uint32(epoch)) { //nolint:gosec // Compares the low bytes only.
		return 0, time.Time{}, false
	}
	issued = time.Unix(int64(number(text[:issuedLength])), 0) //nolint:gosec // Four bytes.
	return number(text[issuedLength+epochLength:]), issued, true
}

// aead returns the cipher of the key. It prepends a random nonce to each encrypted text.
func (s *Cipher) aead() cipher.AEAD {
	block, _ := aes.NewCipher(s[:])                // Never fails with a 32-byte key.
	aead, _ := cipher.NewGCMWithRandomNonce(block) // Never fails with AES.
	return aead
}

// Append appends the cursor in base64, as clients receive it.
func (c *Restricted) Append(dst []byte) []byte {
	return base64.RawURLEncoding.AppendEncode(dst, c[:])
}

// DecodeRestricted decodes the base64 text that append wrote.
func DecodeRestricted(cursor string) (c Restricted, ok bool) {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(text) != len(c) {
		return c, false
	}
	return Restricted(text), true
}
