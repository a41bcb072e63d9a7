//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package share

import (
	"errors"
	"os"
)

// lock cannot: it was tried where flock is alone.
func lock(*os.File) error { return errors.ErrUnsupported }
