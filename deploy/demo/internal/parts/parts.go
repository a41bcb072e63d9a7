// Package parts contains the unmodified programs of a cluster, called parts: etcd, kube-apiserver,
// kube-controller-manager, kube-scheduler and kwok.
//
// One executable contains all parts. As with busybox, argv[0] selects one. client-go writes this name into
// managedFields, so the field managers are the same as in other clusters.
package parts

import (
	"io"
	"os"
	"time"
)

// The names of the parts, as in argv[0] of each process.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Kubelet           = "kubelet"
)

// Lookup returns the main function of a part, or nil if the name is unknown. The function returns the exit code.
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

// ParentFD is the file descriptor of a pipe to which only the parent process can write.
const ParentFD = 3

// DieWithParent makes this process exit one second after the parent process ends, even if it was killed. It does
// nothing if ParentFD is not a pipe.
func DieWithParent() {
	pipe := os.NewFile(ParentFD, "parent")
	info, err := pipe.Stat()
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return
	}
	go func() {
		_, _ = io.Copy(io.Discard, pipe)
		// The parent sends SIGTERM before it closes the pipe. The delay gives this process time to handle it.
		time.AfterFunc(time.Second, func() { os.Exit(1) })
	}()
}
