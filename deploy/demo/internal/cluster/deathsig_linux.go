package cluster

import "syscall"

// dieWithParent returns process attributes for a child process. With these attributes, the kernel sends SIGTERM to
// the child process when the thread that started it ends.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
}
