//go:build !linux

package main

import "syscall"

// limitUnsent does nothing on this operating system. A limit of the bytes that wait in the kernel was measured only
// on Linux.
func limitUnsent(_, _ string, _ syscall.RawConn) error { return nil }
