package cluster

import "syscall"

// dieWithParent makes the kernel send SIGTERM to a child process when the thread that started it ends.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
}
