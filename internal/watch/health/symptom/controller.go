package symptom

import "github.com/glasshouse-project/glasshouse/internal/watch/health/object"

// IsNeverObserved reports whether the controller of an object has never written its status. The controllers of these
// kinds always set status.observedGeneration.
func IsNeverObserved(o object.Object) bool {
	switch o.Group() + "/" + o.Text("kind") {
	case "apps/Deployment", "apps/ReplicaSet", "apps/StatefulSet", "apps/DaemonSet", "/ReplicationController",
		"policy/PodDisruptionBudget":
		return o.Has("metadata", "generation") && !o.Has("status", "observedGeneration")
	}
	return false
}

// NamespaceObstacle returns the message of the condition that explains best why a Namespace still exists, or "".
func NamespaceObstacle(o object.Object) string {
	if o.Text("kind") != "Namespace" {
		return ""
	}
	for _, kind := range []string{
		"NamespaceFinalizersRemaining", "NamespaceContentRemaining", "NamespaceDeletionContentFailure",
		"NamespaceDeletionGroupVersionParsingFailure", "NamespaceDeletionDiscoveryFailure",
	} {
		if c := o.Condition(kind); c.Is("True") {
			return c.ShortExplanation()
		}
	}
	return ""
}
