package verdict

import (
	"bytes"
	"encoding/binary"
	"strings"
	"time"
)

// Packed is a Verdict in the form that an object stores: the severity, the Unix time of OverdueAt in 8 bytes, the
// reason, a zero byte, and the sentence. None and OK have no sentence. A verdict None or OK without reason and
// OverdueAt has only one byte.
//
// An inherited verdict has the flag inherited, and contains the object's own Packed after the texts of the Cause,
// the Sources and Via.
type Packed []byte

const (
	inherited   = 0x80            // The flag of an inherited verdict, in the byte of the severity.
	headerSize  = 9               // In bytes: 1 for the severity, and 8 for OverdueAt.
	objectTexts = 4               // The number of texts of an Object: resource, kind, namespace, name.
	causeTexts  = objectTexts + 2 // The texts of a Cause: an Object, the sentence, and "1" if the object is missing.
	// inheritedTexts is the number of texts of an inherited verdict: reason, sentence, Cause, Sources and Via.
	inheritedTexts = 2 + causeTexts + 1 + objectTexts
)

// Pack appends the encoded verdict to dst. The verdict must have no Cause, because only Inherit encodes causes.
func Pack(dst []byte, v *Verdict) Packed {
	if v.Severity <= OK && v.Reason == "" && v.OverdueAt.IsZero() {
		return append(dst, byte(v.Severity))
	}
	dst = appendHeader(dst, byte(v.Severity), v.OverdueAt)
	dst = append(append(dst, v.Reason...), 0)
	if v.Severity <= OK {
		return dst
	}
	return append(dst, v.Sentence...)
}

func appendHeader(dst []byte, first byte, overdueAt time.Time) []byte {
	seconds := uint64(0)
	if !overdueAt.IsZero() {
		seconds = uint64(overdueAt.Unix()) //nolint:gosec // The conversion is reversed in the method OverdueAt.
	}
	return binary.BigEndian.AppendUint64(append(dst, first), seconds)
}

// Inherit packs v, the verdict that an object inherits from other objects (such as v.Cause), together with own, the
// verdict on the object alone.
func Inherit(own Packed, v *Verdict) Packed {
	dst := appendHeader(nil, byte(v.Severity)|inherited, own.OverdueAt())
	var cause Cause
	if v.Cause != nil {
		cause = *v.Cause
	}
	var via Object
	if v.Via != nil {
		via = *v.Via
	}
	missing := ""
	if cause.Missing {
		missing = "1"
	}
	for _, text := range []string{
		v.Reason, v.Sentence, cause.Resource, cause.Kind, cause.Namespace, cause.Name, cause.Sentence, missing,
		string(v.Sources), via.Resource, via.Kind, via.Namespace, via.Name,
	} {
		dst = append(append(dst, strings.ReplaceAll(text, "\x00", "")...), 0)
	}
	return append(dst, own...)
}

// Severity returns the severity. An empty Packed has None.
func (p Packed) Severity() Severity {
	if len(p) > 0 {
		return Severity(p[0] &^ inherited)
	}
	return None
}

// IsInherited reports whether the verdict is based also on other objects, and not on the object alone.
func (p Packed) IsInherited() bool { return len(p) > 0 && p[0]&inherited != 0 }

// Own returns the verdict on the object alone.
func (p Packed) Own() Packed {
	if !p.IsInherited() {
		return p
	}
	rest := p[headerSize:]
	for range inheritedTexts {
		_, rest, _ = bytes.Cut(rest, []byte{0})
	}
	return rest
}

// OverdueAt returns when the verdict must be evaluated again, or the zero Time for never.
func (p Packed) OverdueAt() time.Time {
	if len(p) > 1 {
		if at := binary.BigEndian.Uint64(p[1:]); at != 0 {
			return time.Unix(int64(at), 0) //nolint:gosec // It was converted from an int64.
		}
	}
	return time.Time{}
}

// Unpack returns the verdict.
func (p Packed) Unpack() Verdict {
	v := Verdict{Severity: p.Severity(), OverdueAt: p.OverdueAt()}
	if len(p) <= 1 {
		return v
	}
	reason, rest, _ := bytes.Cut(p[headerSize:], []byte{0})
	v.Reason, v.Sentence = string(reason), string(rest)
	if p.IsInherited() {
		texts := strings.SplitN(string(rest), "\x00", inheritedTexts)
		v.Sentence, v.Sources = texts[0], Sources(texts[7])
		if texts[2] != "" {
			v.Cause = &Cause{
				Object:   Object{Resource: texts[1], Kind: texts[2], Namespace: texts[3], Name: texts[4]},
				Sentence: texts[5], Missing: texts[6] != "",
			}
		}
		if texts[9] != "" {
			v.Via = &Object{Resource: texts[8], Kind: texts[9], Namespace: texts[10], Name: texts[11]}
		}
	}
	return v
}

// Public returns the verdict for viewers who may not read the Cause: the same severity, with the texts of the verdict
// on the object alone.
func (p Packed) Public() Packed {
	if !p.IsInherited() {
		return p
	}
	v := p.Own().Unpack()
	if v.Severity = p.Severity(); v.Sentence == "" && v.Severity > OK {
		v.Sentence = "The cause is an object that you cannot read"
	}
	return Pack(nil, &v)
}

// Same reports whether two verdicts have the same severity, reason and sentence. For inherited verdicts, it also
// compares the causes, the sources, and the object's own verdicts, which do not depend on other objects.
func (p Packed) Same(other Packed) bool {
	return p.Severity() == other.Severity() && p.IsInherited() == other.IsInherited() &&
		bytes.Equal(p.texts(), other.texts())
}

// texts returns everything after the header: the reason, a zero byte and the sentence. For an inherited verdict, its
// other texts and the verdict on the object alone follow.
func (p Packed) texts() []byte {
	if len(p) > headerSize {
		return p[headerSize:]
	}
	return []byte{0}
}

// AppendMember appends the verdict to a JSON object as the member "verdict". It appends nothing for None without a
// reason.
func (p Packed) AppendMember(dst []byte) []byte {
	if p.Severity() == None && len(p) <= headerSize {
		return dst
	}
	v := p.Unpack()
	return v.Append(append(dst, `,"verdict":`...))
}
