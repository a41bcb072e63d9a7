package share

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

const (
	// lockName is the lock file in Options.Dir. The file remains when the program ends; only its lock is released.
	lockName = "shares.lock"
	// lockTimeout is longer than a shutdown (10 s), but shorter than the start timeout of service managers.
	lockTimeout       = 30 * time.Second
	lockRetryInterval = 200 * time.Millisecond
)

// LockDir locks a directory until the Closer is closed, so that two programs cannot restore shares that the other one
// has revoked. It waits up to lockTimeout. If the file system has no locks, it logs a warning and returns no error.
func LockDir(ctx context.Context, dir string, log *slog.Logger) (io.Closer, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create the --data-dir directory: %w", err)
	}
	lock := flock.New(filepath.Join(dir, lockName))
	locked, err := lock.TryLock()
	if !locked && err == nil {
		log.Warn("another dashboard uses the --data-dir directory; waiting for that dashboard to end", "data_dir", dir,
			"timeout", lockTimeout)
		waitCtx, cancel := context.WithTimeout(ctx, lockTimeout)
		defer cancel()
		locked, err = lock.TryLockContext(waitCtx, lockRetryInterval)
	}
	var pathError *fs.PathError
	switch {
	case ctx.Err() != nil:
		return nil, errors.Join(ctx.Err(), lock.Close())
	case locked:
		return lock, nil
	case errors.Is(err, context.DeadlineExceeded):
		err = fmt.Errorf("another dashboard uses %s: stop that dashboard, or set another directory with --data-dir", dir)
		return nil, errors.Join(err, lock.Close())
	case errors.As(err, &pathError):
		return nil, errors.Join(fmt.Errorf("lock the --data-dir directory: %w", err), lock.Close())
	}
	log.Warn("the --data-dir directory cannot be locked: make sure that no other dashboard uses it", "data_dir", dir,
		"error", err)
	return lock, nil
}
