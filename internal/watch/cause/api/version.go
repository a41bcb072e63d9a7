package api

import (
	"regexp"
	"slices"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

var (
	// unmatchedKind matches an error of client-go about a kind that the API server does not serve, such as `no matches
	// for kind "Widget" in version "example.com/v1"`. In a log, its quotation marks can have backslashes.
	unmatchedKind = regexp.MustCompile(
		`no matches for kind \\*"([A-Za-z0-9]+)\\*" in version \\*"([a-z0-9.-]+)/(v[a-z0-9]+)\\*"`)
	// notListed matches an error of client-go about objects that it cannot list, such as `failed to list *v1.Widget: the
	// server could not find the requested resource (get widgets.example.com)`.
	notListed = regexp.MustCompile(`failed to list \*(v[0-9][a-z0-9]*)\.([A-Za-z0-9]+): ` +
		`the server could not find the requested resource \(get [a-z0-9-]+\.([a-z0-9.-]+)\)`)
)

// Unserved returns the CRD that does not serve the version of a kind that an error names, or nil. If the CRD does not
// exist, the result is the missing CRD. An error about another cluster does not count.
func Unserved(s *subject.Subject, text string) *verdict.Cause {
	kind, name := versionIn(text)
	if name == "" || subject.IsRemote(s) {
		return nil
	}
	n := definitionOf(s, kind)
	switch n.Presence {
	case neighbor.Missing:
		cause := s.MissingCause(&n)
		cause.Sentence = subject.Sentences(text,
			"No CustomResourceDefinition defines the kind "+kind.Kind+" of "+kind.Group)
		return cause
	case neighbor.Unknown:
		return nil
	case neighbor.Present:
	}
	subject.Follow(s, &n)
	d := neighbor.Decode[definition](n.Object)
	served := d.served()
	if slices.Contains(served, name) {
		return nil // After the error, the cluster started to serve the version.
	}
	detail := n.String() + " serves no version"
	if len(served) > 0 {
		detail = n.String() + " does not serve version " + name + ", but only " + strings.Join(served, ", ")
	}
	return &verdict.Cause{Object: neighbor.ObjectOf(&n), Sentence: subject.Sentences(text, detail)}
}

// versionIn returns a version that is not served according to a text: its kind and its name. If the text names no such
// version, the name is "".
func versionIn(text string) (kind graph.Kind, name string) {
	if found := unmatchedKind.FindStringSubmatch(text); found != nil {
		return graph.Kind{Group: found[2], Kind: found[1]}, found[3]
	}
	if found := notListed.FindStringSubmatch(text); found != nil {
		return graph.Kind{Group: found[3], Kind: found[2]}, found[1]
	}
	return graph.Kind{}, ""
}
