package main

import (
	"context"
	"errors"
	"log/slog"
)

// clientLog logs canceled requests of client-go at debug level. They are not errors: the browser that needed them has
// disconnected.
type clientLog struct{ slog.Handler }

// Handle passes a record to the wrapped handler. If the record is about a canceled request, its level becomes debug.
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

func (c clientLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return clientLog{c.Handler.WithAttrs(attrs)}
}

func (c clientLog) WithGroup(name string) slog.Handler { return clientLog{c.Handler.WithGroup(name)} }
