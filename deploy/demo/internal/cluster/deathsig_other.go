//go:build !linux

package cluster

import "syscall"

// dieWithParent returns nil, because only Linux has a parent-death signal. Here a command outlives a demo that is
// killed.
func dieWithParent() *syscall.SysProcAttr { return nil }
