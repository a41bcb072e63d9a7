// Package logsample keeps repeated warnings and errors from flooding a log.
//
// In each period the first few records of a kind are logged, and the others are counted. At the end of the period, one
// record reports how many were suppressed, so that nothing is lost without notice. Records are of one kind if the same
// call logs them at the same level. They must also have the same message, and the same values of route and resource.
// Records below slog.LevelWarn always pass. Memory is bounded: after maxKinds kinds in one period, all further kinds
// count as one.
package logsample

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
)

const (
	// Period is the time for which records are counted.
	Period = time.Minute
	// MaxPerPeriod is how many records of a kind are logged in a period.
	MaxPerPeriod = 10
	// maxKinds is how many kinds are counted separately in a period.
	maxKinds = 500
)

// kind identifies records that are counted together. The zero kind has all records beyond maxKinds.
type kind struct {
	pc      uintptr // Program counter of the call that logs.
	level   slog.Level
	message string
	labels  string
}

// count counts the records of a kind in the current period.
type count struct {
	seen    int
	handler slog.Handler // The handler of the latest record.
	attrs   []slog.Attr  // The attributes that are part of the kind.
}

// counts contains the count of each kind. All handlers that are derived from one handler share it.
type counts struct {
	mu  sync.Mutex
	all map[kind]*count
}

// Handler passes records on to another slog.Handler, except those that repeat too often. Run logs how many were
// suppressed.
type Handler struct {
	next   slog.Handler
	labels string // The text of the attributes that WithAttrs has added and that are part of the kind.
	counts *counts
}

// New returns a Handler that passes records on to next.
func New(next slog.Handler) *Handler {
	return &Handler{next: next, counts: &counts{all: make(map[kind]*count)}}
}

// Run logs the numbers of suppressed records at the end of each period, and when ctx ends.
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

// Flush ends the period, and logs the numbers of suppressed records.
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
			message = "records of many kinds were suppressed"
			k.level = slog.LevelWarn
		}
		record := slog.NewRecord(time.Now(), k.level, message, k.pc)
		record.AddAttrs(c.attrs...)
		record.AddAttrs(slog.Int("suppressed", c.seen-MaxPerPeriod))
		_ = c.handler.Handle(ctx, record) // There is nowhere else to log it.
	}
}

// Enabled reports whether the next handler handles records of the level.
func (h *Handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

// Handle passes the record on, or counts it.
func (h *Handler) Handle(ctx context.Context, record slog.Record) error {
	if record.Level >= slog.LevelWarn && h.suppresses(&record) {
		return nil
	}
	return h.next.Handle(ctx, record)
}

// WithAttrs returns a Handler whose records have the attributes.
func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	var labels strings.Builder
	labels.WriteString(h.labels)
	for _, attr := range attrs {
		labels.WriteString(label(attr))
	}
	return &Handler{h.next.WithAttrs(attrs), labels.String(), h.counts}
}

// WithGroup returns a Handler whose records are in the group.
func (h *Handler) WithGroup(name string) slog.Handler {
	return &Handler{h.next.WithGroup(name), h.labels, h.counts}
}

// suppresses counts the record, and reports whether its kind has exceeded First.
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

// label returns the attribute as text if its value is part of the kind, otherwise an empty string.
func label(attr slog.Attr) string {
	if attr.Key != "route" && attr.Key != "resource" {
		return ""
	}
	return attr.Key + "=" + attr.Value.String() + "\n"
}
