package cause

import (
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"

	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

var (
	missingKey = regexp.MustCompile(`for volume "([^"]+)"[^"]*references non-existent (?:config|secret) key`)
	unknownKey = regexp.MustCompile(`couldn't find key \S+ in (ConfigMap|Secret) ([a-z0-9-]+)/([a-z0-9.-]+)`)
)

// withoutKey returns the ConfigMap or Secret that lacks a key, as the kubelet reports it for a pod, or nil.
func withoutKey(s *subject, p *corev1.Pod, message string) *verdict.Cause {
	var ids []graph.ID
	if found := unknownKey.FindStringSubmatch(message); found != nil {
		ids = append(ids, graph.NewID(graph.Kind{Kind: found[1]}, found[2], strings.TrimRight(found[3], ".")))
	} else if found := missingKey.FindStringSubmatch(message); found != nil {
		isSecret := strings.Contains(message, "secret key")
		for n := range p.Spec.Volumes {
			if v := &p.Spec.Volumes[n]; v.Name == found[1] {
				ids = contents(v, s.ID.Namespace(), isSecret)
			}
		}
	}
	if len(ids) != 1 {
		return nil // Of several sources of a volume, the message does not name the one without the key.
	}
	n := s.Find(ids[0])
	if n.Presence == neighbor.Missing {
		return nil
	}
	resource := "core/v1/configmaps"
	if ids[0].Kind.Kind == "Secret" {
		resource = "core/v1/secrets"
	}
	return &verdict.Cause{Object: withResource(neighbor.ObjectOf(&n), resource), Sentence: message}
}

// contents returns the ConfigMaps or the Secrets whose keys a volume contains.
func contents(v *corev1.Volume, namespace string, secrets bool) (ids []graph.ID) {
	add := func(kind, name string) {
		if secrets == (kind == "Secret") {
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
