//go:build !linux

package cluster

import "syscall"

// dieWithParent returns nil, because only Linux has a parent-death signal. On other systems, the user's command
// continues to run if the demo process is killed.
func dieWithParent() *syscall.SysProcAttr { return nil }
