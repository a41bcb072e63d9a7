package api

import (
	"regexp"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

var (
	// rejectedUpdate matches an error of the API server about an object, such as `Job.batch "migrate" is invalid: `.
	rejectedUpdate = regexp.MustCompile(
		`\b([A-Z][A-Za-z0-9]+)(?:\.([a-z0-9.-]+))? \\*"([a-z0-9][a-z0-9.-]*)\\*" is invalid: `)
	// immutableText matches a part of an API server's error about a field that cannot be changed after the creation.
	immutableText = regexp.MustCompile(`(?i)\b(?:[a-z.]+ (?:is|are) immutable(?: after creation)?|` +
		`may not change once set|cannot change roleRef|` +
		`(?:updates to \w+ spec for|pod updates may not change) fields other than)`)
	// invalidField matches the path of an invalid field, such as "spec.template: Invalid value: ".
	invalidField = regexp.MustCompile(`([a-z][A-Za-z0-9.\[\]-]*): (?:Invalid value|Forbidden): `)
)

// maxErrors limits how many errors of a text are searched for one about a field that cannot be changed.
const maxErrors = 20

// Immutable returns an existing object as the cause if, according to an error of the API server, a controller cannot
// change this object to what the subject defines. Otherwise, it returns nil. The error can contain a long value, which
// the sentence of the cause omits.
func Immutable(s *subject.Subject, text string) *verdict.Cause {
	rejected := rejectedUpdate.FindAllStringSubmatchIndex(text, maxErrors)
	if rejected == nil || subject.IsRemote(s) {
		return nil
	}
	for n, at := range rejected {
		end := len(text)
		if n+1 < len(rejected) {
			end = rejected[n+1][0]
		}
		if c := immutable(s, text[:at[0]], text[at[0]:end]); c != nil {
			return c
		}
	}
	return nil
}

// immutable returns the object that cannot be changed according to the error message in text, or nil. The parameter
// before is the text before this message.
func immutable(s *subject.Subject, before, text string) *verdict.Cause {
	found := rejectedUpdate.FindStringSubmatch(text)
	rest := text[len(found[0]):]
	end := immutableText.FindStringIndex(rest)
	if end == nil {
		return nil
	}
	for _, n := range s.Named(s.ID, &neighbor.Mention{
		Kind: found[1], Group: found[2], Name: found[3], Namespace: namespaceOf(s, before, found[1], found[3]),
	}) {
		if n.ID.Group != found[2] || n.Object == nil || n.ID == s.ID {
			continue
		}
		field, reason := "", rest[end[0]:end[1]]
		if fields := invalidField.FindAllStringSubmatch(rest[:end[0]], -1); len(fields) > 0 {
			field = fields[len(fields)-1][1] + ": "
		}
		if strings.HasSuffix(reason, "other than") {
			reason = "field is immutable"
		}
		return &verdict.Cause{
			Object: neighbor.ObjectOf(&n), Sentence: s.Name(&n) + " exists, and cannot be changed: " + field + reason,
		}
	}
	return nil
}

// namespaceOf searches a text for the last Kind/NAMESPACE/NAME of the given kind, and returns NAMESPACE if NAME is the
// given name. Otherwise, it returns the namespace to which the subject applies objects.
func namespaceOf(s *subject.Subject, text, kind, name string) string {
	if at := strings.LastIndex(text, kind+"/"); at >= 0 {
		namespace, rest, _ := strings.Cut(text[at+len(kind)+1:], "/")
		if strings.HasPrefix(rest, name+" ") {
			return namespace
		}
	}
	return subject.TargetNamespace(s)
}
