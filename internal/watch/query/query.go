// Package query describes which objects and rows a reader requests. A Filter decides which objects the reader sees.
package query

import (
	"slices"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/status"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/api/validation"
)

const (
	maxNamespaces = 200
	maxSelector   = 4 << 10
	// maxTerms limits the numbers of requirements, of values and of words in a query, because each requirement, value and
	// word is evaluated for every object and every change.
	maxTerms = 100
)

// A Query selects objects of one resource.
type Query struct {
	Resource   string   // A ref (group/version/plural), such as "core/v1/pods".
	Namespaces []string // Empty means all namespaces.
	Labels     string   // A label selector in kubectl's syntax.
	Fields     string   // A field selector; the API server decides which fields it supports.
	Name       string   // The name of the only object to select; empty means all objects.
	Text       string   // Words that a row must contain in its namespace, name or cells, ignoring case.
	// Sort is the column by which a Snapshot is sorted, in the syntax of NewWindow. An unknown column is ignored.
	Sort    string
	Offset  int     // The number of rows that a Snapshot with a Limit skips, but at least one row remains.
	Limit   int     // The maximum number of rows of a Snapshot; 0 means all rows.
	Window  *Window // The range of the sorted rows to send. Set only for the view Windowed, which sends a range of rows.
	Watched bool    // The query fails unless the resource is watched already. It starts and prolongs no watch.
	// Every is the minimum time between two messages with changes. After a longer pause, a change is sent at once.
	Every time.Duration
}

// CheckNamespace returns a Problem if ns is not a valid name of a namespace.
func CheckNamespace(ns string) error {
	if problems := validation.ValidateNamespaceName(ns, false); len(problems) > 0 {
		return status.Invalidf("Invalid namespace", "%.100q is not a valid namespace name: %s.", ns, problems[0])
	}
	return nil
}

// SelectNamespaces returns the names of namespaces sorted, without duplicates. It returns a Problem if a name is not
// valid, or if there are too many.
func SelectNamespaces(names []string) ([]string, error) {
	if len(names) > maxNamespaces {
		return nil, status.Invalidf("Too many namespaces",
			"%d namespaces are selected; select at most %d, or all by omitting ns.", len(names), maxNamespaces)
	}
	for _, ns := range names {
		if err := CheckNamespace(ns); err != nil {
			return nil, err
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(names))), nil
}

// CheckName returns a Problem if a name is longer than 253 bytes, or is not exactly one segment of a URL path.
func CheckName(name string) error {
	if problems := content.IsPathSegmentName(name); len(problems) > 0 || len(name) > 253 {
		return status.Invalidf("Invalid name",
			"%.100q is not a valid object name: names have at most 253 characters, no / or %%, and are not . or ..",
			name)
	}
	return nil
}
