package verdict

import (
	"bytes"
	"encoding/binary"
	"time"
)

// Packed is a Verdict in the form that an object stores. None and OK take one byte. Other severities are followed by
// the Unix time of OverdueAt in 8 bytes, the reason, a zero byte, and the sentence.
type Packed []byte

// Pack appends a verdict to dst.
func Pack(dst []byte, v *Verdict) Packed {
	dst = append(dst, byte(v.Severity))
	if v.Severity <= OK {
		return dst
	}
	overdueAt := uint64(0)
	if !v.OverdueAt.IsZero() {
		overdueAt = uint64(v.OverdueAt.Unix()) //nolint:gosec // The conversion is reversed in the method OverdueAt.
	}
	dst = binary.BigEndian.AppendUint64(dst, overdueAt)
	dst = append(append(dst, v.Reason...), 0)
	return append(dst, v.Sentence...)
}

// Severity returns the severity. An empty Packed has None.
func (p Packed) Severity() Severity {
	if len(p) > 0 {
		return Severity(p[0])
	}
	return None
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

// Unpack returns the verdict. For None and OK, it has only a severity.
func (p Packed) Unpack() Verdict {
	v := Verdict{Severity: p.Severity(), OverdueAt: p.OverdueAt()}
	if len(p) > 1 {
		reason, sentence, _ := bytes.Cut(p[9:], []byte{0})
		v.Reason, v.Sentence = string(reason), string(sentence)
	}
	return v
}

// Same reports whether two verdicts have the same severity, reason and sentence.
func (p Packed) Same(other Packed) bool {
	return p.Severity() == other.Severity() && len(p) == len(other) && (len(p) <= 1 || bytes.Equal(p[9:], other[9:]))
}

// AppendMember appends the verdict to a JSON object as the member "verdict". It appends nothing for None.
func (p Packed) AppendMember(dst []byte) []byte {
	if p.Severity() == None {
		return dst
	}
	v := p.Unpack()
	return v.Append(append(dst, `,"verdict":`...))
}
