// Package kinds contains the rules for the health of built-in kinds, and of Applications of Argo CD. A rule depends
// only on the object and on its status according to kstatus, and not on the time. All functions are pure.
package kinds

import (
	"fmt"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/object"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/result"
)

// serveTime is the time after which an object that a control loop handles within seconds is overdue. It is the waiting
// time of the alerts KubePersistentVolumeErrors and KubeAggregatedAPIDown of kubernetes-mixin.
const serveTime = 5 * time.Minute

// reportTime is how late a controller can report that the deadline of an object has passed.
const reportTime = time.Minute

// RulesFor returns the function that evaluates o, or nil if this package has no rules for its kind. The function
// receives the status of o according to kstatus.
func RulesFor(o object.Object) func(o object.Object, status result.Status) result.Result {
	switch o.Group() + "/" + o.Text("kind") {
	case "/Pod":
		return pod
	case "apps/Deployment":
		return deployment
	case "apps/ReplicaSet", "/ReplicationController":
		return replicaSet
	case "apps/StatefulSet":
		return statefulSet
	case "apps/DaemonSet":
		return daemonSet
	case "batch/Job":
		return job
	case "batch/CronJob":
		return cronJob
	case "/Event", "events.k8s.io/Event":
		return event
	case "/Service":
		return service
	case "networking.k8s.io/Ingress":
		return ingress
	case "/PersistentVolumeClaim":
		return persistentVolumeClaim
	case "/PersistentVolume":
		return persistentVolume
	case "storage.k8s.io/VolumeAttachment":
		return volumeAttachment
	case "/Node":
		return nodeHealth
	case "/Namespace":
		return namespace
	case "autoscaling/HorizontalPodAutoscaler":
		return horizontalPodAutoscaler
	case "policy/PodDisruptionBudget":
		return podDisruptionBudget
	case "apiextensions.k8s.io/CustomResourceDefinition":
		return customResourceDefinition
	case "apiregistration.k8s.io/APIService":
		return apiService
	case "argoproj.io/Application":
		return application
	}
	return nil
}

func ratioText(part, total int64, noun, property string) string {
	return fmt.Sprintf("%d of %d %s %s", part, total, noun, property)
}

func counted(n int64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
