package cluster

import "syscall"

// dieWithParent returns attributes for a child process. With them, the kernel sends SIGTERM to the child process when
// the thread that started it ends.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
}
