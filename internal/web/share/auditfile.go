package share

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
)

const (
	auditName = "audit.jsonl"
	// auditSize is the maximum size of the file with the audit log, in bytes. A full file is renamed to audit.jsonl.1.
	auditSize = 10 << 20
)

type auditFile struct {
	path string
	log  *slog.Logger

	mu   sync.Mutex
	file *os.File
	size int64
}

func openAuditFile(dir string, log *slog.Logger) (*auditFile, error) {
	f := &auditFile{path: filepath.Join(dir, auditName), log: log}
	if err := f.openLocked(); err != nil {
		return nil, fmt.Errorf("open the audit log: %w", err)
	}
	return f, nil
}

func (f *auditFile) openLocked() error {
	file, err := os.OpenFile( //nolint:gosec // The administrator configures the path.
		f.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600,
	)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return errors.Join(err, file.Close())
	}
	f.file, f.size = file, info.Size()
	return nil
}

func (f *auditFile) Write(line []byte) (int, error) {
	n, err := f.append(line)
	if err != nil {
		f.log.Error("the audit log could not be written or rotated", "error", err)
	}
	return n, err
}

func (f *auditFile) append(line []byte) (n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.size > 0 && f.size+int64(len(line)) > auditSize {
		err = f.rotateLocked()
	}
	n, writeErr := f.file.Write(line)
	f.size += int64(n)
	return n, errors.Join(err, writeErr)
}

func (f *auditFile) rotateLocked() error {
	// Ignore a missing file: an earlier rotation can have failed after the rename.
	if err := os.Rename(f.path, f.path+".1"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	full := f.file
	if err := f.openLocked(); err != nil {
		return err
	}
	return full.Close()
}

func (f *auditFile) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.file.Close()
}
