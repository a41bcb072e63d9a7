package main

import (
	"context"
	"errors"
	"log/slog"
)

// clientLog lowers the level of requests of client-go that this program interrupted. They are not errors of client-go:
// either the browser that needed them has disconnected (debug), or a time limit of this program has expired (warning).
// The caller returns an error to the viewer in both cases.
type clientLog struct{ slog.Handler }

// Handle passes a record to the wrapped handler. If the record is about an interrupted request, it lowers its level.
func (c clientLog) Handle(ctx context.Context, record slog.Record) error {
	record.Attrs(func(attr slog.Attr) bool {
		switch err, _ := attr.Value.Any().(error); {
		case errors.Is(err, context.Canceled):
			record.Level = min(record.Level, slog.LevelDebug)
		case errors.Is(err, context.DeadlineExceeded):
			record.Level = min(record.Level, slog.LevelWarn)
		}
		return true
	})
	if !c.Enabled(ctx, record.Level) {
		return nil
	}
	return c.Handler.Handle(ctx, record)
}

func (c clientLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return clientLog{c.Handler.WithAttrs(attrs)}
}

func (c clientLog) WithGroup(name string) slog.Handler { return clientLog{c.Handler.WithGroup(name)} }
