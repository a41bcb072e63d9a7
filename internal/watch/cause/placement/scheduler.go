package placement

import (
	"path"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// withoutScheduler explains a pod that no scheduler has handled, by the workload that runs the scheduler of the pod, if
// this workload does not run.
func withoutScheduler(s *subject.Subject, p *corev1.Pod) *verdict.Verdict {
	name := p.Spec.SchedulerName
	isHandled := p.Spec.NodeName != "" || slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodScheduled
	})
	if isHandled || name == "" || name == corev1.DefaultSchedulerName || !s.Own.Severity.IsProblem() {
		return nil
	}
	isScheduler := func(all []corev1.Container) bool { return slices.ContainsFunc(all, runsScheduler) }
	found, ok := subject.Workloads(s, isScheduler, name, "kube-scheduler")
	if !ok {
		return nil
	}
	inConfiguration := regexp.MustCompile(
		`\bschedulerName: *(?:\\?["'])?` + regexp.QuoteMeta(name) + `(?:[^a-zA-Z0-9.-]|$)`)
	found = slices.DeleteFunc(found, func(n neighbor.Neighbor) bool { return !schedules(s, &n, name, inConfiguration) })
	return subject.StoppedWorkload(s, found, s.Own.Sentence)
}

// runsScheduler reports whether the name, the image or the program of a container contains the word scheduler.
func runsScheduler(c corev1.Container) bool {
	return strings.Contains(c.Name, "scheduler") || strings.Contains(path.Base(c.Image), "scheduler") ||
		len(c.Command) > 0 && strings.Contains(path.Base(c.Command[0]), "scheduler")
}

// schedules reports whether a workload runs the scheduler with a name: a container or a setting has this name, or
// inConfiguration finds it in a ConfigMap of the workload.
func schedules(s *subject.Subject, n *neighbor.Neighbor, name string, inConfiguration *regexp.Regexp) bool {
	template := subject.Template(n)
	if slices.ContainsFunc(template.Spec.Containers, func(c corev1.Container) bool {
		settings := slices.Concat(c.Command, c.Args)
		return c.Name == name || c.Name == name+"-scheduler" || slices.Contains(settings, "--scheduler-name="+name) ||
			slices.Contains(settings, name)
	}) {
		return true
	}
	uses, _ := s.References(n.ID)
	for _, use := range uses[:min(len(uses), neighbor.Limit)] {
		if use.Target.Kind != (graph.Kind{Kind: "ConfigMap"}) {
			continue
		}
		if configuration := s.Find(use.Target); configuration.Object != nil {
			if text, _ := configuration.Object.JSON(); inConfiguration.Match(text) {
				s.AddSource(configuration.Resource, configuration.ID.Namespace())
				return true
			}
		}
	}
	return false
}
