package incidents

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// result compares what the program reports with the fixtures.
type result struct {
	areas  map[string]*score
	missed []string // Expected objects that are not reported, or are reported without their cause.
	wrong  []string // Healthy objects that are reported.
}

type score struct{ fixtures, expected, found, explained, healthy, wrong int }

// compare compares the findings with the fixtures. The parameter further contains fixtures that are not part of the
// result. Their expected objects are in the cluster, so a finding about these objects is not wrong.
func compare(fixtures []*fixture, findings []finding, further ...*fixture) *result {
	r := &result{areas: make(map[string]*score)}
	all := reports(findings)
	for _, f := range fixtures {
		if r.areas[f.Area] == nil {
			r.areas[f.Area] = &score{}
		}
		s := r.areas[f.Area]
		s.fixtures++
		for i := range f.Expect {
			r.expect(s, f, &f.Expect[i], all)
		}
		r.refuse(s, f, all)
	}
	r.refuseDemo(slices.Concat(fixtures, further), all)
	slices.Sort(r.wrong)
	r.wrong = slices.Compact(r.wrong)
	return r
}

func (r *result) expect(s *score, f *fixture, e *expectation, all []report) {
	s.expected++
	text, isFound := "nothing", false
	for i := range all {
		got := &all[i]
		if !f.matches(&e.reference, &got.object) || severityOf(got.Severity) < severityOf(e.Severity) {
			continue
		}
		if !isFound {
			s.found++
		}
		isFound = true
		if f.explains(e, got) {
			s.explained++
			return
		}
		text = fmt.Sprintf("%s: %s: %s", got.Severity, got.Reason, got.Sentence)
		if got.Cause != nil {
			text += fmt.Sprintf(" (cause %s: %s)", &got.Cause.object, got.Cause.Sentence)
		}
	}
	want := []string{strings.Join(e.Sentence, ", ")}
	for _, c := range e.causes() {
		want = append(want, c.String())
	}
	r.missed = append(r.missed, fmt.Sprintf("%s: %s: want %s: %s; got %s",
		f.name, e, e.Severity, strings.Join(want, " <- "), text))
}

// refuse counts a reported object as wrong if it is healthy. If f has no expectations, all its objects are healthy.
func (r *result) refuse(s *score, f *fixture, all []report) {
	s.healthy += len(f.Healthy)
	for i := range all {
		got := &all[i]
		isWrong := len(f.Expect) == 0 && (got.Namespace == f.namespace || strings.HasPrefix(got.Namespace, f.namespace+"-"))
		for n := range f.Healthy {
			isWrong = isWrong || f.matches(&f.Healthy[n], &got.object)
		}
		if isWrong {
			s.wrong++
			r.wrong = append(r.wrong, fmt.Sprintf("%s: %s: %s: %s", f.name, &got.object, got.Severity, got.Sentence))
		}
	}
}

// refuseDemo adds to r.wrong all reported objects of the demo cluster itself, except those that a fixture expects.
func (r *result) refuseDemo(fixtures []*fixture, all []report) {
	for i := range all {
		got := &all[i]
		isExpected := strings.HasPrefix(got.Namespace, prefix) || strings.Contains(got.Name, prefix)
		for _, f := range fixtures {
			isExpected = isExpected || slices.ContainsFunc(f.Expect, func(e expectation) bool {
				return f.matches(&e.reference, &got.object)
			})
		}
		if !isExpected {
			r.wrong = append(r.wrong, fmt.Sprintf("demo: %s: %s: %s", &got.object, got.Severity, got.Sentence))
		}
	}
}

func (r *result) total() (t score) {
	for _, s := range r.areas {
		t.fixtures += s.fixtures
		t.expected += s.expected
		t.found += s.found
		t.explained += s.explained
		t.healthy += s.healthy
		t.wrong += s.wrong
	}
	t.wrong = len(r.wrong)
	return t
}

// recall is the share of expected objects that are reported with their true cause, in percent.
func (r *result) recall() float64 {
	t := r.total()
	return 100 * float64(t.explained) / float64(max(1, t.expected))
}

func (r *result) isPerfect() bool { return len(r.missed) == 0 && len(r.wrong) == 0 }

func (r *result) String() string {
	var out strings.Builder
	out.WriteString("| area | fixtures | expected | found | with cause | healthy | reported by mistake |\n")
	out.WriteString("| --- | --- | --- | --- | --- | --- | --- |\n")
	row := func(name string, s *score) {
		fmt.Fprintf(&out, "| %s | %d | %d | %d | %d | %d | %d |\n",
			name, s.fixtures, s.expected, s.found, s.explained, s.healthy, s.wrong)
	}
	for _, area := range slices.Sorted(maps.Keys(r.areas)) {
		row(area, r.areas[area])
	}
	total := r.total()
	row("all", &total)
	reported := total.found + total.wrong
	fmt.Fprintf(&out, "\nprecision %.1f %%, recall %.1f %%\n",
		100*float64(total.found)/float64(max(1, reported)), r.recall())
	for _, line := range r.missed {
		out.WriteString("missed: " + line + "\n")
	}
	for _, line := range r.wrong {
		out.WriteString("wrong: " + line + "\n")
	}
	return out.String()
}
