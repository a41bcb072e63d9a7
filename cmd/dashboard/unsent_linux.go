package main

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// limitUnsent limits the unsent bytes in the kernel. Further changes wait in this program, which can combine them.
func limitUnsent(_, _ string, c syscall.RawConn) error {
	// HAProxy can set the same socket option: tune.notsent-lowat.
	const most = 128 << 10
	return c.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, most)
	})
}
