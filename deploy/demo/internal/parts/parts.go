// Package parts holds the programs that a control plane is made of, each of them unchanged: etcd, the three Kubernetes
// binaries, and kwok in the place of the kubelets.
//
// One executable carries them all and is told by its own name which one to be, as busybox is: client-go writes that
// name into managedFields, so a change shows the author it would show in any other cluster. A part owns its process: it reads
// the command line and the signals, and returns when it has ended.
package parts

import (
	"io"
	"os"
	"time"
)

// The names that a process goes by.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Kubelet           = "kubelet"
)

// Lookup gives the main function of the part of that name, or nil where name is no part. The function returns an exit code.
func Lookup(name string) func() int {
	switch name {
	case Etcd:
		return etcd
	case APIServer:
		return apiServer
	case ControllerManager:
		return controllerManager
	case Scheduler:
		return scheduler
	case Kubelet:
		return kubelets
	default:
		return nil
	}
}

// ParentFD is where a part finds the reading end of a pipe whose writing end only its parent holds.
const ParentFD = 3

// DieWithParent ends this process as soon as the pipe at ParentFD closes, which the kernel does however the parent
// ends, SIGKILL included. A process that was started by hand has no such pipe and is left alone.
func DieWithParent() {
	pipe := os.NewFile(ParentFD, "parent")
	info, err := pipe.Stat()
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return
	}
	// This goroutine is the one that nobody waits for: it lives exactly as long as its process.
	go func() {
		_, _ = io.Copy(io.Discard, pipe)
		// A parent that stops in order sends SIGTERM first and closes the pipe after; leave that a moment to be done.
		time.AfterFunc(time.Second, func() { os.Exit(1) })
	}()
}
