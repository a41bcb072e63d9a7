package message

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Unschedulable shortens a message of the scheduler, such as "0/3 nodes are available: 3 Insufficient cpu.
// preemption: ..". It returns "" for a message in another form.
func Unschedulable(message string) string {
	available, rest, ok := strings.Cut(message, " nodes are available: ")
	if !ok {
		return podObstacle(message)
	}
	_, total, ok := strings.Cut(available, "/")
	if _, err := strconv.Atoi(total); !ok || err != nil {
		return ""
	}
	rest, _, _ = strings.Cut(rest, ". ") // What follows describes preemption.
	rest = strings.TrimSuffix(rest, ".")
	if short := podObstacle(rest); short != "" {
		return short
	}
	obstacles := nodeObstacles(rest)
	if len(obstacles) == 0 {
		return ""
	}
	sentences := make([]string, 0, len(obstacles))
	for i, o := range obstacles {
		if short := podObstacle(o.text); short != "" {
			return short
		}
		count := strconv.Itoa(o.nodes)
		if i == 0 {
			count = fmt.Sprintf("%d of %s nodes", o.nodes, total)
		}
		sentences = append(sentences, count+" "+o.predicate())
	}
	return "No node fits: " + strings.Join(sentences, ", ")
}

// nodeObstacle is a reason for which the scheduler rejected a number of nodes.
type nodeObstacle struct {
	nodes int
	text  string
}

// nodeObstacles parses a text such as "3 Insufficient cpu, 9 node(s) were unschedulable". The result is empty if the
// text has another form. The obstacle with the most nodes is first.
func nodeObstacles(text string) (obstacles []nodeObstacle) {
	for part := range strings.SplitSeq(text, ", ") {
		number, rest, _ := strings.Cut(part, " ")
		nodes, err := strconv.Atoi(number)
		switch last := len(obstacles) - 1; {
		case err == nil:
			obstacles = append(obstacles, nodeObstacle{nodes, rest})
		case last < 0:
			return nil
		default: // Before Kubernetes 1.24: "node(s) had taint {a: b}, that the pod didn't tolerate".
			obstacles[last].text += ", " + part
		}
	}
	slices.SortStableFunc(obstacles, func(a, b nodeObstacle) int { return cmp.Compare(b.nodes, a.nodes) })
	return obstacles
}

// predicate returns what the nodes have or do, such as "have insufficient cpu".
func (o nodeObstacle) predicate() string {
	plural, singular, noun := o.phrase()
	verb := plural
	if o.nodes == 1 {
		verb = singular
	}
	return verb + " " + noun
}

func (o nodeObstacle) phrase() (plural, singular, noun string) {
	text := strings.TrimPrefix(o.text, "node(s) ")
	if resource, ok := strings.CutPrefix(text, "Insufficient "); ok {
		return "have", "has", "insufficient " + resource
	}
	if _, taint, ok := strings.Cut(text, "taint {"); ok {
		taint, _, _ = strings.Cut(taint, "}")
		return taintPhrase(taint)
	}
	if noun := missingRequirement(text); noun != "" {
		return "do not match", "does not match", noun
	}
	switch text {
	case "Too many pods":
		return "have reached", "has reached", "the maximum number of pods"
	case "had untolerated taint(s)", "had taints that the pod didn't tolerate":
		return "have", "has", "untolerated taints"
	case "were unschedulable":
		return "are", "is", "unschedulable (cordoned)"
	case "had unknown conditions":
		return "are not", "is not", "in the scheduler's cache (\"had unknown conditions\")"
	case "didn't have free ports for the requested pod ports":
		return "have", "has", "no free ports for the host ports of the pod"
	case "didn't satisfy existing pods anti-affinity rules":
		return "are excluded by", "is excluded by", "the anti-affinity of existing pods"
	case "didn't find available persistent volumes to bind":
		return "have", "has", "no available persistent volume for a claim of the pod"
	case "did not have enough free storage":
		return "do not have", "does not have", "enough free storage for a volume of the pod"
	case "had no available volume zone":
		return "are not", "is not", "in the zone or region of a volume of the pod"
	case "exceed max volume count":
		return "would exceed", "would exceed", "the maximum volume count"
	case "had no available disk":
		return "run", "runs", "another pod that uses the same disk"
	case "unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod":
		return "are excluded by", "is excluded by", "a ReadWriteOncePod claim of the pod that another pod already uses"
	case "unavailable due to one or more pvc(s) bound to non-existent pv(s)":
		return "are excluded by", "is excluded by", "a claim of the pod whose volume does not exist"
	case "cannot allocate all claims":
		return "do not have", "does not have", "the devices for all resource claims of the pod"
	}
	return "were rejected with", "was rejected with", `"` + text + `"`
}

func missingRequirement(text string) string {
	switch text {
	case "didn't match Pod's node affinity/selector", "didn't match Pod's node affinity", "didn't match node selector":
		return "the node affinity or node selector"
	case "didn't match PersistentVolume's node affinity", "had volume node affinity conflict":
		return "the node affinity of a volume of the pod"
	case "didn't match pod affinity rules":
		return "the pod affinity"
	case "didn't match pod affinity/anti-affinity rules": // a general reason of schedulers before 1.22
		return "the pod affinity or anti-affinity"
	case "didn't match pod anti-affinity rules":
		return "the pod anti-affinity"
	case "didn't match pod topology spread constraints":
		return "the topology spread constraints"
	case "didn't match pod topology spread constraints (missing required label)":
		return "the topology spread constraints (the node label of topologyKey is missing)"
	case "didn't match the requested node name":
		return "the requested node name"
	}
	return ""
}

// taintPhrase returns words about a taint ("key: value" or "key:"), for example "have", "has" and "disk pressure".
func taintPhrase(taint string) (plural, singular, noun string) {
	key, value, _ := strings.Cut(taint, ": ")
	key = strings.TrimSuffix(key, ":")
	switch key {
	case "node.kubernetes.io/unschedulable":
		return "are", "is", "unschedulable (cordoned)"
	case "node.kubernetes.io/not-ready":
		return "are", "is", "not ready"
	case "node.kubernetes.io/unreachable":
		return "are", "is", "unreachable"
	case "node.kubernetes.io/disk-pressure":
		return "have", "has", "disk pressure"
	case "node.kubernetes.io/memory-pressure":
		return "have", "has", "memory pressure"
	case "node.kubernetes.io/pid-pressure":
		return "have", "has", "PID pressure"
	case "node.kubernetes.io/network-unavailable":
		return "have", "has", "no network"
	case "node.cloudprovider.kubernetes.io/uninitialized":
		return "are", "is", "not initialized by the cloud provider"
	}
	if value != "" {
		key += "=" + value
	}
	return "have", "has", "untolerated taint " + key
}

// podObstacle describes an obstacle that is the same for all nodes. It returns "" for an unknown message.
func podObstacle(text string) string {
	const claim = `persistentvolumeclaim "`
	switch {
	case text == "no nodes available to schedule pods":
		return "No node fits: the cluster has no nodes"
	case text == "pod has unbound immediate PersistentVolumeClaims":
		return "Cannot be scheduled: a PersistentVolumeClaim of the pod is unbound"
	case strings.HasPrefix(text, "waiting for ephemeral volume controller to create the "+claim):
		return "Cannot be scheduled: " + text
	case strings.HasPrefix(text, claim):
		name, problem, _ := strings.Cut(strings.TrimPrefix(text, claim), `" `)
		problem, _, _ = strings.Cut(problem, ". ")
		if problem == "not found" {
			problem = "does not exist"
		} else if strings.HasPrefix(problem, "bound to ") {
			problem = "is " + problem
		}
		return "Cannot be scheduled: PersistentVolumeClaim " + name + " " + problem
	}
	return ""
}
