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

// guestsEvery is the minimum time between two audit lines that requests without a login cause, after guestsBurst lines
// at once. The limit applies to each opened share, and to all refused requests together.
const guestsEvery, guestsBurst = time.Minute, 1000

// quota limits the audit lines that requests without a login cause. The next line reports how many were left out.
type quota struct {
	pace    *rate.Limiter
	leftOut atomic.Int64
}

func newQuota() *quota { return &quota{pace: rate.NewLimiter(rate.Every(guestsEvery), guestsBurst)} }

// Who is the sender of a request about shares.
type Who struct {
	User *watch.User // Nil without a login.
	From string      // The client address.
}

// audit logs each action on shares, with its user and time. It writes one line to the log. If there is a directory, it
// also writes one line of JSON to the audit log. No line contains a token, or a value derived from one.
type audit struct {
	logs    []*slog.Logger
	file    io.Closer // Nil without a directory.
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

// onlyWhen removes the level and the message from a line, because they are the same in all lines. It keeps the time,
// and makes the other values plain text.
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

// opened logs the opening of a share, within the quota of that share. Lines about other shares therefore cannot
// suppress it.
func (a *audit) opened(ctx context.Context, of *quota, s *Share, who Who) {
	a.ofGuest(ctx, of, "open", s, who)
}

func (a *audit) refused(ctx context.Context, who Who) {
	a.ofGuest(ctx, a.refuses, "refuse", nil, who)
}

// ofGuest logs an event that any client can cause at any rate. It logs nothing if the quota is used up.
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

// nameOf returns the name of a user, or an empty string for the program.
func nameOf(user *watch.User) string {
	if user == nil {
		return ""
	}
	return user.Name
}
