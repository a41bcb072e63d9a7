package main

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// limitUnsent limits the bytes that wait in the kernel because the client reads slowly. Bytes in flight do not count.
// Changes in the kernel become stale, but this program combines waiting changes of one object. HAProxy has the same
// option (tune.notsent-lowat).
func limitUnsent(_, _ string, c syscall.RawConn) error {
	const most = 128 << 10
	return c.Control(func(fd uintptr) {
		// The error is ignored, because the kernel then only buffers more bytes.
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, most)
	})
}
