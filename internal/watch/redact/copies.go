package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"glasshouse/internal/watch/jsonscan"
)

// isCopy reports whether an annotation with this key contains a complete object, which a tool has stored there when it
// applied the object. Tools with such keys are kubectl (LastApplied), kapp, Rancher, KubeVela, and users of
// k8s-objectmatcher. A DeploymentConfig of OpenShift stores itself in the objects that it creates.
func isCopy(key []byte) bool {
	switch string(key) {
	case LastApplied, "kapp.k14s.io/original", "objectset.rio.cattle.io/applied",
		"openshift.io/encoded-deployment-config":
		return true
	}
	return bytes.HasSuffix(key, []byte("/last-applied")) || bytes.HasSuffix(key, []byte("/last-applied-configuration"))
}

// cannotBeCopy reports whether an annotation with this value cannot contain a copy of an object. The value is JSON. If
// it is a list or an object, the annotation is not valid and may contain anything, so the result is false. It is also
// false for the text of a mask: that text may count changes, and must be replaced so that each guest gets the same
// mask.
func cannotBeCopy(_, value []byte) bool {
	switch value[0] {
	case '{', '[':
		return false
	case '"':
		text, err := jsonscan.Unquote(value)
		return err == nil && !strings.HasPrefix(text, "(masked") && !mayBeCopy(text)
	}
	return true
}

const (
	// maxEncodings is the maximum number of nested encodings that are removed to recognize a text. A text with more
	// encodings may be anything.
	maxEncodings = 4
	// maxDigest is the maximum length, in bytes, of a binary value that counts as a digest; SHA-512 has 64. Longer
	// values may be compressed data, because some formats have no magic bytes.
	maxDigest = 96
	// minCompressed is the minimum length, in bytes, of data that counts as a compressed object. The magic bytes of zlib
	// are only two, so the base64 decoding of a short word would often begin with them.
	minCompressed = 10
)

// mayBeCopy reports whether the text of an annotation may contain an object or part of one: as JSON, as YAML,
// compressed, or any of these in quotes, percent-encoding, base64 or hexadecimal digits.
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

// startsLikeObject reports whether the text begins like JSON (plain, in percent-encoding or in base64), or like gzip,
// zip or zstd in base64. Only the beginning is tested, because the rest can be anything: a token has dots between its
// parts.
func startsLikeObject(text string) bool {
	for _, prefix := range []string{"{", "[", "%7B", "%7b", "%5B", "%5b", "%22", "H4sI", "UEsDB", "KLUv"} {
		if strings.HasPrefix(text, prefix) {
			return true
		}
	}
	if len(text) < 4 {
		return false
	}
	first, err := base64.StdEncoding.DecodeString(text[:4])
	return err == nil && len(first) > 1 && (first[0] == '{' || first[0] == '[') &&
		strings.IndexByte(" \t\r\n\"{}[]", first[1]) >= 0
}

// isCompressed reports whether data begins with the magic bytes of a compressed or binary format that can contain an
// object.
func isCompressed(data string) bool {
	if len(data) < minCompressed {
		return false
	}
	for _, magic := range []string{
		"\x1f\x8b", "\x78\x01", "\x78\x5e", "\x78\x9c", "\x78\xda", // gzip; zlib at each level.
		"BZh", "\xfd7zXZ\x00", "\x5d\x00\x00", "\x28\xb5\x2f\xfd", "\x04\x22\x4d\x18", // bzip2, xz, lzma, zstd, lz4.
		"\xff\x06\x00\x00", "PK\x03\x04", "7z\xbc\xaf", // The first bytes of snappy, zip and 7z.
		"k8s\x00", "\xd9\xd9\xf7", // The first bytes of Kubernetes' protobuf and of CBOR.
	} {
		if strings.HasPrefix(data, magic) {
			return true
		}
	}
	return false
}

// isText reports whether the text can be a real text. Otherwise it was made from bytes of another format: it contains
// control characters, or the characters by which the API server replaces bytes that are not UTF-8.
func isText(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool {
		return r == utf8.RuneError || r != '\n' && r != '\r' && r != '\t' && unicode.IsControl(r)
	})
}

// isYAML reports whether the text begins a YAML document, or one of its lines has the form of a YAML mapping.
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
			return true // The comment is followed by JSON.
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

// decodeOnce removes one encoding from the text; ok is false if the text is not encoded.
func decodeOnce(text string) (inner string, ok bool) {
	if strings.Contains(text, "%") {
		inner, err := url.QueryUnescape(text)
		return inner, err == nil
	}
	var joined strings.Builder
	for line := range strings.Lines(text) { // Long base64 is wrapped. Words between spaces are prose.
		joined.WriteString(strings.Trim(line, " \t\r\n="))
	}
	digits := strings.NewReplacer("-", "+", "_", "/").Replace(joined.String()) // The alphabet of base64 for URLs.
	if data, err := hex.DecodeString(digits); err == nil && len(data) > 0 {
		return string(data), true
	}
	if len(digits)%4 == 1 {
		digits = digits[:len(digits)-1] // The end of the base64 was cut off.
	}
	data, err := base64.RawStdEncoding.DecodeString(digits)
	return string(data), err == nil && len(data) > 0
}
