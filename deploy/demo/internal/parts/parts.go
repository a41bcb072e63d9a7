// Package parts contains the unmodified programs of a cluster in one executable. As with busybox, argv[0] selects a
// program.
package parts

import (
	"io"
	"os"
	"time"
)

// The names of the parts, as in argv[0]. client-go writes argv[0] into managedFields as the field manager.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Kubelet           = "kubelet"
)

// Lookup returns the main function of a part, or nil for an unknown name. The function returns the exit code.
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

// ParentFD is the file descriptor of a pipe. Only the parent can write to it, so the pipe closes when the parent ends.
const ParentFD = 3

// DieWithParent exits this process one second after its parent ends, even if the parent was killed.
func DieWithParent() {
	pipe := os.NewFile(ParentFD, "parent")
	info, err := pipe.Stat()
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return
	}
	go func() {
		_, _ = io.Copy(io.Discard, pipe)
		// Exit after 1 s: the parent sends SIGTERM before it closes the pipe, and the handler of SIGTERM needs some time.
		time.AfterFunc(time.Second, func() { os.Exit(1) })
	}()
}
