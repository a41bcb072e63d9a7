package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
)

// isCopy reports whether an annotation contains a copy of an applied object, as from kubectl, kapp or Rancher.
func isCopy(key []byte) bool {
	switch string(key) {
	case LastApplied, "kapp.k14s.io/original", "objectset.rio.cattle.io/applied",
		"openshift.io/encoded-deployment-config":
		return true
	}
	return bytes.HasSuffix(key, []byte("/last-applied")) || bytes.HasSuffix(key, []byte("/last-applied-configuration"))
}

// cannotBeCopy reports whether an annotation's value cannot contain a copy of an object. It returns false for an
// invalid string, which can contain anything.
func cannotBeCopy(_, value []byte) bool {
	switch value[0] {
	case '{', '[':
		return false
	case '"':
		text, err := jsonscan.Unquote(value)
		// A mask such as "(masked, change 3)" counts as a copy, and is masked again, so that all guests see the same mask.
		return err == nil && !strings.HasPrefix(text, "(masked") && !mayBeCopy(text)
	}
	return true
}

const (
	// maxEncodings is how many nested encodings are decoded. A text with more encodings counts as a part of an object.
	maxEncodings = 4
	// maxDigest is the maximum length of a hash, in bytes; SHA-512 has 64. Longer binary data can be a copy of an object.
	maxDigest = 96
	// minCompressed is the minimum length of compressed data, in bytes. Shorter words often decode by chance to the bytes
	// that identify zlib.
	minCompressed = 10
)

// mayBeCopy reports whether a text can contain a part of an object: as JSON or YAML, encoded, or compressed.
func mayBeCopy(text string) bool {
	for range maxEncodings {
		text = strings.TrimFunc(text, func(r rune) bool {
			return !unicode.IsGraphic(r) || unicode.IsSpace(r) || strings.ContainsRune("\"'`\\", r)
		})
		if startsLikeObject(text) || !isText(text) || strings.Contains(text, "apiVersion") || isYAML(text) {
			return true
		}
		inner, encoded := decodeOnce(text)
		switch {
		case !encoded:
			return false
		case isCompressed(inner):
			return true
		case !isText(inner):
			return len(inner) > maxDigest
		}
		text = inner
	}
	return true
}

// startsLikeObject reports whether a text starts like JSON (plain, percent-encoded or in base64), or like compressed
// data in base64, such as "H4sI" for gzip.
func startsLikeObject(text string) bool {
	for _, prefix := range []string{"{", "[", "%7B", "%7b", "%5B", "%5b", "%22", "H4sI", "UEsDB", "KLUv"} {
		if strings.HasPrefix(text, prefix) {
			return true
		}
	}
	if len(text) < 4 {
		return false
	}
	// Decode only the start, because the rest can be invalid base64. For example, a JWT contains dots.
	first, err := base64.StdEncoding.DecodeString(text[:4])
	return err == nil && len(first) > 1 && (first[0] == '{' || first[0] == '[') &&
		strings.IndexByte(" \t\r\n\"{}[]", first[1]) >= 0
}

func isCompressed(data string) bool {
	if len(data) < minCompressed {
		return false
	}
	for _, magic := range []string{
		"\x1f\x8b", "\x78\x01", "\x78\x5e", "\x78\x9c", "\x78\xda", // gzip, zlib
		"BZh", "\xfd7zXZ\x00", "\x5d\x00\x00", "\x28\xb5\x2f\xfd", "\x04\x22\x4d\x18", // bzip2, xz, lzma, zstd, lz4
		"\xff\x06\x00\x00", "PK\x03\x04", "7z\xbc\xaf", // snappy, zip, 7z
		"k8s\x00", "\xd9\xd9\xf7", // protobuf as Kubernetes writes it, CBOR
	} {
		if strings.HasPrefix(data, magic) {
			return true
		}
	}
	return false
}

// isText reports whether the text is printable. A text with U+FFFD is not printable: the API server replaces invalid
// UTF-8 by U+FFFD.
func isText(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool {
		return r == utf8.RuneError || r != '\n' && r != '\r' && r != '\t' && unicode.IsControl(r)
	})
}

// isYAML reports whether the text starts a YAML document, or has a line such as "name: value".
func isYAML(text string) bool {
	if strings.HasPrefix(text, "---") || strings.HasPrefix(text, "%YAML") {
		return true
	}
	first := true
	for line := range strings.Lines(text) {
		line = strings.TrimLeft(line, " \t\r\n-?\"'")
		if line == "" || line[0] == '#' {
			continue
		}
		if first && (line[0] == '{' || line[0] == '[') {
			return true // The first line that is neither empty nor a comment begins like JSON.
		}
		first = false
		name := strings.IndexFunc(line, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./", r)
		})
		if name <= 0 {
			continue
		}
		value, isMember := strings.CutPrefix(strings.TrimLeft(line[name:], "\"' \t"), ":")
		if isMember && (value == "" || strings.ContainsRune(" \t\r\n", rune(value[0]))) {
			return true
		}
	}
	return false
}

func decodeOnce(text string) (inner string, ok bool) {
	if strings.Contains(text, "%") {
		inner, err := url.QueryUnescape(text)
		return inner, err == nil
	}
	var joined strings.Builder
	for line := range strings.Lines(text) {
		joined.WriteString(strings.Trim(line, " \t\r\n="))
	}
	digits := strings.NewReplacer("-", "+", "_", "/").Replace(joined.String())
	if data, err := hex.DecodeString(digits); err == nil && len(data) > 0 {
		return string(data), true
	}
	if len(digits)%4 == 1 {
		digits = digits[:len(digits)-1] // Drop an incomplete last digit: the base64 text was cut off.
	}
	data, err := base64.RawStdEncoding.DecodeString(digits)
	return string(data), err == nil && len(data) > 0
}
