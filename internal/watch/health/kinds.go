package health

import "fmt"

// explainer returns the function with this package's rules for the kind of the object. The function computes the
// health, given the status from kstatus. explainer returns nil for kinds without such rules.
func explainer(o node) func(o node, verdict Status) Health {
	switch o.group() + "/" + o.text("kind") {
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
	case "/Service":
		return service
	case "networking.k8s.io/Ingress":
		return ingress
	case "/PersistentVolumeClaim":
		return claim
	case "/PersistentVolume":
		return volume
	case "/Node":
		return machine
	case "/Namespace":
		return namespace
	case "autoscaling/HorizontalPodAutoscaler":
		return autoscaler
	case "policy/PodDisruptionBudget":
		return budget
	case "apiextensions.k8s.io/CustomResourceDefinition":
		return definition
	case "apiregistration.k8s.io/APIService":
		return apiService
	}
	return nil
}

// share returns a text such as "2 of 3 replicas ready".
func share(some, all int64, things, what string) string {
	return fmt.Sprintf("%d of %d %s %s", some, all, things, what)
}

// counted returns a text such as "1 pod" or "2 pods".
func counted(n int64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// surplus returns a text about the replicas above the desired number.
func surplus(n int64) string { return counted(n, "extra replica") + " pending termination" }

// times returns "once" or a text such as "7 times".
func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
