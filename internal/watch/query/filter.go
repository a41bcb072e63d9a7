package query

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/glasshouse-project/glasshouse/internal/watch/cellsort"
	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/event"
	"github.com/glasshouse-project/glasshouse/internal/watch/journal"
	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
	"github.com/glasshouse-project/glasshouse/internal/watch/printer"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// A Filter is a validated Query combined with the viewer's permissions. It decides which objects the viewer sees.
type Filter struct {
	Namespaces []string         // The namespaces to match, sorted; empty means all.
	Name       string           // The name of the only object to match; empty means all objects.
	words      []string         // The words that a row must contain, in lower case.
	Fields     string           // The field selector in the canonical form of apimachinery.
	Columns    []printer.Column // The columns of the rows that are passed to Match. The caller sets them.
	Selector   *Selector

	// All fields from here on depend on the viewer's permissions; see RestrictToLink and RestrictToNamespaces.
	Named               []string // The namespaces of the query that the viewer is permitted to see.
	PermittedNamespaces []string // If the query names no namespaces: those that the viewer may see; empty means all.
	// requiredWords are the words that a share link requires in rows. Nothing about other rows is sent.
	requiredWords []string
	// regarding is the object to whose events a share link is limited, such as "pod/web-1". Empty means any object.
	regarding    string
	IsPartial    bool // The viewer is possibly not permitted to see all objects that the query selects.
	IsGuest      bool // The viewer is a guest: a viewer of a share link.
	IsRestricted bool // Messages must not reveal whether objects that the viewer may not see exist or change.
	// HidesExtra means that the viewer does not see the extra columns. Guests may see only changes that occur during their
	// visit, so they do not see who last changed an object.
	HidesExtra bool
	// HidesCauses means that the viewer sees the cause of a verdict only if CauseSources contains all its sources.
	// CauseSources is sorted. It has "core/v1/pods team-a" for one namespace, and "core/v1/pods" for all namespaces.
	HidesCauses  bool
	CauseSources []string
}

// NewFilter validates the query for the resource r. Only one goroutine at a time can use the Filter.
func NewFilter(q *Query, r *resource.Resource) (*Filter, error) {
	f := &Filter{Name: q.Name, words: cellsort.Words(q.Text)}
	if !r.Can("list") {
		return nil, status.Invalidf("Not listable",
			"%s cannot be listed: the API supports only the verbs %s.", r.Plural(), strings.Join(r.Verbs, ", "))
	}
	if len(q.Namespaces) > 0 && !r.Namespaced {
		return nil, status.Invalidf("Not namespaced", "%s are not namespaced: omit ns.", r.Plural())
	}
	var err error
	if f.Namespaces, err = SelectNamespaces(q.Namespaces); err != nil {
		return nil, err
	}
	if err := CheckName(q.Name); err != nil {
		return nil, err
	}
	f.Named = f.Namespaces
	if len(q.Labels) > maxSelector || len(q.Fields) > maxSelector || len(q.Text) > maxSelector {
		return nil, status.Invalidf("Selector too long", "A selector or filter may have at most %d bytes.", maxSelector)
	}
	if len(f.words) > maxTerms {
		return nil, status.Invalidf("Selector too complex",
			"A text filter may have at most %d words; this one has %d.", maxTerms, len(f.words))
	}
	if strings.ContainsFunc(q.Labels+q.Fields, unicode.IsControl) {
		return nil, status.Invalidf("Invalid selector", "A selector contains a control character, which is not allowed.")
	}
	if q.Labels != "" {
		parsed, err := labels.Parse(q.Labels)
		if err != nil {
			return nil, status.Invalidf(
				"Invalid label selector",
				"The label selector %q does not parse: %v. Use the syntax of kubectl -l: app=web,tier!=db or env in (prod,test).",
				q.Labels, err,
			)
		}
		if countTerms(parsed) > maxTerms {
			return nil, status.Invalidf("Selector too complex",
				"A label selector may have at most %d requirements and values together; this one has %d.",
				maxTerms, countTerms(parsed))
		}
		f.Selector = NewSelector(parsed)
	}
	selector, err := fields.ParseSelector(q.Fields)
	if err != nil {
		return nil, status.Invalidf(
			"Invalid field selector",
			"The field selector %q does not parse: %v. Use the syntax of kubectl --field-selector: status.phase=Running.",
			q.Fields, err,
		)
	}
	f.Fields = selector.String()
	return f, nil
}

// RestrictToLink restricts f to what a share link includes: objects that match link. If regarding is not
// empty (such as "pod/web-1"), only events about this object remain. It returns false if nothing remains.
func (f *Filter) RestrictToLink(link *Filter, regarding string) bool {
	f.IsRestricted = true
	f.IsPartial = f.IsPartial || link.Selector != nil || link.Name != "" || len(link.words) > 0 || regarding != ""
	if len(link.Namespaces) > 0 {
		requested := f.Namespaces
		f.IsPartial = f.IsPartial || len(requested) == 0
		f.Namespaces = link.Namespaces
		if len(requested) > 0 {
			f.Namespaces = intersect(requested, link.Namespaces)
			f.IsPartial = f.IsPartial || len(f.Namespaces) < len(requested)
		}
		f.Named = f.Namespaces
	}
	if len(link.Namespaces) > 0 && len(f.Namespaces) == 0 || link.Name != "" && f.Name != "" && link.Name != f.Name {
		return false
	}
	if link.Name != "" {
		f.Name = link.Name
	}
	f.Selector = f.Selector.and(link.Selector)
	f.requiredWords, f.regarding = slices.Concat(f.requiredWords, link.words), regarding
	return true
}

// RestrictToNamespaces restricts the filter to the sorted namespaces in permitted. permitsAll means that permitted
// contains all namespaces of the query.
func (f *Filter) RestrictToNamespaces(permitted []string, permitsAll bool) {
	f.IsPartial = f.IsPartial || !permitsAll || len(f.Namespaces) == 0
	if len(f.Namespaces) == 0 {
		f.PermittedNamespaces = permitted
	}
	f.Namespaces, f.IsRestricted = permitted, true
	f.Named = intersect(f.Named, permitted)
}

func intersect(some, others []string) []string {
	return slices.DeleteFunc(slices.Clone(some), func(ns string) bool {
		_, ok := slices.BinarySearch(others, ns)
		return !ok
	})
}

func countTerms(s labels.Selector) int {
	requirements, _ := s.Requirements()
	n := len(requirements)
	for _, r := range requirements {
		n += r.Values().Len()
	}
	return n
}

// FilterID is a hash that identifies a filter among those of one resource.
type FilterID [sha256.Size]byte

// ID returns the hash of the filter. Filters with the same ID match the same objects.
func (f *Filter) ID() FilterID {
	var labels string
	if f.Selector != nil {
		labels = f.Selector.String()
	}
	text := fmt.Appendf(nil, "%q %q %q %q %q %q",
		f.Namespaces, f.Name, f.words, labels, f.requiredWords, f.regarding)
	if f.HidesExtra {
		text = append(text, " extra"...)
	}
	if f.HidesCauses {
		text = fmt.Appendf(text, " %q", f.CauseSources)
	}
	return sha256.Sum256(text)
}

// MatchesAll reports whether the filter matches all objects of its resource, and hides no causes of their verdicts.
func (f *Filter) MatchesAll() bool {
	return f.MatchesNamespaces() && len(f.Namespaces) == 0 && !f.HidesCauses
}

// WithColumns returns a copy of the filter with the given columns. The copy and f can be used concurrently.
func (f *Filter) WithColumns(columns []printer.Column) *Filter {
	other := *f
	other.Columns = columns
	if f.Selector != nil {
		other.Selector = NewSelector(f.Selector.Selector)
	}
	return &other
}

// Match reports whether the filter matches an object.
func (f *Filter) Match(o *compact.Object) bool { return f.MatchesIgnoringText(o) && f.MatchText(o) }

// MatchesIgnoringText reports whether the filter matches an object, if the words of the query are ignored.
func (f *Filter) MatchesIgnoringText(o *compact.Object) bool {
	if f.Name != "" && o.Name() != f.Name {
		return false
	}
	if !f.IncludesNamespace(o.Namespace()) {
		return false
	}
	return (f.Selector == nil || f.Selector.matches(o.Labels())) && f.MatchesLink(o)
}

// MatchesLink reports whether an object meets the share link's conditions on its row: words that the row must contain,
// and the object that an event must regard.
func (f *Filter) MatchesLink(o *compact.Object) bool {
	return f.containsWords(o, f.requiredWords) && (f.regarding == "" || f.matchesRegarding(o))
}

// NeedsRow reports whether the filter needs the printed row of an object. Objects from a get request have no row.
func (f *Filter) NeedsRow() bool { return len(f.requiredWords) > 0 || f.regarding != "" }

// regardedObject returns the object that an event regards, such as "pod/web-1", or "" if there is none.
func (f *Filter) regardedObject(o *compact.Object) (object string) {
	at := slices.IndexFunc(f.Columns, func(c printer.Column) bool { return c.Name == "Object" })
	c := jsonscan.NewCursor(o.Cells())
	_ = c.Array(func(i int) error { // No error is possible, because cells are valid JSON.
		cell, err := c.Value()
		if err == nil && i == at {
			object, err = jsonscan.Unquote(cell)
		}
		return err
	})
	return object
}

// MatchText reports whether the row of an object contains the words of the query.
func (f *Filter) MatchText(o *compact.Object) bool { return f.containsWords(o, f.words) }

// containsWords reports whether a row's text contains every word. Elapsed times do not count, because they change
// without an update of the object.
func (f *Filter) containsWords(o *compact.Object, words []string) bool {
	if len(words) == 0 {
		return true
	}
	// The page shows a name as "namespace/name", so the words can also match this text.
	texts := []string{o.Namespace() + "/" + o.Name()}
	c := jsonscan.NewCursor(o.Cells())
	_ = c.Array(func(i int) error { // No error is possible, because cells are valid JSON.
		cell, err := c.Value()
		if err != nil {
			return err
		}
		text := string(cell) // For a number or a boolean, this is the JSON text of the cell.
		if cell[0] == '"' || cell[0] == 'n' {
			text, err = jsonscan.Unquote(cell)
		}
		if i >= len(f.Columns) || !f.Columns[i].Relative {
			texts = append(texts, text)
		}
		return err
	})
	for i := range texts {
		texts[i] = cellsort.Lower(texts[i])
	}
	for _, word := range words {
		if match := SeverityMatcher(word); match != nil {
			if !match(o.Verdict().Severity()) {
				return false
			}
			continue
		}
		if !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, word) }) {
			return false
		}
	}
	return true
}

// SeverityMatcher returns the condition of a filter word such as "is:failed", or nil for plain text. "is:failing" means
// failed or degraded, and "is:waiting" means progressing.
func SeverityMatcher(word string) func(verdict.Severity) bool {
	name, ok := strings.CutPrefix(word, "is:")
	if !ok {
		return nil
	}
	switch name {
	case "failing":
		return verdict.Severity.IsProblem
	case "waiting":
		name = verdict.Progressing.String()
	}
	var wanted verdict.Severity
	if wanted.UnmarshalText([]byte(name)) != nil {
		return nil
	}
	return func(s verdict.Severity) bool { return s == wanted }
}

// VisibleChange returns the change that a reader sees, or nil for none. For example, it returns a delete if an object
// no longer matches after an update.
func (f *Filter) VisibleChange(c *event.Change) *event.Change {
	if c.Op == 0 { // An entry without an object, which only advances the journal's offset.
		return nil
	}
	wasVisible := c.Op != journal.Add && f.Match(c.Old)
	isVisible := c.Op != journal.Delete && f.Match(c.New)
	var op journal.Op
	switch {
	case wasVisible && isVisible:
		op = journal.Update
	case wasVisible:
		op = journal.Delete
	case isVisible:
		op = journal.Add
	default:
		return nil
	}
	before, after := f.Shown(c.Old), f.Shown(c.New)
	if op == c.Op && before == c.Old && after == c.New {
		return c
	}
	if f.IsHidden(c) {
		return nil
	}
	return &event.Change{
		Offset: c.Offset,
		Time:   c.Time,
		Key:    c.Key,
		Old:    before,
		New:    after,
		Op:     op,
		Memo:   event.Memo{Managed: c.Memo.Managed, CoverageOnly: c.Memo.CoverageOnly},
	}
}

// MatchingOld returns the object before a change, or nil if the object was new or did not match the filter.
func (f *Filter) MatchingOld(before *event.Change) *compact.Object {
	if before.Op == journal.Add || !f.Match(before.Old) {
		return nil
	}
	return before.Old
}
