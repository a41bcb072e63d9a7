package listwatch

import (
	"bytes"
	"encoding/binary"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/health"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// packVerdict appends a verdict to dst in the form that an Object stores: one byte for None and OK. Otherwise, the
// severity, the Unix time of OverdueAt in 8 bytes, the reason, a zero byte, and the sentence.
func packVerdict(dst []byte, v *verdict.Verdict) []byte {
	dst = append(dst, byte(v.Severity))
	if v.Severity <= verdict.OK {
		return dst
	}
	overdueAt := uint64(0)
	if !v.OverdueAt.IsZero() {
		overdueAt = uint64(v.OverdueAt.Unix()) //nolint:gosec // The conversion is reversed in the method Verdict.
	}
	dst = binary.BigEndian.AppendUint64(dst, overdueAt)
	dst = append(append(dst, v.Reason...), 0)
	return append(dst, v.Sentence...)
}

func (o *Object) packedVerdict() []byte { return o.data[o.ends[4]:o.ends[5]] }

// Severity returns the severity of the object's verdict.
func (o *Object) Severity() verdict.Severity {
	if packed := o.packedVerdict(); len(packed) > 0 {
		return verdict.Severity(packed[0])
	}
	return verdict.None
}

// OverdueAt returns when the verdict must be evaluated again, or the zero Time for never.
func (o *Object) OverdueAt() time.Time {
	if packed := o.packedVerdict(); len(packed) > 1 {
		if at := binary.BigEndian.Uint64(packed[1:]); at != 0 {
			return time.Unix(int64(at), 0) //nolint:gosec // It was converted from an int64.
		}
	}
	return time.Time{}
}

// Verdict returns the verdict on the object. Without a problem or progress, it has only a severity.
func (o *Object) Verdict() verdict.Verdict {
	v, packed := verdict.Verdict{Severity: o.Severity(), OverdueAt: o.OverdueAt()}, o.packedVerdict()
	if len(packed) > 1 {
		reason, sentence, _ := bytes.Cut(packed[9:], []byte{0})
		v.Reason, v.Sentence = string(reason), string(sentence)
	}
	return v
}

// SameVerdict reports whether two versions have the same severity, reason and sentence.
func (o *Object) SameVerdict(other *Object) bool {
	a, b := o.packedVerdict(), other.packedVerdict()
	return len(a) == len(b) && (len(a) == 0 || a[0] == b[0]) && (len(a) <= 1 || bytes.Equal(a[9:], b[9:]))
}

// Reevaluate returns a copy of the object with its verdict at the time now.
func (o *Object) Reevaluate(now time.Time) (*Object, error) {
	text, err := o.JSON()
	if err != nil {
		return nil, err
	}
	v := health.Evaluate(text, now, o.ManagedTime())
	other := *o
	other.data = append(append(bytes.Clone(o.data[:o.ends[4]]), packVerdict(nil, &v)...), o.body()...)
	other.ends[5] = uint32(len(other.data) - len(o.body())) //nolint:gosec // The length is far below 4 GiB.
	return &other, nil
}

// AppendVerdict appends the verdict to a row as the JSON member "verdict". It appends nothing for None.
func (o *Object) AppendVerdict(dst []byte) []byte {
	v := o.Verdict()
	if v.Severity == verdict.None {
		return dst
	}
	return v.Append(append(dst, `,"verdict":`...))
}
