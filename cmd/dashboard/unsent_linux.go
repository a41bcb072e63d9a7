package main

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// limitUnsent limits the unsent bytes in the kernel. Further changes wait in this program, which can combine them.
func limitUnsent(_, _ string, c syscall.RawConn) error {
	// The value of the socket option TCP_NOTSENT_LOWAT, in bytes. HAProxy has the same option: tune.notsent-lowat.
	const most = 128 << 10
	return c.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, most)
	})
}
