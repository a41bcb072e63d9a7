package intent

import (
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/object"
)

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

// Deletion explains what the deletion of an object waits for.
func Deletion(o object.Object) string {
	finalizers := o.Texts("metadata", "finalizers")
	node := o.Text("spec", "nodeName")
	switch obstacle := NamespaceObstacle(o); {
	case len(finalizers) == 1:
		return "Being deleted; waiting for finalizer " + finalizers[0]
	case len(finalizers) > 1:
		return "Being deleted; waiting for finalizers " + strings.Join(finalizers, ", ")
	case o.Text("kind") == "Pod" && node != "":
		return "Being deleted; waiting for node " + node + " to stop its containers"
	case obstacle != "":
		return "Being deleted: " + obstacle
	}
	return "Being deleted"
}
