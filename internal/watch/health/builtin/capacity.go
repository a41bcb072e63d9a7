package builtin

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/object"
)

// NotResized returns a sentence about a bound PersistentVolumeClaim that has less storage than it requests, or "". It
// returns "" in two more cases. First, the file system grows when the next pod uses the volume. Second, the claim named
// the volume itself, so the volume can be smaller on purpose, and no controller has started to resize it.
func NotResized(o object.Object) string {
	wanted, has := o.Text("spec", "resources", "requests", "storage"), o.Text("status", "capacity", "storage")
	wasChosen := o.Has("metadata", "annotations", "pv.kubernetes.io/bound-by-controller")
	hasStarted := o.Condition("Resizing").Is("True") || len(o.Child("status", "allocatedResources")) > 0
	if compare(has, wanted) >= 0 || o.Condition("FileSystemResizePending").Is("True") || !wasChosen && !hasStarted {
		return ""
	}
	return fmt.Sprintf("Not resized from %s to %s", has, wanted)
}

// compare compares two quantities. It returns 0 if one of them is not valid.
func compare(a, b string) int {
	left, err := resource.ParseQuantity(a)
	if err != nil {
		return 0
	}
	right, err := resource.ParseQuantity(b)
	if err != nil {
		return 0
	}
	return left.Cmp(right)
}

// UnhealthyDevices returns a sentence about devices of a node that their plugin reports as unhealthy, or "". If no
// device at all is allocatable, it returns "", because the plugin is possibly restarting.
func UnhealthyDevices(o object.Object) string {
	capacity, allocatable := o.Child("status", "capacity"), o.Child("status", "allocatable")
	for _, name := range slices.Sorted(maps.Keys(capacity)) {
		domain, _, isExtended := strings.Cut(name, "/")
		all, usable := capacity.Text(name), allocatable.Text(name)
		if isExtended && !strings.HasSuffix(domain, "kubernetes.io") && compare(usable, all) < 0 && compare(usable, "0") > 0 {
			return fmt.Sprintf("only %s of %s %s are healthy", usable, all, name)
		}
	}
	return ""
}
