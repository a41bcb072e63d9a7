package storage

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// shortPattern matches what a provisioner lacks for a volume, such as "Not enough suitable pools".
var shortPattern = regexp.MustCompile(
	`(?i)\b(?:no|not enough|insufficient)(?: [a-z]+){0,2} (pool|backend|cluster|disk|device|store)s?\b`)

// failedPool explains a claim by a custom resource with a problem. The provisioner states that it lacks objects of this
// kind, such as DiskPool, or objects that this kind configures, such as BackendConfig. By convention, the domain of the
// provisioner is also the API group of its resources.
func failedPool(s *subject.Subject, message string) *verdict.Verdict {
	found := shortPattern.FindStringSubmatch(message)
	if found == nil {
		return nil
	}
	o := neighbor.Decode[corev1.PersistentVolumeClaim](s.Object)
	var all []neighbor.Neighbor
	for _, group := range groupsOf(provisionerOf(&o)) {
		all = append(all, instances(s, group, found[1])...)
		all = append(all, instances(s, group, found[1]+"config")...)
	}
	for n := range all {
		subject.Follow(s, &all[n])
	}
	worst := s.Worst(all)
	if worst == nil {
		return nil
	}
	return s.Inherit(worst, verdict.Failed, subject.Sentences(message, s.Name(worst)+": "))
}

// instances returns the objects of the kinds in an API group that end with a word.
func instances(s *subject.Subject, group, word string) (all []neighbor.Neighbor) {
	by := graph.NewID(graph.Kind{Group: group}, s.ID.Namespace(), "")
	for _, n := range s.Named(by, &neighbor.Mention{Kind: strings.ToLower(word), IsWord: true, Name: "-"}) {
		all = append(all, s.All(n.ID.Kind, neighbor.AnyNamespace, neighbor.Limit)...)
	}
	return all
}

// groupsOf returns the API groups that the name of a provisioner can contain: openebs.io for io.openebs.csi, and
// csi.example.com and example.com for csi.example.com.
func groupsOf(provisioner string) (groups []string) {
	labels := strings.Split(provisioner, ".")
	reversed := slices.Clone(labels)
	slices.Reverse(reversed)
	for _, l := range [][]string{labels, reversed} {
		for n := 0; n+1 < len(l); n++ {
			groups = append(groups, strings.Join(l[n:], "."))
		}
	}
	return groups
}
