package main

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// limitUnsent limits the bytes that the kernel buffers for a connection in addition to those in flight. In the
// kernel, waiting changes become stale. In this program, several waiting changes of one object are combined. HAProxy
// has the same option (tune.notsent-lowat).
func limitUnsent(_, _ string, c syscall.RawConn) error {
	const most = 128 << 10
	return c.Control(func(fd uintptr) {
		// An error is ignored: without this option, the kernel only buffers more bytes.
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, most)
	})
}
