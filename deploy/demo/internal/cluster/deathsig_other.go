//go:build !linux

package cluster

import "syscall"

// dieWithParent has no counterpart here: a command outlives a demo that is killed.
func dieWithParent() *syscall.SysProcAttr { return nil }
