package mention

import (
	"cmp"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

var (
	volumeKeyPattern = regexp.MustCompile(
		`for volume "([^"]+)"[^"]*references non-existent (config|secret) key`)
	environmentKeyPattern = regexp.MustCompile(
		`couldn't find key \S+ in (ConfigMap|Secret) ([a-z0-9-]+)/([a-z0-9.-]+)`)
)

// MissingKey returns the ConfigMap or Secret that lacks a key according to a kubelet's message about a pod, or nil.
func MissingKey(s *subject.Subject, p *corev1.Pod, message string) *verdict.Cause {
	var ids []graph.ID
	if found := environmentKeyPattern.FindStringSubmatch(message); found != nil {
		ids = append(ids, graph.NewID(graph.Kind{Kind: found[1]}, found[2], strings.TrimRight(found[3], ".")))
	} else if found := volumeKeyPattern.FindStringSubmatch(message); found != nil {
		kind := map[string]string{"config": "ConfigMap", "secret": "Secret"}[found[2]]
		for n := range p.Spec.Volumes {
			if v := &p.Spec.Volumes[n]; v.Name == found[1] {
				ids = contents(v, s.ID.Namespace(), kind)
			}
		}
	}
	if len(ids) != 1 {
		return nil // The message names only the volume, and each of several sources of the volume can lack the key.
	}
	n := s.Find(ids[0])
	if n.Presence == neighbor.Missing {
		return nil
	}
	n.Resource = cmp.Or(n.Resource, "core/v1/"+strings.ToLower(n.ID.Kind.Kind)+"s")
	return &verdict.Cause{Object: neighbor.ObjectOf(&n), Sentence: message}
}

// contents returns the objects of a kind, ConfigMap or Secret, whose keys a volume contains.
func contents(v *corev1.Volume, namespace, kind string) (ids []graph.ID) {
	add := func(of, name string) {
		if of == kind {
			ids = append(ids, graph.NewID(graph.Kind{Kind: kind}, namespace, name))
		}
	}
	if v.ConfigMap != nil {
		add("ConfigMap", v.ConfigMap.Name)
	}
	if v.Secret != nil {
		add("Secret", v.Secret.SecretName)
	}
	if v.Projected == nil {
		return ids
	}
	for _, source := range v.Projected.Sources {
		if source.ConfigMap != nil {
			add("ConfigMap", source.ConfigMap.Name)
		}
		if source.Secret != nil {
			add("Secret", source.Secret.Name)
		}
	}
	return ids
}
