package incidents

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// result compares what the program reports with the fixtures.
type result struct {
	areas    map[string]*score
	missed   []string          // Expected objects that are not reported, or are reported without their cause.
	wrong    []string          // Healthy objects that are reported, and objects that have nothing to do with a fixture.
	reported map[object]bool   // The reported objects of fixtures with expectations.
	unjudged map[object]string // Those of them that no expectation covers, each as a line of the result.
}

type score struct{ fixtures, expected, found, explained, healthy, wrong int }

// compare compares the findings with the fixtures.
func (c *comparison) compare(findings []finding) *result {
	r := &result{
		areas: make(map[string]*score), reported: make(map[object]bool), unjudged: make(map[object]string),
	}
	all := reports(findings)
	for _, f := range c.fixtures {
		if r.areas[f.Area] == nil {
			r.areas[f.Area] = &score{}
		}
		s := r.areas[f.Area]
		s.fixtures++
		s.healthy += len(f.Healthy)
		for i := range f.Expect {
			r.expect(s, f, &f.Expect[i], all)
		}
		for i := range all {
			if f.isHealthy(&all[i].object) {
				r.addWrong(f, &all[i], "healthy")
			}
		}
	}
	r.judge(c, all)
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

func (f *fixture) isHealthy(o *object) bool {
	return slices.ContainsFunc(f.Healthy, func(h reference) bool { return f.matches(&h, o) })
}

func (r *result) addWrong(f *fixture, got *report, why string) {
	r.areas[f.Area].wrong++
	r.wrong = append(r.wrong, fmt.Sprintf("%s: %s: %s: %s [%s]", f.name, &got.object, got.Severity, got.line(), why))
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
	unjudged, count := slices.Sorted(maps.Values(r.unjudged)), len(r.reported)
	fmt.Fprintf(&out, "unjudged %d of %d reported objects (%.1f %%)\n",
		len(unjudged), count, 100*float64(len(unjudged))/float64(max(1, count)))
	for _, line := range r.missed {
		out.WriteString("missed: " + line + "\n")
	}
	for _, line := range r.wrong {
		out.WriteString("wrong: " + line + "\n")
	}
	for _, line := range unjudged {
		out.WriteString("unjudged: " + line + "\n")
	}
	return out.String()
}
