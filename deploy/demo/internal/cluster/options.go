// Package cluster starts a control plane, fills it with a workload, keeps it running, and stops it.
package cluster

import (
	"io"
	"os"
	"strconv"
	"time"
)

// Options describes the cluster to start.
type Options struct {
	DataDir          string
	Nodes            int // number of nodes; 0: enough for the pods, at least 12
	Pods             int
	ChangesPerMinute int
	Seed             bool
	ControlPlaneOnly bool          // only etcd and the API server, with pods that are already Running
	APIServerPort    int           // preferred port; 0: the port of the last run, or 6443
	Compaction       time.Duration // interval of compactions in etcd; 0: never
	Audit            bool
	Command          []string // command of the user; if empty, wait until ctx ends

	Stdin          *os.File
	Stdout, Stderr io.Writer
}

// ExitError contains the exit code that this process must return.
type ExitError struct {
	Code int
}

func (e ExitError) Error() string { return "exit code " + strconv.Itoa(e.Code) }

const (
	minNodes    = 12
	podsPerNode = 150 // average number of pods per node; the maximum is 250
)

func (o Options) nodes() int {
	if o.Nodes > 0 {
		return o.Nodes
	}
	return max(minNodes, o.Pods/podsPerNode)
}
