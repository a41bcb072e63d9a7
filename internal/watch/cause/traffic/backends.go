package traffic

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

const (
	// backendStates is the annotation in which the Ingress controller of GKE writes the states of the backends of its
	// load balancer, as JSON. A backend is HEALTHY if at least one of its endpoints is.
	backendStates = "ingress.kubernetes.io/backends"
	// statesTime is the maximum time after which the controller has updated the annotation: it does this only when it
	// synchronizes the Ingress, for example every 10 minutes.
	statesTime = 2 * subject.SettleTime
)

// unhealthyBackends reports an Ingress of GKE whose load balancer sends no requests to a backend because of its health
// checks, although each Service of the Ingress has a pod that has been ready for a long time.
func unhealthyBackends(s *subject.Subject, o *networking.Ingress, paths []path) *verdict.Verdict {
	names := unhealthyNames(o)
	if len(names) == 0 || len(paths) == 0 || o.DeletionTimestamp != nil || !s.IsSettled() {
		return nil
	}
	for n := range paths {
		if !isServed(s, &paths[n]) {
			return nil
		}
	}
	s.AddSource(subject.PodsRef, s.ID.Namespace())
	text := "backend " + names[0] + " is unhealthy"
	if len(names) > 1 {
		text = "backends " + strings.Join(names, ", ") + " are unhealthy"
	}
	return s.Explain(verdict.Degraded, "UnhealthyBackend",
		"According to the health checks of the load balancer, the "+text+", although pods are ready", nil)
}

// unhealthyNames returns the names of the unhealthy backends of an Ingress, sorted. It omits the backend that the
// cluster provides for requests that match no rule.
func unhealthyNames(o *networking.Ingress) (names []string) {
	class := className(o)
	var states map[string]string
	if class != "" && !strings.HasPrefix(class, "gce") || // Another controller replaced that of GKE.
		json.Unmarshal([]byte(o.Annotations[backendStates]), &states) != nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(states)) {
		if states[name] == "UNHEALTHY" && !strings.Contains(name, "-kube-system-") {
			names = append(names, name)
		}
	}
	return names[:min(len(names), maxNames)]
}

// maxNames limits the backends in a sentence.
const maxNames = 3

// isServed reports whether a pod of the Service of a path has been ready for at least statesTime.
func isServed(s *subject.Subject, p *path) bool {
	n := s.Find(graph.NewID(graph.Kind{Kind: "Service"}, p.namespace, p.name))
	subject.Follow(s, &n)
	selector := s.Selector(n.ID)
	if n.Object == nil || selector == nil {
		return false
	}
	var oldest time.Time
	for _, n := range s.Existing(s.Selected(p.namespace, selector, neighbor.Limit)) {
		pod := neighbor.Decode[corev1.Pod](n.Object)
		if since := neighbor.ReadySince(&pod); !since.IsZero() && (oldest.IsZero() || since.Before(oldest)) {
			oldest = since
		}
	}
	return !oldest.IsZero() && subject.HasPassed(s, oldest.Add(statesTime))
}
