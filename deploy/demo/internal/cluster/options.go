// Package cluster brings a control plane up, fills it, keeps it up, and takes it down.
package cluster

import (
	"io"
	"os"
	"strconv"
	"time"
)

// Options says what cluster is wanted.
type Options struct {
	DataDir       string
	Nodes         int // 0: as many as the pods need, 12 at least
	Pods          int // at least so many; the company's own are always there
	Life          int // changes a minute; 0: none
	Seed          bool
	Still         bool // etcd and API server alone; Pods are written as they would run
	APIServerPort int  // 0: the one of last time, or 6443
	Compaction    time.Duration
	Audit         bool
	Command       []string // run when the cluster is up; nothing: stay up until ctx ends

	Stdin          *os.File
	Stdout, Stderr io.Writer
}

// ExitError carries the exit code of the command that was run against the cluster.
type ExitError struct {
	Code int
}

func (e ExitError) Error() string { return "exit code " + strconv.Itoa(e.Code) }

const (
	fewestNodes = 12
	podsPerNode = 150 // comfortably less than a node holds
)

func (o Options) nodes() int {
	if o.Nodes > 0 {
		return o.Nodes
	}
	return max(fewestNodes, o.Pods/podsPerNode)
}
