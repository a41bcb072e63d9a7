//go:build !linux

package cluster

import "syscall"

// dieWithParent returns nil, because only Linux has a parent-death signal. If the demo is killed, the user's command
// continues to run.
func dieWithParent() *syscall.SysProcAttr { return nil }
