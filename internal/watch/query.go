package watch

import (
	"time"

	"glasshouse/internal/watch/status"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/api/validation"
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
	Window  *Window // The rows to send; only for the view Windowed.
	Watched bool    // Read only from an informer that is already running; do not start one or keep one running.
	// Every is the shortest time between two messages of changes of a Subscription. Changes within that time are
	// collected. A change after it is sent at once.
	Every time.Duration
}

func checkNamespace(ns string) error {
	if problems := validation.ValidateNamespaceName(ns, false); len(problems) > 0 {
		return status.Invalidf("Invalid namespace", "%.100q is not a valid namespace name: %s.", ns, problems[0])
	}
	return nil
}

// checkName returns an error for a name that is not exactly one segment of a URL path.
func checkName(name string) error {
	if problems := content.IsPathSegmentName(name); len(problems) > 0 || len(name) > 253 {
		return status.Invalidf(
			"Invalid name",
			"%.100q is not a valid object name: names have at most 253 characters, no / or %%, and are not . or ..",
			name,
		)
	}
	return nil
}
