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
	Nodes            int           // number of nodes; 0: enough for the pods, but at least 12
	Pods             int           // minimum number of pods, including those of the fictional company's workload
	ChangesPerMinute int           // automatic changes of the workload per minute; 0: none
	Seed             bool          // create the workload of the fictional company
	ControlPlaneOnly bool          // run only etcd and the API server, and create pods that are already Running
	APIServerPort    int           // preferred port of the API server; 0: the same port as in the last run, or 6443
	Compaction       time.Duration // interval at which the API server compacts etcd; 0: never
	Audit            bool          // make the API server write an audit log
	Command          []string      // command to run when the cluster is ready; empty: wait until ctx ends

	Stdin          *os.File
	Stdout, Stderr io.Writer
}

// ExitError is an error with the exit code that this process must return, such as the exit code of the user's
// command.
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
