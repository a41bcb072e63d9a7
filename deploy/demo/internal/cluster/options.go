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
	Nodes            int           // 0: as many as the pods need, at least 12
	Pods             int           // minimum number of pods; those of the company's workload count too
	ChangesPerMinute int           // changes a minute; 0: none
	Seed             bool          // apply the company's workload
	ControlPlaneOnly bool          // only etcd and the API server; Pods are written as if they were running
	APIServerPort    int           // preferred port; 0: the one of the last run, or 6443
	Compaction       time.Duration // interval after which the API server compacts etcd; 0: never
	Audit            bool          // write an audit log
	Command          []string      // run when the cluster is ready; empty: run until ctx ends

	Stdin          *os.File
	Stdout, Stderr io.Writer
}

// ExitError carries an exit code, for example that of the command that was run against the cluster.
type ExitError struct {
	Code int
}

func (e ExitError) Error() string { return "exit code " + strconv.Itoa(e.Code) }

const (
	minNodes    = 12
	podsPerNode = 150 // well below the 250 pods that a node can run
)

func (o Options) nodes() int {
	if o.Nodes > 0 {
		return o.Nodes
	}
	return max(minNodes, o.Pods/podsPerNode)
}
