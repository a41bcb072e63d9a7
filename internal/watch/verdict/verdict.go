// Package verdict defines types for the health of objects. A Packed verdict is small enough for every row.
package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
)

// Severity is how much attention an object needs.
type Severity uint8

// The severities, in increasing order.
const (
	None        Severity = iota // No rule covers the kind, or the object could not be evaluated.
	OK                          // In the desired state.
	Progressing                 // Changing to the desired state, and not overdue.
	Degraded                    // Works only partly, or progress is overdue.
	Failed                      // Does not work.
)

var names = [...]string{"none", "ok", "progressing", "degraded", "failed"} //nolint:gochecknoglobals // Constant.

// String returns the name of the severity in the API, such as "failed".
func (s Severity) String() string { return names[min(int(s), len(names)-1)] }

// IsProblem reports whether the severity is Degraded or Failed.
func (s Severity) IsProblem() bool { return s >= Degraded }

// MarshalText returns the name of the severity.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText sets the severity from its name. It fails for an unknown name.
func (s *Severity) UnmarshalText(text []byte) error {
	for n, name := range names {
		if string(text) == name {
			*s = Severity(n) //nolint:gosec // There are five names.
			return nil
		}
	}
	return fmt.Errorf("unknown severity %.20q; the severities are none, ok, progressing, degraded and failed", text)
}

// Verdict is the health of one object.
type Verdict struct {
	Severity Severity `json:"severity"`
	// Reason is a code in CamelCase, such as CrashLoopBackOff. It can be empty even if there is a Sentence.
	Reason string `json:"reason,omitempty"`
	// Sentence explains the severity on one line without a final period. It can contain texts of objects in the cluster.
	Sentence string `json:"sentence,omitempty"`
	// OverdueAt is when OK or Progressing becomes a worse severity without an update of the object. Zero means never.
	OverdueAt time.Time `json:"-"`
	// Cause is the object from which the verdict is inherited. It is nil for a verdict on the object alone.
	Cause *Cause `json:"cause,omitempty"`
	// Via is the neighbor that passes the verdict on. It differs from Cause if the neighbor inherited the verdict, too.
	Via *Object `json:"-"`
	// Rule is the host and path of the rule whose requests reach no pod, if the object is a route. If these are not enough
	// to distinguish the rule, it also contains the name or the number of the rule.
	Rule string `json:"-"`
	// Sources are the resources and namespaces of all objects that the texts of an inherited verdict name or describe.
	Sources Sources `json:"-"`
}

// Sources is a set of resources in namespaces, as sorted lines of the form "core/v1/pods team-a".
type Sources string

// Own is the set for a text that is based only on the content of the object with the verdict. Each viewer of the object
// may read such a text.
const Own Sources = "own"

// Source returns a set of one source: a resource in a namespace. For a cluster-scoped resource, namespace is empty.
func Source(resource, namespace string) Sources { return Sources(resource + " " + namespace) }

// With returns the union of two sets.
func (s Sources) With(other Sources) Sources {
	if s == "" || other == "" || s == other {
		return max(s, other)
	}
	lines := slices.Sorted(strings.SplitSeq(string(s+"\n"+other), "\n"))
	return Sources(strings.Join(slices.Compact(lines), "\n"))
}

// Contains reports whether the set contains a resource in a namespace.
func (s Sources) Contains(resource, namespace string) bool {
	return slices.Contains(strings.Split(string(s), "\n"), string(Source(resource, namespace)))
}

// ForInheritor returns the set for an object that inherits the texts from another object. If the set contains Own,
// ForInheritor replaces Own by source, the source of the other object.
func (s Sources) ForInheritor(source Sources) Sources {
	lines := strings.Split(string(s), "\n")
	at := slices.Index(lines, string(Own))
	if at < 0 {
		return s
	}
	return Sources(strings.Join(slices.Delete(lines, at, at+1), "\n")).With(source)
}

// Within reports whether condition is true for all sources except Own. If there is no source at all, it returns false.
func (s Sources) Within(condition func(resource, namespace string) bool) bool {
	if s == "" {
		return false
	}
	for line := range strings.SplitSeq(string(s), "\n") {
		if line == string(Own) {
			continue
		}
		if resource, namespace, _ := strings.Cut(line, " "); !condition(resource, namespace) {
			return false
		}
	}
	return true
}

// Object names one object of the cluster.
type Object struct {
	Resource  string `json:"resource"` // Such as "apps/v1/deployments".
	Kind      string `json:"kind"`
	Namespace string `json:"ns"`
	Name      string `json:"name"`
}

// Cause is the object that explains a verdict, with a sentence about it. An object that does not exist can be a cause.
type Cause struct {
	Object

	Sentence string `json:"sentence,omitempty"`
	Missing  bool   `json:"missing,omitempty"` // The object does not exist.
}

// Compare orders verdicts by severity, the worst first, and then by reason and sentence.
func (v *Verdict) Compare(other *Verdict) int {
	return cmp.Or(
		cmp.Compare(other.Severity, v.Severity), cmp.Compare(v.Reason, other.Reason),
		cmp.Compare(v.Sentence, other.Sentence),
	)
}

// Why returns the sentence, or the name of the severity if there is no sentence. It is empty for None and OK.
func (v *Verdict) Why() string {
	if v.Sentence == "" && v.Severity > OK {
		return v.Severity.String()
	}
	return v.Sentence
}

// Append appends the verdict to dst as JSON: {"severity","reason","sentence","cause"}, without empty members.
func (v *Verdict) Append(dst []byte) []byte {
	dst = append(append(append(dst, `{"severity":"`...), v.Severity.String()...), '"')
	if v.Reason != "" {
		dst = jsonscan.AppendString(append(dst, `,"reason":`...), v.Reason)
	}
	if v.Sentence != "" {
		dst = jsonscan.AppendString(append(dst, `,"sentence":`...), v.Sentence)
	}
	if v.Cause != nil {
		dst = v.Cause.append(append(dst, `,"cause":`...))
	}
	return append(dst, '}')
}

func (c *Cause) append(dst []byte) []byte {
	dst = jsonscan.AppendString(append(dst, `{"resource":`...), c.Resource)
	dst = jsonscan.AppendString(append(dst, `,"kind":`...), c.Kind)
	dst = jsonscan.AppendString(append(dst, `,"ns":`...), c.Namespace)
	dst = jsonscan.AppendString(append(dst, `,"name":`...), c.Name)
	if c.Sentence != "" {
		dst = jsonscan.AppendString(append(dst, `,"sentence":`...), c.Sentence)
	}
	if c.Missing {
		dst = append(dst, `,"missing":true`...)
	}
	return append(dst, '}')
}

// Counts are the numbers of objects with problems.
type Counts struct {
	Failed   int `json:"failed,omitempty"`
	Degraded int `json:"degraded,omitempty"`
}

// Add adds n objects of a severity. Only Failed and Degraded count.
func (c *Counts) Add(s Severity, n int) {
	switch s {
	case Failed:
		c.Failed += n
	case Degraded:
		c.Degraded += n
	case None, OK, Progressing:
	}
}
