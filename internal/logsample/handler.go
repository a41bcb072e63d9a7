// Package logsample limits how often the same warning or error is logged.
//
// Records are of the same kind if they have the same line of code, level, message, route and resource. In each
// minute, the first 10 records of a kind are logged, and the others are counted. One record then reports their
// number. Records below slog.LevelWarn are always logged.
package logsample

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
)

const (
	// Period is the duration after which the counts of logged records start again at zero.
	Period = time.Minute
	// MaxPerPeriod is the maximum number of records of one kind that are logged in a period.
	MaxPerPeriod = 10
	maxKinds     = 500
)

// kind identifies records that are counted together. After maxKinds kinds, all further kinds share the zero value.
type kind struct {
	pc      uintptr
	level   slog.Level
	message string
	labels  string
}

type count struct {
	seen    int
	handler slog.Handler // handler of the newest record; logs the number of suppressed records
	attrs   []slog.Attr
}

type counts struct {
	mu  sync.Mutex
	all map[kind]*count
}

// Handler passes records to another handler, except records that repeat too often.
type Handler struct {
	next   slog.Handler
	labels string
	counts *counts
}

// New returns a Handler that passes records to next.
func New(next slog.Handler) *Handler {
	return &Handler{next: next, counts: &counts{all: make(map[kind]*count)}}
}

// Run logs the numbers of suppressed records at the end of each period, and once more when ctx ends.
func (h *Handler) Run(ctx context.Context) error {
	ticker := time.NewTicker(Period)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			h.Flush(ctx)
		case <-ctx.Done():
			h.Flush(ctx)
			return nil
		}
	}
}

// Flush ends the current period, and logs the numbers of suppressed records.
func (h *Handler) Flush(ctx context.Context) {
	h.counts.mu.Lock()
	ended := h.counts.all
	h.counts.all = make(map[kind]*count)
	h.counts.mu.Unlock()
	for k, c := range ended {
		if c.seen <= MaxPerPeriod {
			continue
		}
		message := k.message
		if k == (kind{}) {
			message = "repeated log records of many kinds were suppressed"
			k.level = slog.LevelWarn
		}
		record := slog.NewRecord(time.Now(), k.level, message, k.pc)
		record.AddAttrs(c.attrs...)
		record.AddAttrs(slog.Int("suppressed", c.seen-MaxPerPeriod))
		_ = c.handler.Handle(ctx, record)
	}
}

// Enabled reports whether the next handler accepts records of this level.
func (h *Handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

// Handle passes a record to the next handler. After MaxPerPeriod warnings or errors of one kind, Handle only counts the
// further ones.
func (h *Handler) Handle(ctx context.Context, record slog.Record) error {
	if record.Level >= slog.LevelWarn && h.suppresses(&record) {
		return nil
	}
	return h.next.Handle(ctx, record)
}

// WithAttrs returns a Handler that adds attrs to each record.
func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	var labels strings.Builder
	labels.WriteString(h.labels)
	for _, attr := range attrs {
		labels.WriteString(label(attr))
	}
	return &Handler{h.next.WithAttrs(attrs), labels.String(), h.counts}
}

// WithGroup returns a Handler that puts the attributes of each record in a group.
func (h *Handler) WithGroup(name string) slog.Handler {
	return &Handler{h.next.WithGroup(name), h.labels, h.counts}
}

func (h *Handler) suppresses(record *slog.Record) bool {
	key := kind{record.PC, record.Level, record.Message, h.labels}
	var attrs []slog.Attr
	record.Attrs(func(attr slog.Attr) bool {
		if text := label(attr); text != "" {
			key.labels += text
			attrs = append(attrs, attr)
		}
		return true
	})
	h.counts.mu.Lock()
	defer h.counts.mu.Unlock()
	c := h.counts.all[key]
	if c == nil && len(h.counts.all) >= maxKinds {
		key, attrs = kind{}, nil
		c = h.counts.all[key]
	}
	if c == nil {
		c = &count{attrs: attrs}
		h.counts.all[key] = c
	}
	c.seen++
	c.handler = h.next
	return c.seen > MaxPerPeriod
}

func label(attr slog.Attr) string {
	if attr.Key != "route" && attr.Key != "resource" {
		return ""
	}
	return attr.Key + "=" + attr.Value.String() + "\n"
}
