//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package share

import (
	"errors"
	"os"
)

// lock returns an error, because locking was tested only on systems with flock.
func lock(*os.File) error { return errors.ErrUnsupported }
