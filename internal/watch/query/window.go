package query

import (
	"sync/atomic"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

const (
	// MaxWindow is the maximum number of rows in a window (the range of rows that a page shows).
	MaxWindow = 1000
	// maxOffset is the maximum offset of the first row in a window.
	maxOffset = 1 << 30
)

// A Window is the range of rows that a page shows. It belongs to one Subscription. Any goroutine can call Move.
type Window struct {
	order     string
	requested atomic.Pointer[RangeRequest]
	wakeups   chan time.Time
}

// Range is a range of rows in a sorted list.
type Range struct{ Offset, Count int }

// RangeRequest is a request for a range of rows. Requests are compared by address, because each Move is a new request,
// even for the same range.
type RangeRequest struct {
	Range

	Around string // The journal key of an object. If it has a row, the range is centered on this row. Can be empty.
}

// NewWindow returns a window of count rows from the row at offset. sort is a column name, "namespace", "severity" or
// "auto" (see ranking.ParseSort). A "-" before it reverses the order. If sort is empty, rows are ordered by namespace
// and name.
func NewWindow(sort string, offset, count int) (*Window, error) {
	w := &Window{order: sort, wakeups: make(chan time.Time, 1)}
	return w, w.Move(offset, count, "", "")
}

// Move requests a range of rows, which the Subscription then sends completely. If the named object has a row, the
// range is centered on it, and offset is ignored.
func (w *Window) Move(offset, count int, namespace, name string) error {
	if offset < 0 || offset > maxOffset || count < 1 || count > MaxWindow {
		return status.Invalidf("Invalid window",
			"The range has offset %d and count %d, but offset must be from 0 to %d, and count from 1 to %d.",
			offset, count, maxOffset, MaxWindow)
	}
	request := &RangeRequest{Range: Range{offset, count}}
	if name != "" {
		request.Around = namespace + "/" + name
	}
	w.requested.Store(request)
	w.Wake()
	return nil
}

// Sort returns the sort order of the window: the parameter sort of NewWindow.
func (w *Window) Sort() string { return w.order }

// Request returns the newest request for a range.
func (w *Window) Request() *RangeRequest { return w.requested.Load() }

// ReplaceRequest sets the request of the window to replacement, but only if the current request is still expected.
// If the window was moved and has a newer request, ReplaceRequest changes nothing and returns false.
func (w *Window) ReplaceRequest(expected, replacement *RangeRequest) bool {
	return w.requested.CompareAndSwap(expected, replacement)
}

// Wake makes the receiver of WakeSignals stop waiting. If an earlier signal is still pending, Wake does nothing.
func (w *Window) Wake() {
	select {
	case w.wakeups <- time.Now():
	default:
	}
}

// WakeSignals returns a channel that receives a value when the window is moved, or after a call of Wake.
func (w *Window) WakeSignals() <-chan time.Time { return w.wakeups }
