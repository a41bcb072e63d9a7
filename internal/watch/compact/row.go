package compact

import (
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
)

// AppendRow appends the object to dst as the JSON of a table row for the browser, with the members
// {"ns","name","uid","rv","created","verdict","extra","cells"}. The member "extra" is absent without withExtra, and if
// there are no extra cells.
func (o *Object) AppendRow(dst []byte, withExtra bool) []byte {
	dst = append(dst, `{"ns":`...)
	dst = jsonscan.AppendString(dst, part(o, 0))
	dst = append(dst, `,"name":`...)
	dst = jsonscan.AppendString(dst, part(o, 1))
	dst = o.AppendVersion(dst)
	if created := o.Created(); !created.IsZero() {
		dst = append(dst, `,"created":"`...)
		dst = created.AppendFormat(dst, time.RFC3339)
		dst = append(dst, '"')
	}
	dst = o.Verdict().AppendMember(dst)
	if extra := Extra(o); withExtra && len(extra) > 0 {
		dst = append(append(dst, `,"extra":`...), extra...)
	}
	return append(append(append(dst, `,"cells":`...), o.Cells()...), '}')
}

// AppendVersion appends the members of a row that identify the object and its version: `,"uid":"..","rv":".."`.
func (o *Object) AppendVersion(dst []byte) []byte {
	dst = append(dst, `,"uid":`...)
	dst = jsonscan.AppendString(dst, part(o, 2))
	dst = append(dst, `,"rv":`...)
	return jsonscan.AppendString(dst, part(o, 3))
}
