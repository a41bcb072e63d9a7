// Package parts contains the unmodified programs of a control plane: etcd, the three Kubernetes binaries, and kwok
// instead of the kubelets.
//
// One executable contains them all. As with busybox, the name in argv[0] selects the program. client-go writes this
// name into managedFields, so that a change has the same field manager as in any other cluster. Each part owns its
// process: it reads the command line and handles signals, and returns when it has ended.
package parts

import (
	"io"
	"os"
	"time"
)

// The names of the parts. A process that runs a part has this name.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Kubelet           = "kubelet"
)

// Lookup returns the main function of the part with that name, or nil if there is none. The function returns an exit
// code.
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

// ParentFD is the file descriptor of the reading end of a pipe. Only the parent process has the writing end.
const ParentFD = 3

// DieWithParent ends this process one second after the pipe at ParentFD closes. The kernel closes it when the parent
// ends for any reason, including SIGKILL. DieWithParent does nothing without such a pipe, as in a process that was
// started by hand.
func DieWithParent() {
	pipe := os.NewFile(ParentFD, "parent")
	info, err := pipe.Stat()
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return
	}
	// No code waits for this goroutine, because it runs exactly as long as its process.
	go func() {
		_, _ = io.Copy(io.Discard, pipe)
		// In an orderly stop the parent sends SIGTERM before it closes the pipe. The delay leaves time for this stop.
		time.AfterFunc(time.Second, func() { os.Exit(1) })
	}()
}
