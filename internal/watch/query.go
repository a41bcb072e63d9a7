package watch

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unique"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"glasshouse/internal/watch/cellsort"
	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/jsonscan"
	"glasshouse/internal/watch/listwatch"
)

const (
	maxNamespaces = 200
	maxSelector   = 4 << 10
	// maxTerms limits the terms of a query: the requirements and values of its label selector, and the words of its
	// text. Each term is evaluated for every object and every change.
	maxTerms = 100
)

// A Query selects objects of one resource.
type Query struct {
	Resource   string   // Its ref, such as "core/v1/pods".
	Namespaces []string // Empty for all.
	Labels     string   // A label selector in kubectl's syntax.
	Fields     string   // A field selector; the API server decides which fields it supports.
	Name       string   // The name of the only object to select; empty for all.
	Text       string   // Words that a row must contain in its namespace, name or cells, ignoring case.
	// Sort is the column to sort by, for a Snapshot only. Its syntax is that of NewWindow. An unknown column is
	// ignored.
	Sort    string
	Offset  int     // For a Snapshot with a Limit: how many rows to skip. The last row is never skipped.
	Limit   int     // For a Snapshot only: the maximum number of rows; 0 for all.
	Window  *Window // For the view Windowed only.
	Watched bool    // Read only from an informer that is already running; do not start one or keep one running.
	// Every is the shortest time between two messages of changes of a Subscription. Changes within that time are
	// collected. A change after it is sent at once.
	Every time.Duration
}

// filter is a validated Query, combined with the viewer's permissions. It decides for each object whether the reader
// sees it.
type filter struct {
	namespaces []string // Sorted.
	name       string
	words      []string // In lower case.
	fields     string   // The field selector in the canonical form of apimachinery.
	columns    []listwatch.Column
	selector   *selector // For labels; nil matches all.

	// The following fields are the viewer's permissions, which restrict the filter; see restrict.
	named               []string // The namespaces that the query names, without those that the viewer may not see.
	permittedNamespaces []string // The namespaces that the viewer may see if the query names none; empty for all.
	requiredWords       []string // Words that the link requires: nothing about a row without them may be revealed. Nil for none.
	// regarding is the object that a shared event must regard: nothing about other events may be revealed. Empty for any
	// object.
	regarding    string
	isPartial    bool // The result may lack objects for which the query asks.
	isGuest      bool // The viewer is a guest.
	isRestricted bool // The resource may have objects whose existence must not be revealed to the viewer.
}

// newFilter checks the query against the resource, and returns it as a filter. Only one goroutine may use a filter.
func newFilter(q *Query, r *Resource) (*filter, error) {
	f := &filter{name: q.Name, words: cellsort.Words(q.Text)}
	if !r.Can("list") {
		return nil, invalid(
			"Not listable", "%s cannot be listed: the API serves only %s.", r.Ref(), strings.Join(r.Verbs, ", "),
		)
	}
	if len(q.Namespaces) > 0 && !r.Namespaced {
		return nil, invalid("Not namespaced", "%s are not namespaced: omit ns.", r.Resource)
	}
	if len(q.Namespaces) > maxNamespaces {
		return nil, invalid(
			"Too many namespaces",
			"%d namespaces are selected; select at most %d, or all by omitting ns.",
			len(q.Namespaces), maxNamespaces,
		)
	}
	for _, ns := range q.Namespaces {
		if err := checkNamespace(ns); err != nil {
			return nil, err
		}
	}
	if err := checkName(q.Name); err != nil {
		return nil, err
	}
	f.namespaces = slices.Compact(slices.Sorted(slices.Values(q.Namespaces)))
	f.named = f.namespaces
	if len(q.Labels) > maxSelector || len(q.Fields) > maxSelector || len(q.Text) > maxSelector {
		return nil, invalid("Selector too long", "A selector or filter may have at most %d bytes.", maxSelector)
	}
	if len(f.words) > maxTerms {
		return nil, invalid(
			"Selector too complex", "A text filter may have at most %d words; this one has %d.", maxTerms, len(f.words),
		)
	}
	if strings.ContainsFunc(q.Labels+q.Fields, unicode.IsControl) {
		return nil, invalid("Invalid selector", "A selector contains a control character, which is not allowed.")
	}
	if q.Labels != "" {
		parsed, err := labels.Parse(q.Labels)
		if err != nil {
			return nil, invalid(
				"Invalid label selector",
				"%q does not parse: %v. Use the syntax of kubectl -l: app=web,tier!=db or env in (prod,test).",
				q.Labels, err,
			)
		}
		if countTerms(parsed) > maxTerms {
			return nil, invalid(
				"Selector too complex",
				"A label selector may have at most %d requirements and values together; this one has %d.",
				maxTerms, countTerms(parsed),
			)
		}
		f.selector = &selector{parsed, make(map[unique.Handle[string]]bool)}
	}
	selector, err := fields.ParseSelector(q.Fields)
	if err != nil {
		return nil, invalid(
			"Invalid field selector",
			"%q does not parse: %v. Use the syntax of kubectl --field-selector: status.phase=Running.",
			q.Fields, err,
		)
	}
	f.fields = selector.String()
	return f, nil
}

// countTerms returns the number of requirements in a label selector, plus the number of their values.
func countTerms(s labels.Selector) int {
	requirements, _ := s.Requirements()
	n := len(requirements)
	for _, r := range requirements {
		n += r.Values().Len()
	}
	return n
}

// filterID is a hash that distinguishes the filters of one resource.
type filterID [sha256.Size]byte

func (f *filter) id() filterID {
	var labels string
	if f.selector != nil {
		labels = f.selector.String()
	}
	return sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %q %q", f.namespaces, f.name, f.words, labels, f.requiredWords, f.regarding))
}

// matchesAll reports whether the filter matches all objects of the resource.
func (f *filter) matchesAll() bool {
	return f.name == "" && len(f.namespaces) == 0 && f.selector == nil && len(f.words) == 0 && !f.needsRow()
}

// withColumns returns a copy of the filter with the given columns. Another goroutine may use the copy.
func (f *filter) withColumns(columns []listwatch.Column) *filter {
	other := *f
	other.columns = columns
	if f.selector != nil {
		other.selector = &selector{f.selector.Selector, make(map[unique.Handle[string]]bool)}
	}
	return &other
}

// currentState returns the status of an informer, without the parts that the viewer may not see.
func (f *filter) currentState(i *informer) informerState {
	now := i.currentState(f.namespaces)
	if f.isPartial && now.status.Namespaces == nil && !now.status.State.isRefused() {
		now.status.Namespaces = f.namespaces
	}
	if f.isGuest {
		f.redactStatus(&now.status)
	}
	if f.isRestricted {
		now.status.Count, now.status.Total = nil, nil // They count all objects.
	}
	return now
}

// redactStatus removes from a guest's status everything that the link does not share: the names of namespaces, and reasons,
// which may contain names and numbers.
func (f *filter) redactStatus(status *Status) {
	if len(f.named) == 0 {
		status.Namespaces = nil
	}
	switch {
	case status.State == Failed:
		status.Reason = "It cannot be watched now."
	case status.State.isRefused():
	case status.Namespaces != nil:
		status.Reason = "this link shows no others."
	default:
		status.Reason = ""
	}
}

func (f *filter) match(o *listwatch.Object) bool { return f.matchesIgnoringText(o) && f.matchText(o) }

// matchesIgnoringText reports whether the filter matches an object, regardless of the words of the query.
func (f *filter) matchesIgnoringText(o *listwatch.Object) bool {
	if f.name != "" && o.Name() != f.name {
		return false
	}
	if len(f.namespaces) > 0 {
		if _, ok := slices.BinarySearch(f.namespaces, o.Namespace()); !ok {
			return false
		}
	}
	return (f.selector == nil || f.selector.matches(o.Labels())) && f.matchesLink(o)
}

// matchesLink reports whether an object meets the two conditions of a link on rows: it has the words that the link requires,
// and it regards the object that shared events must regard.
func (f *filter) matchesLink(o *listwatch.Object) bool {
	return f.containsWords(o, f.requiredWords) && (f.regarding == "" || f.matchesRegarding(o))
}

// needsRow reports whether the link has conditions that only a row can meet: words, or the object of an event. A single
// object that is read from the API server has no row.
func (f *filter) needsRow() bool { return len(f.requiredWords) > 0 || f.regarding != "" }

// regardedObject returns the object that an event regards, such as "pod/web-1", from the Object column of its row. It returns
// "" if there is none.
func (f *filter) regardedObject(o *listwatch.Object) (object string) {
	at := slices.IndexFunc(f.columns, func(c listwatch.Column) bool { return c.Name == "Object" })
	c := jsonscan.NewCursor(o.Cells())
	_ = c.Array(func(i int) error { // Cells are well formed.
		cell, err := c.Value()
		if err == nil && i == at {
			object, err = jsonscan.Unquote(cell)
		}
		return err
	})
	return object
}

// matchText reports whether an object has the words of the query.
func (f *filter) matchText(o *listwatch.Object) bool { return f.containsWords(o, f.words) }

// containsWords reports whether the visible text of an object's row contains every word. Relative times do not count as text,
// because they change without an update.
func (f *filter) containsWords(o *listwatch.Object, words []string) bool {
	if len(words) == 0 {
		return true
	}
	texts := []string{o.Namespace(), o.Name()}
	var cells []string
	c := jsonscan.NewCursor(o.Cells())
	_ = c.Array(func(i int) error { // Cells are well formed.
		cell, err := c.Value()
		if err != nil {
			return err
		}
		text := string(cell) // A number or a boolean.
		if cell[0] == '"' || cell[0] == 'n' {
			text, err = jsonscan.Unquote(cell)
		}
		cells = append(cells, text)
		if i >= len(f.columns) || !f.columns[i].Relative {
			texts = append(texts, text)
		}
		return err
	})
	var severities []Severity
	if slices.ContainsFunc(words, func(word string) bool { return severityOfWord(word) != SeverityNone }) {
		severities = RowSeverities(f.columns, cells)
	}
	for i := range texts {
		texts[i] = cellsort.Lower(texts[i])
	}
	for _, word := range words {
		if severity := severityOfWord(word); severity != SeverityNone {
			if !slices.Contains(severities, severity) {
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

// severityOfWord returns the severity that a word of the text filter selects: SeverityError for "is:failing", for example. It returns
// SeverityNone if the word is plain text.
func severityOfWord(word string) Severity {
	switch word {
	case "is:failing":
		return SeverityError
	case "is:waiting":
		return SeverityWarning
	}
	return SeverityNone
}

// visibleChange converts a change to what a reader of the filter sees: a delete if the object stops matching, and an add if it
// starts matching. It returns nil if the reader sees nothing of the change, and c itself if nothing has to be
// converted.
func (f *filter) visibleChange(c *change) *change {
	if c.Op == 0 { // A marker, not a change.
		return nil
	}
	wasVisible := c.Op != journal.Add && f.match(c.Old)
	isVisible := c.Op != journal.Delete && f.match(c.New)
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
	if op == c.Op {
		return c
	}
	return &change{
		Offset: c.Offset,
		Time:   c.Time,
		Key:    c.Key,
		Old:    c.Old,
		New:    c.New,
		Op:     op,
		Memo:   changeCache{managed: c.Memo.managed, coverageOnly: c.Memo.coverageOnly},
	}
}

// matchingOld returns the object as it was before a change, if the filter matches it; otherwise nil.
func (f *filter) matchingOld(before *change) *listwatch.Object {
	if before.Op == journal.Add || !f.match(before.Old) {
		return nil
	}
	return before.Old
}

func checkNamespace(ns string) error {
	if problems := validation.ValidateNamespaceName(ns, false); len(problems) > 0 {
		return invalid("Invalid namespace", "%.100q is not a valid namespace name: %s.", ns, problems[0])
	}
	return nil
}

// checkName returns an error for a name that is not exactly one segment of a URL path.
func checkName(name string) error {
	if problems := content.IsPathSegmentName(name); len(problems) > 0 || len(name) > 253 {
		return invalid(
			"Invalid name",
			"%.100q is not a valid object name: names have at most 253 characters, no / or %%, and are not . or ..",
			name,
		)
	}
	return nil
}
