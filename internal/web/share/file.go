package share

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

const fileName = "shares.json"

type document struct {
	Version int      `json:"version"`
	Shares  []record `json:"shares"`
}

type record struct {
	Share

	Hash string `json:"hash"` // Hexadecimal SHA-256 hash of the guest cookie.
}

// load reads the file with the shares if it exists. If dropAnonymous is set, it drops shares without a creator.
func (s *Store) load(dropAnonymous bool) error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("create the --data-dir directory: %w", err)
	}
	path := filepath.Join(s.dir, fileName)
	text, err := os.ReadFile(path) //nolint:gosec // The administrator configures the path.
	if errors.Is(err, fs.ErrNotExist) {
		// Write a file without shares now, so that a directory that is not writable is reported at startup.
		return s.write(nil)
	}
	if err != nil {
		return fmt.Errorf("read the share links: %w", err)
	}
	var content document
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&content); err != nil {
		return unreadable(path, err)
	}
	if content.Version != 1 {
		return unreadable(path, fmt.Errorf("unknown version %d", content.Version))
	}
	for i := range content.Shares {
		l, err := content.Shares[i].activeShare()
		if err == nil && (s.byID[l.ID] != nil || s.byHash[l.hash] != nil) {
			err = fmt.Errorf("the share link %.40q is not unique", l.ID)
		}
		if err != nil {
			return unreadable(path, err)
		}
		if dropAnonymous && l.Creator == nil {
			s.dropped, s.dirty = append(s.dropped, l.Share), true
			continue
		}
		s.byID[l.ID], s.byHash[l.hash] = l, l
	}
	return nil
}

func unreadable(path string, err error) error {
	return fmt.Errorf("%s does not contain share links in the format of this program: %w; restore the file, or "+
		"remove it to end all links", path, err)
}

func (r *record) activeShare() (*activeShare, error) {
	l := &activeShare{Share: r.Share, ended: make(chan struct{}), openLimit: newLineLimit()}
	sum, err := hex.DecodeString(r.Hash)
	if err != nil || len(sum) != len(l.hash) || r.ID == "" || len(r.Parts) == 0 || r.Expires.IsZero() {
		return nil, fmt.Errorf("the share link %.40q has a missing or invalid value", r.ID)
	}
	copy(l.hash[:], sum)
	return l, nil
}

func (s *Store) save(ctx context.Context) error {
	if s.dir == "" {
		return nil
	}
	select {
	case s.writeSlot <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.writeSlot }()
	s.mu.Lock()
	records := make([]record, 0, len(s.byID))
	for _, l := range s.byID {
		records = append(records, record{l.Share, hex.EncodeToString(l.hash[:])})
	}
	s.dirty = false
	s.mu.Unlock()
	slices.SortFunc(records, func(a, b record) int { return strings.Compare(a.ID, b.ID) })
	err := s.write(records)
	if err != nil {
		s.mu.Lock()
		s.dirty = true
		s.mu.Unlock()
	}
	return err
}

// write replaces the file with the shares atomically, so that a crash leaves the old or the new content.
func (s *Store) write(records []record) (err error) {
	text, err := json.MarshalIndent(document{1, nonNil(records)}, "", " ")
	if err != nil {
		return fmt.Errorf("encode the share links: %w", err)
	}
	file, err := os.CreateTemp(s.dir, fileName+".*") // CreateTemp sets mode 0600, so other users cannot read the shares.
	if err != nil {
		return fmt.Errorf("write the share links: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(file.Name()) // Ignore the error: after the rename, this file does not exist.
		}
	}()
	_, err = file.Write(append(text, '\n'))
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("write the share links: %w", err)
	}
	if err = os.Rename(file.Name(), filepath.Join(s.dir, fileName)); err != nil {
		return fmt.Errorf("write the share links: %w", err)
	}
	directory, err := os.Open(s.dir)
	if err != nil {
		return fmt.Errorf("write the share links: %w", err)
	}
	return errors.Join(directory.Sync(), directory.Close())
}

func nonNil(records []record) []record {
	if records == nil {
		return []record{}
	}
	return records
}

// notSaved combines a write error with a status.Problem, which the user sees instead of the error. The parameter effect
// is a sentence for this Problem.
func notSaved(effect string, err error) error {
	return fmt.Errorf("%w: %w", &status.Problem{
		Cause: status.Unavailable, Title: "Link not saved",
		Detail: "The file in --data-dir could not be written. " + effect +
			" Check the disk space and the file permissions, then retry.",
	}, err)
}
