package share

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"glasshouse/internal/watch/signal"
)

const (
	// lockName is the lock file in Options.Dir. It is never removed.
	lockName = "shares.lock"
	// lockTimeout is longer than a shutdown (10 s), but shorter than the start timeout of service managers.
	lockTimeout       = 30 * time.Second
	lockRetryInterval = 200 * time.Millisecond
)

var errLocked = errors.New("the directory is locked")

// LockDir locks a directory until the Closer is closed, and waits up to lockTimeout for another program. Two programs
// would overwrite each other's file, which could restore revoked shares. If the system cannot lock files, LockDir
// only logs a warning.
func LockDir(ctx context.Context, dir string, log *slog.Logger) (io.Closer, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create the --data-dir directory: %w", err)
	}
	file, err := os.OpenFile( //nolint:gosec // The administrator configures the path.
		filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR, 0o600,
	)
	if err != nil {
		return nil, fmt.Errorf("lock the --data-dir directory: %w", err)
	}
	err = lock(file)
	if errors.Is(err, errLocked) {
		log.Warn("another dashboard uses the --data-dir directory; waiting for that dashboard to end", "data_dir", dir,
			"at_most", lockTimeout)
		err = waitForLock(ctx, file)
	}
	switch {
	case ctx.Err() != nil:
		return nil, errors.Join(ctx.Err(), file.Close())
	case errors.Is(err, errLocked):
		err = fmt.Errorf("another dashboard uses %s: stop that dashboard, or set another directory with --data-dir", dir)
		return nil, errors.Join(err, file.Close())
	case err != nil:
		log.Warn("the --data-dir directory cannot be locked: make sure that no other dashboard uses it", "data_dir",
			dir, "error", err)
	}
	return file, nil
}

func waitForLock(ctx context.Context, file *os.File) error {
	waitCtx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	for range signal.Ticks(waitCtx, lockRetryInterval) {
		if err := lock(file); !errors.Is(err, errLocked) {
			return err
		}
	}
	return cmp.Or(ctx.Err(), errLocked)
}
