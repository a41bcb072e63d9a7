package rates

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/event"
	"github.com/glasshouse-project/glasshouse/internal/watch/journal"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// ownsPods reports whether objects of a resource such as "apps/v1/deployments" are controllers of pods.
func ownsPods(ref string) bool {
	return slices.Contains([]string{
		"apps/v1/deployments", "apps/v1/statefulsets", "apps/v1/daemonsets", "apps/v1/replicasets", "batch/v1/jobs",
		"core/v1/replicationcontrollers",
	}, ref)
}

// containerStatus has the members of a ContainerStatus that are needed to count restarts.
type containerStatus struct {
	Name         string
	RestartCount int
}

// restartsIn returns the number of container restarts in a change of a pod.
func restartsIn(c *event.Change) (n int) {
	if c.Op != journal.Update || c.Old.SameText(c.New) || bytes.Equal(c.Old.Cells(), c.New.Cells()) {
		return 0 // A restart changes the cell RESTARTS, so a change without changed cells contains no restart.
	}
	before := restartCounts(c.Old)
	for name, count := range restartCounts(c.New) {
		if old, ok := before[name]; ok {
			n += max(0, count-old)
		}
	}
	return n
}

// restartCounts returns the restart counts of a pod by the kind and name of the container.
func restartCounts(pod *compact.Object) map[string]int {
	var parsed struct {
		Status struct{ InitContainerStatuses, ContainerStatuses []containerStatus }
	}
	if !decode(pod, &parsed) {
		return nil
	}
	counts := make(map[string]int)
	for _, s := range parsed.Status.InitContainerStatuses {
		counts["init "+s.Name] = s.RestartCount
	}
	for _, s := range parsed.Status.ContainerStatuses {
		counts[s.Name] = s.RestartCount
	}
	return counts
}

// reference has the members of an ObjectReference that identify an object.
type reference struct{ APIVersion, Kind, Namespace, Name string }

// warning has the members of an Event in core/v1 and in events.k8s.io/v1.
type warning struct {
	Type                      string
	Count, DeprecatedCount    int
	Series                    *struct{ Count int }
	InvolvedObject, Regarding reference
}

func (w *warning) occurrences() int {
	n := max(1, w.Count, w.DeprecatedCount)
	if w.Series != nil {
		n = max(n, w.Series.Count)
	}
	return n
}

// warningsIn returns how many occurrences of a Warning event a change adds, and the object that the event regards. A
// new event counts once, because the times of its earlier occurrences are unknown.
func warningsIn(c *event.Change) (n int, regarded target) {
	var before, after warning
	// A Warning event always has a severity worse than OK, so an event with a better severity needs no decoding.
	if c.Op == journal.Delete || c.New.Verdict().Severity() <= verdict.OK || !decode(c.New, &after) ||
		after.Type != "Warning" {
		return 0, target{}
	}
	n = 1
	if c.Op == journal.Update {
		if !decode(c.Old, &before) {
			return 0, target{}
		}
		n = max(0, after.occurrences()-before.occurrences())
	}
	r := after.InvolvedObject
	if r == (reference{}) {
		r = after.Regarding
	}
	group, _, hasGroup := strings.Cut(r.APIVersion, "/")
	if !hasGroup {
		group = ""
	}
	return n, target{group, r.Kind, r.Namespace, r.Name}
}

// owns reports whether a listed object is the controller of the pod, or the Deployment of this controller.
func (c *counter) owns(pod *compact.Object) bool {
	var parsed struct {
		Metadata struct {
			Labels          map[string]string
			OwnerReferences []metav1.OwnerReference
		}
	}
	if !decode(pod, &parsed) {
		return false
	}
	at := slices.IndexFunc(parsed.Metadata.OwnerReferences, func(r metav1.OwnerReference) bool {
		return r.Controller != nil && *r.Controller
	})
	if at < 0 {
		return false
	}
	owner := parsed.Metadata.OwnerReferences[at]
	if owner.Kind == c.sources.Kind {
		o := c.list.find(pod.Namespace(), owner.Name)
		return o != nil && o.UID() == string(owner.UID)
	}
	// The name of a ReplicaSet is the name of its Deployment, "-", and the hash of the pod template.
	name, ok := strings.CutSuffix(owner.Name, "-"+parsed.Metadata.Labels["pod-template-hash"])
	if !ok || c.sources.Kind != "Deployment" || owner.Kind != "ReplicaSet" {
		return false
	}
	deployment := c.list.find(pod.Namespace(), name)
	return deployment != nil && selects(deployment, parsed.Metadata.Labels)
}

// selects reports whether the selector of a Deployment matches the labels of a pod.
func selects(deployment *compact.Object, podLabels map[string]string) bool {
	var parsed struct {
		Spec struct{ Selector *metav1.LabelSelector }
	}
	if !decode(deployment, &parsed) {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(parsed.Spec.Selector)
	return err == nil && selector.Matches(labels.Set(podLabels))
}

func decode(o *compact.Object, into any) bool {
	text, err := o.JSON()
	return err == nil && json.Unmarshal(text, into) == nil
}
