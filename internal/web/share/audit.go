package share

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"

	"golang.org/x/time/rate"

	"glasshouse/internal/plain"
	"glasshouse/internal/watch"
)

// auditName is that of the audit log in Options.Dir.
const auditName = "audit.jsonl"

const (
	// guestsRate is how many lines a second those can cause who do not log in, after
	// guestsBurst at once; the next line says how many were left out.
	guestsRate, guestsBurst = 1, 1000
)

// Who is somebody who does something with shares.
type Who struct {
	User *watch.User // Nil for who does not log in.
	From string      // The address.
}

// audit is who did what with shares, and when: a line of the log each, and of JSON
// in the audit log where there is a directory. No line has a token in it, nor what
// follows from one.
type audit struct {
	logs    []*slog.Logger
	file    io.Closer // Nil for none.
	guests  *rate.Limiter
	leftOut atomic.Int64
}

func newAudit(dir string, log *slog.Logger) (*audit, error) {
	a := &audit{logs: []*slog.Logger{log}, guests: rate.NewLimiter(guestsRate, guestsBurst)}
	if dir == "" {
		return a, nil
	}
	file, err := os.OpenFile(filepath.Join(dir, auditName), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600) //nolint:gosec // It is named to be written.
	if err != nil {
		return nil, fmt.Errorf("open the audit log: %w", err)
	}
	a.file = file
	a.logs = append(a.logs, slog.New(slog.NewJSONHandler(&auditFile{file, log}, &slog.HandlerOptions{ReplaceAttr: onlyWhen})))
	return a, nil
}

// onlyWhen leaves of what every line of a log has the time, and the rest plain.
func onlyWhen(groups []string, attr slog.Attr) slog.Attr {
	if len(groups) == 0 && (attr.Key == slog.LevelKey || attr.Key == slog.MessageKey) {
		return slog.Attr{}
	}
	return plain.Attr(groups, attr)
}

// auditFile says in the log that it cannot be written.
type auditFile struct {
	*os.File

	log *slog.Logger
}

func (f *auditFile) Write(line []byte) (int, error) {
	n, err := f.File.Write(line)
	if err != nil {
		f.log.Error("the audit log was not written", "error", err)
	}
	return n, err
}

func (a *audit) close() error {
	if a.file == nil {
		return nil
	}
	if err := a.file.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("close the audit log: %w", err)
	}
	return nil
}

func (a *audit) created(ctx context.Context, s *Share, who Who) {
	a.write(ctx, "create", s, who, slog.String("to", s.To), slog.Any("parts", s.Parts), slog.Time("expires", s.Expires), slog.String("note", s.Note))
}

func (a *audit) revoked(ctx context.Context, s *Share, who Who) { a.write(ctx, "revoke", s, who) }

func (a *audit) expired(ctx context.Context, s *Share) { a.write(ctx, "expire", s, Who{}) }

func (a *audit) dropped(ctx context.Context, s *Share) { a.write(ctx, "drop", s, Who{}) }

func (a *audit) opened(ctx context.Context, s *Share, who Who) { a.ofGuest(ctx, "open", s, who) }

func (a *audit) refused(ctx context.Context, who Who) { a.ofGuest(ctx, "refuse", nil, who) }

// ofGuest writes what anybody could have written at any rate.
func (a *audit) ofGuest(ctx context.Context, event string, s *Share, who Who) {
	if !a.guests.Allow() {
		a.leftOut.Add(1)
		return
	}
	var more []slog.Attr
	if n := a.leftOut.Swap(0); n > 0 {
		more = append(more, slog.Int64("left_out", n))
	}
	a.write(ctx, event, s, who, more...)
}

func (a *audit) write(ctx context.Context, event string, s *Share, who Who, more ...slog.Attr) {
	attrs := []slog.Attr{slog.String("event", event)}
	if s != nil {
		attrs = append(attrs, slog.String("id", s.ID), slog.String("creator", nameOf(s.Creator)))
	}
	if who.User != nil {
		attrs = append(attrs, slog.String("by", who.User.Name))
	}
	if who.From != "" {
		attrs = append(attrs, slog.String("from", who.From))
	}
	for _, log := range a.logs {
		log.LogAttrs(ctx, slog.LevelInfo, "share", append(attrs, more...)...)
	}
}

// nameOf is a user's name; the program has none.
func nameOf(user *watch.User) string {
	if user == nil {
		return ""
	}
	return user.Name
}
