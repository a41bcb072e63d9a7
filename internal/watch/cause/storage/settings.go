package storage

import (
	"regexp"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// settingsError matches an error of a provisioner about its own configuration.
var settingsError = regexp.MustCompile(`(?i)\b(?:config|configuration|configmap)(?: file)? ` +
	`(?:doesn't|does not|has no|lacks|contains no|is (?:missing|invalid|empty))\b`)

// settings returns the ConfigMap of the event's reporter, if the message states that its configuration is missing,
// invalid or incomplete, and the reporter mounts only one ConfigMap. Otherwise, it returns nil.
func settings(s *subject.Subject, message string) *verdict.Cause {
	if !settingsError.MatchString(message) {
		return nil
	}
	last := s.NewestEvent(func(e *corev1.Event) bool { return e.Message == message })
	if last == nil {
		return nil
	}
	reporter := subject.Reporter(s, last)
	if reporter == nil {
		return nil
	}
	var name string
	for _, v := range subject.Template(reporter).Spec.Volumes {
		switch {
		case v.ConfigMap == nil:
		case name != "":
			return nil
		default:
			name = v.ConfigMap.Name
		}
	}
	n := s.Find(graph.NewID(graph.Kind{Kind: "ConfigMap"}, reporter.ID.Namespace(), name))
	if n.Object == nil {
		return nil
	}
	subject.Follow(s, reporter)
	s.AddSource(reporter.Resource, reporter.ID.Namespace())
	return &verdict.Cause{
		Object:   neighbor.ObjectOf(&n),
		Sentence: subject.Sentences(message, s.Name(&n)+" contains the configuration of "+s.Name(reporter)),
	}
}
