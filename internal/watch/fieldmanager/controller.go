package fieldmanager

import (
	"regexp"
	"strings"
	"time"
)

// web/static/src/activity/timeline.ts has the same patterns. Tests check both against testdata/managers.json.
var (
	deploymentTools = regexp.MustCompile(`^(argocd|kustomize-controller|helm-controller|flux)`)
	controllers     = regexp.MustCompile(
		`^(kubelet|kube-|cloud-controller-manager|kwok$)|-(controller|controller-manager|operator|scheduler|autoscaler)$`)
)

// IsController reports whether a field manager is a controller, such as a component of Kubernetes or an operator. It
// returns false for persons, and for deployment tools, which make changes on behalf of persons. It returns true for "",
// because a change without a field manager is possibly by a controller.
func IsController(manager string) bool {
	return manager == "" || !deploymentTools.MatchString(manager) && controllers.MatchString(strings.ToLower(manager))
}

// HasEditors reports whether persons or deployment tools usually write the specifications of a resource's objects. The
// parameter resource is the plural name, such as "pods". Controllers write the other resources, and many of these have
// many objects.
func HasEditors(resource string) bool {
	switch resource {
	case "pods", "events", "replicasets", "endpointslices", "endpoints", "volumeattachments", "apiservices", "leases":
		return false
	}
	return true
}

// creationTolerance is how long after the creation of an object a change still counts as its creation. The API server
// determines both times separately, and rounds them to seconds.
const creationTolerance = time.Second

// IsCreation reports whether a change at a time is the creation of an object that was created at the time created.
func IsCreation(at, created time.Time) bool { return !at.After(created.Add(creationTolerance)) }
