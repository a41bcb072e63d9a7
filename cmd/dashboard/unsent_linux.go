package main

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// limitUnsent limits the bytes that the kernel accepts on a connection in addition to those in flight. Changes that
// wait longer are better folded in this program than kept in the kernel, where they become stale. HAProxy does the same
// (tune.notsent-lowat).
func limitUnsent(_, _ string, c syscall.RawConn) error {
	const most = 128 << 10
	return c.Control(func(fd uintptr) {
		// If the kernel does not support this option, it accepts more.
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, most)
	})
}
