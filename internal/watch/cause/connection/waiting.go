package connection

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

var (
	// variable matches a reference to an environment variable, such as $HOST, ${HOST} or $(HOST).
	variable = regexp.MustCompile(`\$[{(]?([A-Za-z_][A-Za-z0-9_]*)[)}]?`)
	// ownNamespace matches a command that prints the namespace of the pod.
	ownNamespace = regexp.MustCompile(`\$\(cat \S*/namespace\)`)
	// waits matches a command that waits for something. owner matches a chown command, because its argument, such as
	// app:1000, is not a host with a port.
	waits = regexp.MustCompile(`(?i)wait|\b(?:until|while|retry)\b`)
	owner = regexp.MustCompile(`\bchown(?: -\S+)* \S+`)
	// objectWords matches the kind and the name of an object, such as job/migrate, job migrate or job.batch/migrate.
	objectWords = regexp.MustCompile(`\b((?i:Job|Deployment|StatefulSet|DaemonSet|Service|Pod)s?)` +
		`(?:(?:\.v1)?\.(?:batch|apps))?[/ ]([a-z0-9][a-z0-9.-]*)`)
)

// waiting explains a pod whose init container runs for too long: its command names a Service or another object that has
// a problem, or a Service that is missing.
func (c *client) waiting() *verdict.Verdict {
	for _, status := range c.pod.Status.InitContainerStatuses {
		at := slices.IndexFunc(c.pod.Spec.InitContainers, func(spec corev1.Container) bool {
			return spec.Name == status.Name && spec.RestartPolicy == nil
		})
		if at < 0 || status.State.Running == nil {
			continue
		}
		if v := c.awaits(commandOf(c, &c.pod.Spec.InitContainers[at])); v != nil {
			return v
		}
	}
	return nil
}

// awaits explains the pod by an object that the command of its init container names.
func (c *client) awaits(command string) *verdict.Verdict {
	found, isSure := hosts(owner.ReplaceAllString(command, ""))
	for _, host := range found {
		services := c.services(host)
		// Without ".svc", the name can be a host outside the cluster: the search domains of the node are unknown.
		isService := isSure && strings.Contains(host, ".svc")
		if v := c.missing(services); v != nil && isService && waits.MatchString(command) {
			return v
		}
		for n := range services {
			if v := c.unreachable(&services[n], host, ""); v != nil {
				return v
			}
		}
	}
	for _, found := range objectWords.FindAllStringSubmatch(command, maxHosts) {
		for _, n := range c.Named(c.ID, &neighbor.Mention{Kind: found[1], Name: strings.TrimRight(found[2], ".-")}) {
			if v := awaitsObject(c, &n); v != nil {
				return v
			}
		}
	}
	return nil
}

// awaitsObject explains the pod by the problem of an object, or by the worst problem of a pod that the object owns.
func awaitsObject(c *client, n *neighbor.Neighbor) *verdict.Verdict {
	switch {
	case n.Object == nil || !n.Object.Verdict().Severity().IsProblem() || isPartOf(c, n.ID):
		return nil
	case isExplained(n):
		return c.inherit(n, n)
	}
	return c.byServer(c.worst(subject.CurrentPods(c.Subject, n)), n)
}

// isPartOf reports whether an object owns the pod, directly or through another object. Then the pod is possibly the
// cause of the object's problem.
func isPartOf(c *client, id graph.ID) bool {
	is := func(o graph.Owner) bool { return o.ID == id }
	_, owners := c.References(c.ID)
	return slices.ContainsFunc(owners, is) || slices.ContainsFunc(owners, func(o graph.Owner) bool {
		_, above := c.References(o.ID)
		return slices.ContainsFunc(above, is)
	})
}

// commandOf returns the command and the arguments of a container as one text. It replaces references to environment
// variables by their values, and commands that print the pod's namespace by this namespace.
func commandOf(c *client, of *corev1.Container) string {
	command := strings.Join(slices.Concat(of.Command, of.Args), " ")
	command = ownNamespace.ReplaceAllLiteralString(command, c.ID.Namespace())
	return variable.ReplaceAllStringFunc(command, func(reference string) string {
		name := variable.FindStringSubmatch(reference)[1]
		for _, e := range of.Env {
			if e.Name == name && e.Value != "" {
				return e.Value
			}
		}
		return reference
	})
}
