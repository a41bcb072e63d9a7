package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"glasshouse/internal/watch/rawjson"
)

// isCopy reports whether a key belongs to an annotation in which a tool stores the complete object that it applied.
// Tools with such keys are kubectl (LastApplied), kapp, Rancher, KubeVela, and users of k8s-objectmatcher. A
// DeploymentConfig of OpenShift stores itself in the objects that it creates.
func isCopy(key []byte) bool {
	switch string(key) {
	case LastApplied, "kapp.k14s.io/original", "objectset.rio.cattle.io/applied",
		"openshift.io/encoded-deployment-config":
		return true
	}
	return bytes.HasSuffix(key, []byte("/last-applied")) || bytes.HasSuffix(key, []byte("/last-applied-configuration"))
}

// isNoCopy reports whether an annotation cannot contain a copy of an object. The value is JSON. A list or an object is
// not a valid annotation, so it may contain anything. A mask is masked again: it may count changes, and each guest must
// get the same mask.
func isNoCopy(_, value []byte) bool {
	switch value[0] {
	case '{', '[':
		return false
	case '"':
		text, err := rawjson.Unquote(value)
		return err == nil && !strings.HasPrefix(text, "(masked") && !mayBeCopy(text)
	}
	return true
}

const (
	// maxLayers is how many encodings around a text are removed to recognize it. A text with more encodings may be
	// anything.
	maxLayers = 4
	// maxDigest is the longest binary value that counts as a digest, in bytes; SHA-512 has 64. Longer values may be
	// compressed, because some formats have no magic bytes.
	maxDigest = 96
	// minPacked is the shortest compressed object, in bytes. The magic bytes of zlib are only two, so short words in
	// the alphabet of base64 would often decode to them.
	minPacked = 10
)

// mayBeCopy reports whether the text of an annotation may contain an object or part of one: as JSON, as YAML,
// compressed, or any of these in quotes, percent-encoding, base64 or hexadecimal digits.
func mayBeCopy(text string) bool {
	for range maxLayers {
		text = strings.TrimFunc(text, func(r rune) bool {
			return !unicode.IsGraphic(r) || unicode.IsSpace(r) || strings.ContainsRune("\"'`\\", r)
		})
		if beginsCopy(text) || !isText(text) || strings.Contains(text, "apiVersion") || isYAML(text) {
			return true
		}
		inner, encoded := decoded(text)
		switch {
		case !encoded:
			return false
		case isPacked(inner):
			return true
		case !isText(inner):
			return len(inner) > maxDigest
		}
		text = inner
	}
	return true
}

// beginsCopy reports whether the text begins like JSON (plain, in percent-encoding or in base64), or like gzip, zip or
// zstd in base64. The rest can be anything: a token has dots between its parts.
func beginsCopy(text string) bool {
	for _, begins := range []string{"{", "[", "%7B", "%7b", "%5B", "%5b", "%22", "H4sI", "UEsDB", "KLUv"} {
		if strings.HasPrefix(text, begins) {
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

// isPacked reports whether data begins with the magic bytes of a compressed or binary format that can contain an
// object.
func isPacked(data string) bool {
	if len(data) < minPacked {
		return false
	}
	for _, magic := range []string{
		"\x1f\x8b", "\x78\x01", "\x78\x5e", "\x78\x9c", "\x78\xda", // gzip; zlib at each level.
		"BZh", "\xfd7zXZ\x00", "\x5d\x00\x00", "\x28\xb5\x2f\xfd", "\x04\x22\x4d\x18", // bzip2, xz, lzma, zstd, lz4.
		"\xff\x06\x00\x00", "PK\x03\x04", "7z\xbc\xaf", // snappy, zip, 7z.
		"k8s\x00", "\xd9\xd9\xf7", // Kubernetes' protobuf and CBOR.
	} {
		if strings.HasPrefix(data, magic) {
			return true
		}
	}
	return false
}

// isText reports whether the text was not made from bytes of another format. The API server replaces bytes that are not
// UTF-8.
func isText(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool {
		return r == utf8.RuneError || r != '\n' && r != '\r' && r != '\t' && unicode.IsControl(r)
	})
}

// isYAML reports whether the text has a line of a YAML mapping, or begins a YAML document.
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
			return true // JSON after a comment.
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

// decoded removes one encoding from the text; ok is false if it has none.
func decoded(text string) (inner string, ok bool) {
	if strings.Contains(text, "%") {
		inner, err := url.QueryUnescape(text)
		return inner, err == nil
	}
	var packed strings.Builder
	for line := range strings.Lines(text) { // Long base64 is wrapped. Words with spaces between them are prose.
		packed.WriteString(strings.Trim(line, " \t\r\n="))
	}
	digits := strings.NewReplacer("-", "+", "_", "/").Replace(packed.String()) // From base64 for URLs.
	if data, err := hex.DecodeString(digits); err == nil && len(data) > 0 {
		return string(data), true
	}
	if len(digits)%4 == 1 {
		digits = digits[:len(digits)-1] // The base64 was cut off.
	}
	data, err := base64.RawStdEncoding.DecodeString(digits)
	return string(data), err == nil && len(data) > 0
}
