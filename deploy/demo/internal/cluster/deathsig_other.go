//go:build !linux

package cluster

import "syscall"

// dieWithParent returns nil, because only Linux has a parent-death signal.
func dieWithParent() *syscall.SysProcAttr { return nil }
