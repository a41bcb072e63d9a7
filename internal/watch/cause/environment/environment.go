// Package environment explains pods whose containers lack environment variables.
package environment

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// skippedPattern matches the kubelet's event about keys that cannot be names of environment variables.
var skippedPattern = regexp.MustCompile(`^Keys \[([^\]]+)\] from the EnvFrom (configMap|secret) ` +
	`([a-z0-9-]+)/([a-z0-9.-]+) were skipped\b`)

// Failure explains a pod whose container ended because it lacks an environment variable.
func Failure(s *subject.Subject, p *corev1.Pod) *verdict.Verdict {
	if !s.Own.Severity.IsProblem() || !subject.HasEnded(p) {
		return nil
	}
	if v := skippedKey(s, p); v != nil {
		return v
	}
	return withoutSource(s, p)
}

// skippedKey explains a pod whose container ended because it lacks an environment variable: a ConfigMap or a Secret has
// a key of this name, but the kubelet skips the key, because it is not a valid name of an environment variable. The
// error of the container must name the key. Most containers do not need such keys.
func skippedKey(s *subject.Subject, p *corev1.Pod) *verdict.Verdict {
	last := s.NewestEvent(func(e *corev1.Event) bool { n, _ := lackedKey(s, p, e); return n != nil })
	if last == nil {
		return nil
	}
	n, key := lackedKey(s, p, last)
	if n == nil { // The object was deleted in the meantime.
		return nil
	}
	s.AddSource(subject.EventsRef, last.Namespace)
	return s.ExplainBy(n, s.Own.Severity, s.Own.Reason, s.Own.Sentence+". The kubelet skips the key "+key+" of "+
		n.String()+", because it is not a valid environment variable name")
}

// lackedKey returns the key that a container lacks according to its error, and the object n that contains this key. The
// event e must be about this key. Otherwise, n is nil.
func lackedKey(s *subject.Subject, p *corev1.Pod, e *corev1.Event) (n *neighbor.Neighbor, key string) {
	found := skippedPattern.FindStringSubmatch(e.Message)
	if e.Reason != "InvalidEnvironmentVariableNames" || found == nil || found[3] != s.ID.Namespace() {
		return nil, ""
	}
	kind := map[string]string{"configMap": "ConfigMap", "secret": "Secret"}[found[2]]
	object := s.Find(graph.NewID(graph.Kind{Kind: kind}, found[3], found[4]))
	if object.Object == nil || !isEnvironment(s, p, object.ID) {
		return nil, ""
	}
	const maxKeys = 1000 // The last text contains all further keys.
	for _, key := range strings.SplitN(found[1], ", ", maxKeys) {
		if namesVariable(s.Own.Sentence, key) {
			return &object, key
		}
	}
	return nil, ""
}

// isEnvironment reports whether the container with the error gets its environment variables from an object.
func isEnvironment(s *subject.Subject, p *corev1.Pod, id graph.ID) bool {
	return slices.ContainsFunc(reported(s, p), func(c corev1.Container) bool {
		return slices.ContainsFunc(c.EnvFrom, func(from corev1.EnvFromSource) bool {
			return from.ConfigMapRef != nil && id.Kind.Kind == "ConfigMap" && from.ConfigMapRef.Name == id.Name() ||
				from.SecretRef != nil && id.Kind.Kind == "Secret" && from.SecretRef.Name == id.Name()
		})
	})
}

// reported returns the containers that the sentence of the pod's own verdict describes.
func reported(s *subject.Subject, p *corev1.Pod) []corev1.Container {
	sentence := strings.ToLower(s.Own.Sentence) // It can start with "Container".
	all := slices.Concat(p.Spec.InitContainers, p.Spec.Containers)
	return slices.DeleteFunc(all, func(c corev1.Container) bool {
		return !strings.Contains(sentence, "container "+c.Name+":")
	})
}

// namesVariable reports whether a text contains a key as a complete word, which is not part of a path. It ignores short
// keys and numbers.
func namesVariable(text, key string) bool {
	const minKey = 3
	if len(key) < minKey || !strings.ContainsFunc(key, unicode.IsLetter) || !strings.Contains(text, key) {
		return false
	}
	return regexp.MustCompile(`(?:^|[^\w./-])` + regexp.QuoteMeta(key) + `(?:[^\w/-]|$)`).MatchString(text)
}
