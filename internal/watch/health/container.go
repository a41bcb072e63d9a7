package health

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/message"
)

type role string

const (
	mainRole      role = "container"
	initRole      role = "init container"
	sidecarRole   role = "sidecar container"
	ephemeralRole role = "ephemeral container"
)

type container struct {
	role   role
	name   string
	spec   object
	status object
}

func containersOf(o object) (containers []container) {
	for _, kind := range []struct {
		role         role
		spec, status string
	}{
		{initRole, "initContainers", "initContainerStatuses"},
		{mainRole, "containers", "containerStatuses"},
		{ephemeralRole, "ephemeralContainers", "ephemeralContainerStatuses"},
	} {
		statuses := make(map[string]object)
		for _, status := range o.children("status", kind.status) {
			statuses[status.text("name")] = status
		}
		for _, spec := range o.children("spec", kind.spec) {
			c := container{role: kind.role, name: spec.text("name"), spec: spec, status: statuses[spec.text("name")]}
			if c.role == initRole && spec.text("restartPolicy") == "Always" {
				c.role = sidecarRole
			}
			containers = append(containers, c)
		}
	}
	return containers
}

func (c *container) state(name string) (object, bool) {
	return c.status.child("state", name), c.status.has("state", name)
}

func (c *container) isRunning() bool {
	_, isRunning := c.state("running")
	return isRunning
}

func (c *container) hasSucceeded() bool {
	end, ended := c.state("terminated")
	return ended && end.count("exitCode") == 0
}

// hasFailed reports whether the container exited with an error, or waits for an unusual reason. Ephemeral containers
// never fail.
func (c *container) hasFailed() bool {
	if c.role == ephemeralRole {
		return false
	}
	if end, ended := c.state("terminated"); ended {
		return end.count("exitCode") != 0
	}
	wait, waiting := c.state("waiting")
	return waiting && !slices.Contains([]string{"", "ContainerCreating", "PodInitializing"}, wait.text("reason"))
}

// reason returns the code of a failure, such as CrashLoopBackOff or OOMKilled.
func (c *container) reason() string {
	if wait, waiting := c.state("waiting"); waiting {
		return wait.text("reason")
	}
	end, _ := c.state("terminated")
	return cmp.Or(end.text("reason"), "Error")
}

func (c *container) sentence() string {
	var parts []string
	text := ""
	restarts := c.status.count("restartCount")
	last := c.status.child("lastState", "terminated")
	if wait, waiting := c.state("waiting"); waiting {
		reason := wait.text("reason")
		if reason == "" {
			reason = "waiting"
		}
		parts = append(parts, reason)
		text = message.Waiting(reason, wait.text("message"), c.spec.text("image"))
		if reason == "CrashLoopBackOff" {
			// The waiting message describes only the back-off, not the exit.
			text = message.Waiting(last.text("reason"), last.text("message"), "")
		}
	}
	run, running := c.state("running")
	end, ended := c.state("terminated")
	switch {
	case ended && end.count("exitCode") == 0 && (c.role != mainRole || restarts == 0):
		if c.role != mainRole {
			return "" // Only main containers must keep running.
		}
		parts = append(parts, "finished")
	case ended:
		parts = append(parts, exitText(end))
		text = message.Waiting(end.text("reason"), end.text("message"), "")
	case running && c.role == ephemeralRole:
		parts = append(parts, "running since "+run.text("startedAt"))
	case running && c.role == initRole:
		parts = append(parts, "running")
	case running && c.status.has("started") && !c.status.flag("started"):
		parts = append(parts, "running, startup not complete")
	case running && !c.status.flag("ready"):
		parts = append(parts, "running, not ready")
	case running && restarts > 0:
		parts = append(parts, "ready")
	}
	if len(parts) == 0 {
		return ""
	}
	if restarts > 0 {
		parts = append(parts, "restarted "+timesText(restarts))
		if last != nil {
			parts = append(parts, "last "+exitText(last))
		}
	}
	sentence := fmt.Sprintf("%s %s: %s", c.role, c.name, strings.Join(parts, ", "))
	if text != "" {
		sentence += ": " + text
	}
	return sentence
}

func exitText(end object) string {
	code := end.count("exitCode")
	text := fmt.Sprintf("exit %d", code)
	meaning := message.ExitMeaning(code)
	if signal := end.count("signal"); signal != 0 {
		text, meaning = fmt.Sprintf("killed by signal %d", signal), ""
	}
	if reason := end.text("reason"); reason != "" && reason != "Error" && reason != "Completed" {
		meaning = reason
	}
	if meaning != "" {
		text += " (" + meaning + ")"
	}
	return text
}

// probeText explains why a running container is not ready, or returns "".
func (c *container) probeText() string {
	_, running := c.state("running")
	switch {
	case !running || c.status.flag("ready"):
		return ""
	case c.spec.has("startupProbe") && !c.status.flag("started"):
		return "startup probe of container " + c.name + " has not succeeded"
	case c.spec.has("readinessProbe"):
		return "readiness probe of container " + c.name + " has not succeeded"
	}
	return ""
}
