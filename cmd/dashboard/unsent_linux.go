package main

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// limitUnsent limits unsent bytes in the kernel. Changes that wait in this program instead can be combined.
func limitUnsent(_, _ string, c syscall.RawConn) error {
	// HAProxy has the same option: tune.notsent-lowat.
	const most = 128 << 10
	return c.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, most)
	})
}
