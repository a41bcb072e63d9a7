package share

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"glasshouse/internal/plain"
	"glasshouse/internal/watch"
)

// guestsEvery is how often those can cause a line who do not log in, after
// guestsBurst at once: of each share that is opened, and of all that is refused.
const guestsEvery, guestsBurst = time.Minute, 1000

// quota bounds such lines; the next one says how many were left out.
type quota struct {
	pace    *rate.Limiter
	leftOut atomic.Int64
}

func newQuota() *quota { return &quota{pace: rate.NewLimiter(rate.Every(guestsEvery), guestsBurst)} }

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
	refuses *quota
}

func newAudit(dir string, log *slog.Logger) (*audit, error) {
	a := &audit{logs: []*slog.Logger{log}, refuses: newQuota()}
	if dir == "" {
		return a, nil
	}
	file, err := openAuditFile(dir, log)
	if err != nil {
		return nil, err
	}
	a.file = file
	a.logs = append(a.logs, slog.New(slog.NewJSONHandler(file, &slog.HandlerOptions{ReplaceAttr: onlyWhen})))
	return a, nil
}

// onlyWhen leaves of what every line of a log has the time, and the rest plain.
func onlyWhen(groups []string, attr slog.Attr) slog.Attr {
	if len(groups) == 0 && (attr.Key == slog.LevelKey || attr.Key == slog.MessageKey) {
		return slog.Attr{}
	}
	return plain.Attr(groups, attr)
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
	a.write(ctx, "create", s, who, slog.String("to", s.To), slog.Any("parts", s.Parts), slog.Time("expires", s.Expires),
		slog.String("note", s.Note))
}

func (a *audit) revoked(ctx context.Context, s *Share, who Who) { a.write(ctx, "revoke", s, who) }

func (a *audit) expired(ctx context.Context, s *Share) { a.write(ctx, "expire", s, Who{}) }

func (a *audit) dropped(ctx context.Context, s *Share) { a.write(ctx, "drop", s, Who{}) }

// opened is told within the quota of the share, so that nothing that happens elsewhere
// hides it.
func (a *audit) opened(ctx context.Context, of *quota, s *Share, who Who) {
	a.ofGuest(ctx, of, "open", s, who)
}

func (a *audit) refused(ctx context.Context, who Who) {
	a.ofGuest(ctx, a.refuses, "refuse", nil, who)
}

// ofGuest writes what anybody could have written at any rate.
func (a *audit) ofGuest(ctx context.Context, of *quota, event string, s *Share, who Who) {
	if !of.pace.Allow() {
		of.leftOut.Add(1)
		return
	}
	var more []slog.Attr
	if n := of.leftOut.Swap(0); n > 0 {
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
