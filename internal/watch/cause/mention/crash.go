package mention

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/wording"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// crashCause returns the ConfigMap or the Secret that contains a wrong file, if a container of the pod ended because of
// this file, according to the container's message. Otherwise, it returns nil.
func crashCause(s *subject.Subject) *verdict.Cause {
	p := neighbor.Decode[corev1.Pod](s.Object)
	if !subject.HasEnded(&p) {
		return nil
	}
	return wrongFile(s, &p)
}

var (
	filePattern = regexp.MustCompile(`(?:^|[\s"'(=:\[<` + "`" + `])(/[\w.@+-]+(?:/[\w.@+-]+)*)`)
	// fileError matches an error about the content or the existence of a file.
	fileError = regexp.MustCompile(`(?i)\b(pars(?:e|er|ing)|syntax|invalid|unknown|unexpected|unrecognized|unsupported|` +
		`malformed|unmarshal(?:ing)?|decod(?:e|ing)|directive|duplicate|yaml|json|toml|xml|PEM|emerg|undefined|` +
		`(?:cannot|can't|could not|couldn't|unable to|failed to) (?:\w+ )?(?:load|read|open|find|parse|stat)|` +
		`no such file|not a directory|not found|does(?: not|n't) exist)\b`)
	// scriptPattern matches the name of a script. An error that names a script is often about a program that the script
	// runs.
	scriptPattern = regexp.MustCompile(`\.(sh|bash|py|[cm]?js|ts|rb|pl|php|lua|groovy|sql|jar)$`)
	// scriptError matches an error about the text of a script.
	scriptError = regexp.MustCompile(`(?i)\b(syntax ?error|bad interpreter)\b`)
)

// wrongFile returns the ConfigMap or the Secret that contains the file about which a container reports an error, or
// nil.
func wrongFile(s *subject.Subject, p *corev1.Pod) *verdict.Cause {
	text := s.Own.Sentence
	if elsewhereError.MatchString(text) {
		return nil
	}
	for _, found := range filePattern.FindAllStringSubmatch(text, maxMentions) {
		file, isWrong := strings.TrimRight(found[1], "."), fileError
		v := volumeAt(p, file, text)
		if v == nil {
			continue // The image contains the file, so no mounted object can be wrong.
		}
		if scriptPattern.MatchString(file) {
			isWrong = scriptError
		}
		if v.Projected != nil && len(v.Projected.Sources) > 1 || !isWrong.MatchString(text) {
			return nil // The error has another reason, or it is unknown which of several sources lacks the file.
		}
		for _, kind := range []string{"ConfigMap", "Secret"} {
			for _, id := range contents(v, s.ID.Namespace(), kind) {
				_, owners := s.References(id)
				switch n := s.Find(id); {
				case len(owners) > 0: // A controller writes the content, so the object is rarely the one to correct.
				case n.Object != nil:
					return &verdict.Cause{Object: neighbor.ObjectOf(&n), Sentence: text}
				case n.Presence == neighbor.Missing && isOptional(v) && wording.NamesMissing(text):
					return withMessage(s.Own.Sentence, s.MissingCause(&n))
				}
			}
		}
		return nil
	}
	return nil
}

// isOptional reports whether a pod starts without the object whose content a volume contains.
func isOptional(v *corev1.Volume) bool {
	return v.ConfigMap != nil && ptr.Deref(v.ConfigMap.Optional, false) ||
		v.Secret != nil && ptr.Deref(v.Secret.Optional, false)
}

// volumeAt returns the volume that contains the file in a container that the text names ("container web: ..."), or nil.
func volumeAt(p *corev1.Pod, file, text string) *corev1.Volume {
	longest, volume := "", ""
	for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
		for _, m := range c.VolumeMounts {
			at := strings.TrimRight(m.MountPath, "/")
			isBelow := file == at || strings.HasPrefix(file, at+"/")
			isNamed := strings.Contains(text, "Container "+c.Name+":") || strings.Contains(text, "container "+c.Name+":")
			if isBelow && isNamed && len(at) > len(longest) {
				longest, volume = at, m.Name
			}
		}
	}
	for n := range p.Spec.Volumes {
		if v := &p.Spec.Volumes[n]; v.Name == volume {
			return v
		}
	}
	return nil
}
