package environment

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// withoutSource explains a pod whose container ended because it lacks an environment variable: the variable is from a
// ConfigMap or a Secret that is optional and does not exist, so the kubelet starts the container without the variable.
// The last line of the container's message must state that the variable is missing. If the line names several variables
// from different missing objects, none of them is the cause.
func withoutSource(s *subject.Subject, p *corev1.Pod) *verdict.Verdict {
	var found *neighbor.Neighbor
	var detail string
	for _, c := range reported(s, p) {
		of := lastError(p, c.Name)
		all := append(keysOf(&c), keysOfSource(&c, of.line)...)
		if hasOtherSource(s, &c, all, of) {
			return nil
		}
		for _, v := range all {
			if !of.lacks(v.name) {
				continue
			}
			n := s.Find(graph.NewID(graph.Kind{Kind: v.kind}, s.ID.Namespace(), v.object))
			if n.Presence != neighbor.Missing {
				continue
			}
			if found != nil && found.ID != n.ID {
				return nil
			}
			found, detail = &n, ", so container "+c.Name+" does not get the variable "+v.name
		}
	}
	if found == nil {
		return nil
	}
	subject.Follow(s, found)
	cause := s.MissingCause(found)
	cause.Sentence = subject.Sentences(s.Own.Sentence, cause.Sentence+detail)
	return s.Explain(s.Own.Severity, s.Own.Reason, cause.Sentence, cause)
}

// hasOtherSource reports whether the error also names a variable that the pod does not set itself, but that is possibly
// a key of another optional object in envFrom, which is missing or not known. all contains the variables from optional
// objects.
func hasOtherSource(s *subject.Subject, c *corev1.Container, all []variable, of lastWords) bool {
	isOther := slices.ContainsFunc(of.names(), func(name string) bool {
		return !slices.ContainsFunc(all, func(v variable) bool { return strings.EqualFold(v.name, name) }) &&
			!slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return strings.EqualFold(e.Name, name) })
	})
	return isOther && slices.ContainsFunc(c.EnvFrom, func(from corev1.EnvFromSource) bool {
		kind, object := optionalSource(&from)
		return object != "" && s.Find(graph.NewID(graph.Kind{Kind: kind}, s.ID.Namespace(), object)).Object == nil
	})
}

// variable is an environment variable from an object that is optional.
type variable struct{ name, kind, object string }

// keysOf returns the variables that a container gets from keys of optional objects. It omits names that occur twice.
func keysOf(c *corev1.Container) (found []variable) {
	names := make(map[string]int, len(c.Env))
	for n := range c.Env {
		names[c.Env[n].Name]++
	}
	for n := range c.Env {
		e := &c.Env[n]
		if e.ValueFrom == nil || names[e.Name] > 1 {
			continue
		}
		if ref := e.ValueFrom.SecretKeyRef; ref != nil && ptr.Deref(ref.Optional, false) {
			found = append(found, variable{e.Name, "Secret", ref.Name})
		}
		if ref := e.ValueFrom.ConfigMapKeyRef; ref != nil && ptr.Deref(ref.Optional, false) {
			found = append(found, variable{e.Name, "ConfigMap", ref.Name})
		}
	}
	return found
}

// upperCase matches a name that programs often use for environment variables, such as API_KEY.
var upperCase = regexp.MustCompile(`\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b`)

// maxNames limits how many names in a line are tried.
const maxNames = 10

// keysOfSource returns the variables in a line that a container can only get from an optional object in envFrom,
// because the pod has no other setting for the environment of the container.
func keysOfSource(c *corev1.Container, line string) (found []variable) {
	isSetting := func(e corev1.EnvVar) bool {
		return e.ValueFrom == nil || e.ValueFrom.FieldRef == nil && e.ValueFrom.ResourceFieldRef == nil
	}
	if len(c.EnvFrom) != 1 || slices.ContainsFunc(c.Env, isSetting) {
		return nil
	}
	from := &c.EnvFrom[0]
	kind, object := optionalSource(from)
	if object == "" || from.Prefix == "" {
		return nil // Without a prefix, the variable can also be one of the image or of a file.
	}
	for _, name := range upperCase.FindAllString(line, maxNames) {
		if strings.HasPrefix(name, from.Prefix) {
			found = append(found, variable{name, kind, object})
		}
	}
	return found
}

// optionalSource returns the kind and the name of the object in an entry of envFrom, or "" if the reference is not
// optional.
func optionalSource(from *corev1.EnvFromSource) (kind, object string) {
	if ref := from.SecretRef; ref != nil && ptr.Deref(ref.Optional, false) {
		return "Secret", ref.Name
	}
	if ref := from.ConfigMapRef; ref != nil && ptr.Deref(ref.Optional, false) {
		return "ConfigMap", ref.Name
	}
	return "", ""
}
