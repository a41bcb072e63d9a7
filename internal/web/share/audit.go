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

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"

	"golang.org/x/time/rate"

	"github.com/glasshouse-project/glasshouse/internal/sanitize"
)

// Limits of audit log lines for each share link, and for all invalid tokens together: a burst, then one per interval.
const guestLineInterval, guestLineBurst = time.Minute, 1000

// lineLimit limits the rate of audit log lines. The next line reports how many were suppressed.
type lineLimit struct {
	limiter    *rate.Limiter
	suppressed atomic.Int64
}

func newLineLimit() *lineLimit {
	return &lineLimit{limiter: rate.NewLimiter(rate.Every(guestLineInterval), guestLineBurst)}
}

// Actor is the client that creates, opens or revokes a share link.
type Actor struct {
	User    *authz.User // Nil without a login.
	Address string
}

// audit logs each action on share links. No line contains a token, or a value that is derived from one.
type audit struct {
	logs         []*slog.Logger
	file         io.Closer
	refusedLimit *lineLimit
}

func newAudit(dir string, log *slog.Logger) (*audit, error) {
	a := &audit{logs: []*slog.Logger{log}, refusedLimit: newLineLimit()}
	if dir == "" {
		return a, nil
	}
	file, err := openAuditFile(dir, log)
	if err != nil {
		return nil, err
	}
	a.file = file
	a.logs = append(a.logs, slog.New(slog.NewJSONHandler(file, &slog.HandlerOptions{ReplaceAttr: auditAttr})))
	return a, nil
}

// auditAttr removes the level and message, which are the same in all lines, and sanitizes other values.
func auditAttr(groups []string, attr slog.Attr) slog.Attr {
	if len(groups) == 0 && (attr.Key == slog.LevelKey || attr.Key == slog.MessageKey) {
		return slog.Attr{}
	}
	return sanitize.Attr(groups, attr)
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

func (a *audit) created(ctx context.Context, s *Share, actor Actor) {
	a.write(ctx, "create", s, actor, slog.String("to", s.To), slog.Any("parts", s.Parts), slog.Time("expires", s.Expires),
		slog.String("note", s.Note))
}

func (a *audit) revoked(ctx context.Context, s *Share, actor Actor) { a.write(ctx, "revoke", s, actor) }

func (a *audit) expired(ctx context.Context, s *Share) { a.write(ctx, "expire", s, Actor{}) }

func (a *audit) dropped(ctx context.Context, s *Share) { a.write(ctx, "drop", s, Actor{}) }

// Each share has its own limit for log lines, in the parameter limit. So frequent openings of another link do not
// suppress the line about the share s.
func (a *audit) opened(ctx context.Context, limit *lineLimit, s *Share, actor Actor) {
	a.writeLimited(ctx, limit, "open", s, actor)
}

func (a *audit) refused(ctx context.Context, actor Actor) {
	a.writeLimited(ctx, a.refusedLimit, "refuse", nil, actor)
}

// writeLimited logs an event that any client can cause repeatedly. Above the limit, it only counts the event.
func (a *audit) writeLimited(ctx context.Context, limit *lineLimit, event string, s *Share, actor Actor) {
	if !limit.limiter.Allow() {
		limit.suppressed.Add(1)
		return
	}
	var extra []slog.Attr
	if n := limit.suppressed.Swap(0); n > 0 {
		extra = append(extra, slog.Int64("left_out", n))
	}
	a.write(ctx, event, s, actor, extra...)
}

func (a *audit) write(ctx context.Context, event string, s *Share, actor Actor, extra ...slog.Attr) {
	attrs := []slog.Attr{slog.String("event", event)}
	if s != nil {
		attrs = append(attrs, slog.String("id", s.ID), slog.String("creator", nameOf(s.Creator)))
	}
	if actor.User != nil {
		attrs = append(attrs, slog.String("by", actor.User.Name))
	}
	if actor.Address != "" {
		attrs = append(attrs, slog.String("from", actor.Address))
	}
	for _, log := range a.logs {
		log.LogAttrs(ctx, slog.LevelInfo, "share", append(attrs, extra...)...)
	}
}

func nameOf(user *authz.User) string {
	if user == nil {
		return ""
	}
	return user.Name
}
