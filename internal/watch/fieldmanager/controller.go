package fieldmanager

import (
	"regexp"
	"strings"
)

// web/static/src/activity/timeline.ts has the same patterns. Tests check both against testdata/managers.json.
var (
	deploymentTools = regexp.MustCompile(`^(argocd|kustomize-controller|helm-controller|flux)`)
	controllers     = regexp.MustCompile(
		`^(kubelet|kube-|cloud-controller-manager|kwok$)|-(controller|controller-manager|operator|scheduler|autoscaler)$`)
)

// IsController reports whether a field manager is a controller, such as a component of Kubernetes or an operator. It
// returns false for persons, and for deployment tools, which make changes on behalf of persons. A change without a field
// manager is possibly by a controller, so it returns true for "".
func IsController(manager string) bool {
	return manager == "" || !deploymentTools.MatchString(manager) && controllers.MatchString(strings.ToLower(manager))
}
