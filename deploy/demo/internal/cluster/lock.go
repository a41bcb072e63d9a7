package cluster

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

func lock(path, dir string) (io.Closer, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		owner, _ := io.ReadAll(file)
		_ = file.Close()
		return nil, fmt.Errorf(
			"a demo cluster is already running in %s (process %s): stop it first, or set another --data-dir",
			dir, strings.TrimSpace(string(owner)),
		)
	}
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	if err := file.Truncate(0); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	if _, err := fmt.Fprintln(file, os.Getpid()); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	return file, nil
}
