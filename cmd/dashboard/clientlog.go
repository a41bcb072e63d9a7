package main

import (
	"context"
	"errors"
	"log/slog"
)

// clientLog is the log handler of client-go. A request that was canceled, because its own client has disconnected, is
// not an error: its record is lowered to debug level.
type clientLog struct{ slog.Handler }

// Handle passes the record on, with the level that it should have.
func (c clientLog) Handle(ctx context.Context, record slog.Record) error {
	record.Attrs(func(attr slog.Attr) bool {
		if err, ok := attr.Value.Any().(error); ok && errors.Is(err, context.Canceled) {
			record.Level = slog.LevelDebug
		}
		return true
	})
	if !c.Enabled(ctx, record.Level) {
		return nil
	}
	return c.Handler.Handle(ctx, record)
}

// WithAttrs returns a handler whose records have the attributes.
func (c clientLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return clientLog{c.Handler.WithAttrs(attrs)}
}

// WithGroup returns a handler whose records are in the group.
func (c clientLog) WithGroup(name string) slog.Handler { return clientLog{c.Handler.WithGroup(name)} }
