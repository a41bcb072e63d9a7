package main

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// limitUnsent limits the bytes that wait in the kernel for a slow client. Further changes then wait in this program,
// which combines the changes of one object. HAProxy has the same option (tune.notsent-lowat).
func limitUnsent(_, _ string, c syscall.RawConn) error {
	const most = 128 << 10
	return c.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, most)
	})
}
