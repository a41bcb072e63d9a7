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
	// lockName is the name of the file in Options.Dir that a program locks while it uses the directory. The file stays
	// there, and is empty.
	lockName = "shares.lock"
	// lockTimeout is how long LockDir waits for another program to unlock the directory. A program that shuts down needs
	// at most ten seconds. Whatever starts this program waits longer than lockTimeout.
	lockTimeout       = 30 * time.Second
	lockRetryInterval = 200 * time.Millisecond
)

// errLocked is the error of lock for a file that another program has locked.
var errLocked = errors.New("it is locked")

// LockDir creates the directory if it does not exist, and locks it for this program. The lock lasts until the returned
// Closer is closed, or the program ends in any way. Without the lock, two programs would overwrite each other's file,
// and would restore shares that were revoked at the other. LockDir waits up to lockTimeout for a program that has the
// lock. If files cannot be locked, LockDir logs a warning and continues without a lock.
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
		log.Warn("another dashboard uses this directory; waiting for it to end", "data_dir", dir, "at_most", lockTimeout)
		err = waitForLock(ctx, file)
	}
	switch {
	case ctx.Err() != nil: // The program is shutting down.
		return nil, errors.Join(ctx.Err(), file.Close())
	case errors.Is(err, errLocked):
		err = fmt.Errorf("another dashboard uses %s: stop it, or set another directory with --data-dir", dir)
		return nil, errors.Join(err, file.Close())
	case err != nil:
		log.Warn("the directory cannot be locked: make sure that no other dashboard uses it", "data_dir", dir,
			"error", err)
	}
	return file, nil
}

// waitForLock locks the file as soon as no other program has locked it.
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
