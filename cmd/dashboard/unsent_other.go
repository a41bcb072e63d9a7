//go:build !linux

package main

import "syscall"

// limitUnsent does nothing, because the effect of such a limit was measured only on Linux.
func limitUnsent(_, _ string, _ syscall.RawConn) error { return nil }
