// Package parts contains the unmodified programs of a cluster, called parts: etcd, kube-apiserver,
// kube-controller-manager, kube-scheduler, and kwok instead of the kubelets.
//
// One executable contains all parts. As with busybox, the name in argv[0] selects the part to run. client-go writes
// this name into managedFields, so changes have the same field managers as in any other cluster. Each part runs in
// its own process: it reads the command line, handles signals, and returns an exit code.
package parts

import (
	"io"
	"os"
	"time"
)

// The names of the parts (the programs of the cluster). argv[0] of each process must be one of these names.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Kubelet           = "kubelet"
)

// Lookup returns the main function of the program with this name, or nil if the name is unknown. The main function
// returns the exit code.
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

// ParentFD is the file descriptor of the reading end of a pipe. The parent process has the only writing end.
const ParentFD = 3

// DieWithParent makes this process exit one second after the pipe at ParentFD closes. The kernel closes the pipe when
// the parent process ends, even if the parent was killed. If ParentFD is not a pipe, for example in a process that
// was started by hand, DieWithParent does nothing.
func DieWithParent() {
	pipe := os.NewFile(ParentFD, "parent")
	info, err := pipe.Stat()
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return
	}
	go func() {
		_, _ = io.Copy(io.Discard, pipe)
		// When the parent stops normally, it sends SIGTERM before it closes the pipe. The delay gives this process
		// time to handle the signal.
		time.AfterFunc(time.Second, func() { os.Exit(1) })
	}()
}
