package main

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// limitUnsent limits the bytes that wait in the kernel because the client reads slowly. Bytes that are already sent
// do not count. Data in the kernel cannot change any more, but while changes of one object wait in this program, it
// combines them. HAProxy has the same option (tune.notsent-lowat).
func limitUnsent(_, _ string, c syscall.RawConn) error {
	const most = 128 << 10
	return c.Control(func(fd uintptr) {
		// Ignore the error, because without this option the kernel only buffers more bytes.
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, most)
	})
}
