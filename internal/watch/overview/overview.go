// Package overview describes the problems of a cluster or of some namespaces: the failed and degraded objects, each
// with its cause, and facts about the cluster.
package overview

import (
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Finding is a group of failed or degraded objects with the same cause. Its Object is the member to read first. The
// Verdict is that of this object. Other members can have a worse severity.
type Finding struct {
	verdict.Object
	verdict.Verdict

	Since time.Time `json:"since"` // When the problem began, or if unknown, when the object was created.
	Count int       `json:"count"` // The number of objects in the group.
	// Owner is the workload that owns the object, such as the Deployment of a pod, or without a workload, the topmost
	// owner. It is nil without an owner that the viewer may read.
	Owner *verdict.Object `json:"owner,omitempty"`
	// Chain is the path from the object to its cause; see Member.Chain.
	Chain      []verdict.Object `json:"chain,omitempty"`
	Objects    []Member         `json:"objects"` // The objects of the group, at most MaxMembers, the worst first.
	LastChange *Change          `json:"lastChange,omitempty"`

	worst    verdict.Severity // The worst severity of all objects of the group.
	hasStart bool             // Since is the start of the problem. Otherwise, the start is unknown.
}

// MaxMembers is the maximum number of objects that a Finding lists.
const MaxMembers = 20

// Member is one object of a Finding, with its own cause.
type Member struct {
	verdict.Object
	verdict.Verdict

	// Chain is the path from the object to its cause. The neighbor of the object is first, and the cause is last. It is
	// empty without a cause.
	Chain []verdict.Object `json:"chain,omitempty"`
}

// Change is a change of an object's specification, and its author.
type Change struct {
	verdict.Object

	At   time.Time `json:"at"`
	By   string    `json:"by"`             // The field manager, such as "kubectl-set".
	What string    `json:"what,omitempty"` // The changed fields, such as "spec.template.spec.containers[app].image".
	// IsCreation reports that the change is the creation of the object.
	IsCreation bool `json:"created,omitempty"`
	// IsDeletion reports that the object was deleted. The author is then unknown.
	IsDeletion bool `json:"deleted,omitempty"`
	// IsLater reports that the last change of a finding was made after its problem began.
	IsLater bool `json:"afterStart,omitempty"`
}

// Warning is a group of warning events with the same reason.
type Warning struct {
	Reason  string           `json:"reason"`
	Message string           `json:"message"` // The message of the newest event.
	Count   int              `json:"count"`
	Last    time.Time        `json:"last"`
	Objects []verdict.Object `json:"objects"` // The objects of the events, at most MaxMembers, the newest first.
}

// Amount is how much CPU or memory pods request, and how much the nodes can allocate.
type Amount struct {
	Requested   float64 `json:"requested"`
	Allocatable float64 `json:"allocatable"`
}

// Summary is the data above the findings of the home page. Fields are nil if the viewer may not read their resource.
type Summary struct {
	Nodes     *Nodes         `json:"nodes,omitempty"`
	Pods      map[string]int `json:"pods,omitempty"`   // The number of pods by phase, such as "Running".
	CPU       *Amount        `json:"cpu,omitempty"`    // In cores.
	Memory    *Amount        `json:"memory,omitempty"` // In bytes.
	Quotas    []Quota        `json:"quotas,omitempty"` // Only for a single namespace.
	APIServer APIServer      `json:"apiServer"`
}

// Nodes counts the nodes of the cluster.
type Nodes struct {
	Ready int `json:"ready"`
	Total int `json:"total"`
}

// Quota is one limit of a ResourceQuota, with quantities as Kubernetes writes them, such as "500m".
type Quota struct {
	Name     string `json:"name"`     // The name of the ResourceQuota.
	Resource string `json:"resource"` // Such as "requests.cpu".
	Used     string `json:"used"`
	Hard     string `json:"hard"`
	Percent  int    `json:"percent"`
}

// APIServer is the state of the connection to the API server.
type APIServer struct {
	Version string       `json:"version"` // Empty if unknown, and for guests.
	State   status.State `json:"state"`
	Reason  string       `json:"reason,omitempty"`
	// LatencyMS is how long the newest discovery took, rounded up to a step such as 20, 50 or 100 ms. It is absent for
	// guests.
	LatencyMS int `json:"latencyMs,omitempty"`
}

// Watched is a resource that the overview reads, with the number and the memory of its objects.
type Watched struct {
	Resource string `json:"resource"`
	Kind     string `json:"kind"`
	status.Status

	Objects int   `json:"objects"`
	Bytes   int64 `json:"bytes"`
}

// Progressing is the number of progressing objects of one resource.
type Progressing struct {
	Resource string `json:"resource"`
	Kind     string `json:"kind"`
	Count    int    `json:"count"`
}

// Overview is what the home page shows.
type Overview struct {
	Problems []Finding      `json:"problems"` // The worst first.
	Total    int            `json:"total"`    // The number of all findings, including those beyond the limit.
	Counts   map[string]int `json:"counts"`   // The number of objects by severity: failed, degraded, progressing.
	// Progressing has the number of progressing objects of each resource, the largest number first.
	Progressing []Progressing `json:"progressing"`
	Summary     Summary       `json:"summary"`
	Changes     []Change      `json:"changes"`  // The newest changes by people, and deletions.
	Warnings    []Warning     `json:"warnings"` // The most recent first.
	Watched     []Watched     `json:"watched"`  // In the order in which their watches started.
	// Unexamined lists what the findings do not cover, as sentences for the viewer.
	Unexamined []string `json:"unexamined"`
	// Planned is the number of resources that Watched contains once the watches of all have started. It is 0 if unknown,
	// and for guests.
	Planned int `json:"planned,omitempty"`
}
