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

	"glasshouse/internal/watch"
)

const (
	// lockName is that of the file in Options.Dir that who has the directory has
	// locked. It stays there, and says nothing.
	lockName = "shares.lock"
	// holdWait is how long it is waited for another program to let go: one that
	// ends takes ten seconds at most, and whatever starts this one waits longer.
	holdWait  = 30 * time.Second
	holdAgain = 200 * time.Millisecond
)

// errHeld is said where another program has a file locked.
var errHeld = errors.New("it is locked")

// Hold makes the directory where it is not there, and has it for this program alone,
// until what it returns is closed, or the program ends, however that does: of two that
// write the same file each would bring back what was taken back at the other. It waits
// for a while for one that has it. Where files cannot be locked it says so in the log,
// and goes on.
func Hold(ctx context.Context, dir string, log *slog.Logger) (io.Closer, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the directory of --data-dir: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // It is named to be written.
	if err != nil {
		return nil, fmt.Errorf("lock the directory of --data-dir: %w", err)
	}
	err = lock(file)
	if errors.Is(err, errHeld) {
		log.Warn("another dashboard uses this directory; waiting for it to end", "data_dir", dir, "at_most", holdWait)
		err = wait(ctx, file)
	}
	switch {
	case ctx.Err() != nil: // The program is to end.
		return nil, errors.Join(ctx.Err(), file.Close())
	case errors.Is(err, errHeld):
		err = fmt.Errorf("another dashboard uses %s: stop it, or give this one another directory with --data-dir", dir)
		return nil, errors.Join(err, file.Close())
	case err != nil:
		log.Warn("nothing keeps another dashboard from using this directory: it cannot be locked", "data_dir", dir,
			"error", err)
	}
	return file, nil
}

// wait locks the file as soon as nobody else has.
func wait(ctx context.Context, file *os.File) error {
	limited, cancel := context.WithTimeout(ctx, holdWait)
	defer cancel()
	for range watch.Ticks(limited, holdAgain) {
		if err := lock(file); !errors.Is(err, errHeld) {
			return err
		}
	}
	return cmp.Or(ctx.Err(), errHeld)
}
