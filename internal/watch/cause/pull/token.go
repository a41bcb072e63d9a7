package pull

import (
	"regexp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// refused matches the error of a registry that refuses credentials. Many registries report a missing image as "denied",
// so this word alone does not match.
var refused = regexp.MustCompile(`(?i)\b40[13] (?:Forbidden|Unauthorized)\b|\bstatus(?: code)?:? 40[13]\b|` +
	`\bunauthorized: |\bauthentication required\b|\btoken (?:has |is )?expired\b|\bno basic auth credentials\b`)

// writing matches a command that writes a pull Secret.
var writing = regexp.MustCompile(`\b(?:create secret|docker-registry|dockerconfigjson|apply|patch|replace)\b`)

// outdatedSecret explains a refused image pull by the failed CronJob that should regularly write a new token into the
// pull Secret of the pod.
func outdatedSecret(s *subject.Subject) *verdict.Verdict {
	secrets := slices.Collect(s.Used(isPullSecret))
	if len(secrets) != 1 || secrets[0].Object == nil || !refused.MatchString(s.Own.Sentence) {
		return nil // If there are several, it is unknown which of them the registry has refused.
	}
	kind := graph.Kind{Group: "batch", Kind: "CronJob"}
	all, isComplete := subject.AllOf(s, kind, s.ID.Namespace(), neighbor.Limit)
	if !isComplete {
		return nil
	}
	var writers []neighbor.Neighbor
	for _, n := range all {
		if writes(&n, secrets[0].ID.Name()) {
			subject.Follow(s, &n)
			writers = append(writers, n)
		}
	}
	if len(writers) != 1 || !s.HasProblem(&writers[0]) {
		return nil
	}
	v := s.Inherit(&writers[0], s.Own.Severity, subject.Sentences(s.Own.Sentence, writers[0].String()+
		", whose command or environment contains the name of the pull "+secrets[0].String()+", has a problem: "))
	v.Reason = s.Own.Reason
	return v
}

// writes reports whether a CronJob probably writes a Secret: the name of the Secret is in a command that writes such
// Secrets, or is an argument or the value of a variable. A CronJob that pulls its own image with the Secret does not
// count: it fails for the same reason as the pod.
func writes(n *neighbor.Neighbor, secret string) bool {
	spec := neighbor.Decode[batchv1.CronJob](n.Object).Spec.JobTemplate.Spec.Template.Spec
	if slices.Contains(spec.ImagePullSecrets, corev1.LocalObjectReference{Name: secret}) {
		return false
	}
	return slices.ContainsFunc(slices.Concat(spec.InitContainers, spec.Containers), func(c corev1.Container) bool {
		settings := slices.Concat(c.Command, c.Args)
		for _, e := range c.Env {
			settings = append(settings, e.Value)
		}
		return slices.ContainsFunc(settings, func(text string) bool {
			return text == secret || writing.MatchString(text) && subject.ContainsName(text, secret)
		})
	})
}
