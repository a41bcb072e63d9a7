// Package container describes the containers of a pod as sentences.
package container

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/message"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/object"
)

// Role is the kind of a container. Its text is part of the sentences about the container.
type Role string

// The roles. A sidecar is an init container that keeps running.
const (
	Main      Role = "container"
	Init      Role = "init container"
	Sidecar   Role = "sidecar container"
	Ephemeral Role = "ephemeral container"
)

// Container is a container of a pod.
type Container struct {
	Role   Role
	Name   string
	Status object.Object // Its entry in the status of the pod; nil if there is none.
	spec   object.Object
}

// Of returns the containers of a pod. The init containers are first, and the ephemeral ones last.
func Of(o object.Object) (containers []Container) {
	for _, kind := range []struct {
		role         Role
		spec, status string
	}{
		{Init, "initContainers", "initContainerStatuses"},
		{Main, "containers", "containerStatuses"},
		{Ephemeral, "ephemeralContainers", "ephemeralContainerStatuses"},
	} {
		statuses := make(map[string]object.Object)
		for _, status := range o.Children("status", kind.status) {
			statuses[status.Text("name")] = status
		}
		for _, spec := range o.Children("spec", kind.spec) {
			c := Container{Role: kind.role, Name: spec.Text("name"), spec: spec, Status: statuses[spec.Text("name")]}
			if c.Role == Init && spec.Text("restartPolicy") == "Always" {
				c.Role = Sidecar
			}
			containers = append(containers, c)
		}
	}
	return containers
}

// State returns the state with a name, such as running, and whether the container has it.
func (c *Container) State(name string) (object.Object, bool) {
	return c.Status.Child("state", name), c.Status.Has("state", name)
}

// IsRunning reports whether the container runs.
func (c *Container) IsRunning() bool {
	_, isRunning := c.State("running")
	return isRunning
}

// HasSucceeded reports whether the container ended with exit code 0.
func (c *Container) HasSucceeded() bool {
	end, ended := c.State("terminated")
	return ended && end.Count("exitCode") == 0
}

// HasFailed reports whether the container exited with an error, or waits for an unusual reason. Ephemeral containers
// never fail.
func (c *Container) HasFailed() bool {
	if c.Role == Ephemeral {
		return false
	}
	if end, ended := c.State("terminated"); ended {
		return end.Count("exitCode") != 0
	}
	wait, waiting := c.State("waiting")
	return waiting && !slices.Contains([]string{"", "ContainerCreating", "PodInitializing"}, wait.Text("reason"))
}

// RunsOn finds a container that still runs although another container of the pod has completed. It returns a sentence
// about the two containers, and the time of the last completion. If there is no such container, the sentence is "".
func RunsOn(all []Container) (sentence string, completedAt time.Time) {
	completed, running := "", ""
	for n := range all {
		c := &all[n]
		switch {
		case c.Role != Main:
		case c.HasSucceeded():
			end, _ := c.State("terminated")
			if at := end.Time("finishedAt"); at.After(completedAt) {
				completedAt = at
			}
			completed = cmp.Or(completed, c.Name)
		case c.IsRunning():
			running = cmp.Or(running, c.Name)
		}
	}
	if completed == "" || running == "" {
		return "", time.Time{}
	}
	return fmt.Sprintf("Container %s completed, but container %s is still running", completed, running), completedAt
}

// Reason returns the code of a failure, such as CrashLoopBackOff or OOMKilled.
func (c *Container) Reason() string {
	if wait, waiting := c.State("waiting"); waiting {
		return wait.Text("reason")
	}
	end, _ := c.State("terminated")
	return cmp.Or(end.Text("reason"), "Error")
}

// Sentence describes the state and the restarts, or returns "" if the container is as expected.
func (c *Container) Sentence() string {
	var parts []string
	text := ""
	restarts := c.Status.Count("restartCount")
	last := c.Status.Child("lastState", "terminated")
	if wait, waiting := c.State("waiting"); waiting {
		reason := wait.Text("reason")
		if reason == "" {
			reason = "waiting"
		}
		parts = append(parts, reason)
		text = message.Waiting(reason, wait.Text("message"), c.spec.Text("image"))
		if reason == "CrashLoopBackOff" {
			// Use the message of the last exit, because the waiting message describes only the back-off.
			text = message.Waiting(last.Text("reason"), last.Text("message"), "")
		}
	}
	run, running := c.State("running")
	end, ended := c.State("terminated")
	switch {
	case ended && end.Count("exitCode") == 0 && (c.Role != Main || restarts == 0):
		if c.Role != Main {
			return "" // Only main containers must keep running.
		}
		parts = append(parts, "finished")
	case ended:
		parts = append(parts, exitText(end))
		text = message.Waiting(end.Text("reason"), end.Text("message"), "")
	case running && c.Role == Ephemeral:
		parts = append(parts, "running since "+run.Text("startedAt"))
	case running && c.Role == Init:
		parts = append(parts, "running")
	case running && c.Status.Has("started") && !c.Status.Flag("started"):
		parts = append(parts, "running, startup not complete")
	case running && !c.Status.Flag("ready"):
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
	sentence := fmt.Sprintf("%s %s: %s", c.Role, c.Name, strings.Join(parts, ", "))
	if text != "" {
		sentence += ": " + text
	}
	return sentence
}

// exitTerminated is the exit code of a container after SIGTERM, the signal with which the kubelet stops a container.
const exitTerminated = 143

// StopText names the probe that is probably the reason why the kubelet stopped a crashing container, or returns "".
func (c *Container) StopText() string {
	probes := []string{}
	for _, probe := range []string{"startup", "liveness"} {
		if c.spec.Has(probe + "Probe") {
			probes = append(probes, probe)
		}
	}
	last := c.Status.Child("lastState", "terminated")
	if wait, _ := c.State("waiting"); len(probes) == 0 || wait.Text("reason") != "CrashLoopBackOff" ||
		last.Count("exitCode") != exitTerminated {
		return ""
	}
	return fmt.Sprintf("The kubelet has probably stopped %s %s, because its %s probe failed",
		c.Role, c.Name, strings.Join(probes, " or "))
}

// exitText describes how a container ended, such as "exit 137 (OOMKilled)". end is its state "terminated".
func exitText(end object.Object) string {
	code := end.Count("exitCode")
	text := fmt.Sprintf("exit %d", code)
	meaning := message.ExitMeaning(code)
	if signal := end.Count("signal"); signal != 0 {
		text, meaning = fmt.Sprintf("killed by signal %d", signal), ""
	}
	if reason := end.Text("reason"); reason != "" && reason != "Error" && reason != "Completed" {
		meaning = reason
	}
	if meaning != "" {
		text += " (" + meaning + ")"
	}
	return text
}

// ProbeText explains why a running container is not ready, or returns "".
func (c *Container) ProbeText() string {
	_, running := c.State("running")
	switch {
	case !running || c.Status.Flag("ready"):
		return ""
	case c.spec.Has("startupProbe") && !c.Status.Flag("started"):
		return "container " + c.Name + " has not passed its startup probe"
	case c.spec.Has("readinessProbe"):
		return "container " + c.Name + " does not pass its readiness probe"
	}
	return ""
}

func timesText(n int64) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
