package main

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// boundUnsent has the kernel take no more of a connection, beside what is on its
// way, than this many bytes: what waits longer is better folded here than kept
// there, where it grows old. HAProxy does so, too (tune.notsent-lowat).
func boundUnsent(_, _ string, c syscall.RawConn) error {
	const most = 128 << 10
	return c.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, most) // A kernel that cannot takes more.
	})
}
