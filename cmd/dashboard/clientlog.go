package main

import (
	"context"
	"errors"
	"log/slog"
)

// clientLog lowers the level of client-go's log records about requests that this program interrupted. Such a request is
// no error: either the browser that needed it has disconnected (level debug), or a time limit of this program has
// expired (level warning). The caller returns an error to the viewer in both cases.
type clientLog struct{ slog.Handler }

// Handle passes a record to the wrapped handler. It first lowers the level of a record about an interrupted request.
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
