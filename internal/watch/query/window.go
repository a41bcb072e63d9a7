package query

import (
	"sync/atomic"
	"time"

	"glasshouse/internal/watch/status"
)

const (
	// MaxWindow is the maximum number of rows in a window (the range of rows that a page shows).
	MaxWindow = 1000
	// maxOffset is the maximum offset of the first row in a window.
	maxOffset = 1 << 30
)

// A Window is the range of a sorted list of rows that a web page shows. Any goroutine can move it at any time, but
// only one Subscription can use it.
type Window struct {
	order     string
	requested atomic.Pointer[RangeRequest]
	wakeups   chan time.Time
}

// Range is a range of rows in a sorted list.
type Range struct{ Offset, Count int }

// RangeRequest is a request for a range of rows. Requests are compared by address, because each call of Window.Move
// is a new request, even for the same range.
type RangeRequest struct {
	Range

	Around string // The journal key of a row: if the row exists, it is in the middle of the range. May be empty.
}

// NewWindow returns a window of count rows, beginning with the row at offset. sort is the name of a column in lower
// case, or "namespace". A "-" before the name reverses the order. If sort is empty, rows are ordered by namespace and
// name.
func NewWindow(sort string, offset, count int) (*Window, error) {
	w := &Window{order: sort, wakeups: make(chan time.Time, 1)}
	return w, w.Move(offset, count, "", "")
}

// Move requests a range of rows. The Subscription then sends all rows of the range, even if the range is the same as
// before. After several calls of Move, the Subscription sends only the newest range.
//
// If name is set and the object's row exists, the range is centered on that row, and offset is ignored. Move returns
// a Problem if offset or count is too large or negative.
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

// ReplaceRequest replaces the newest request for a range, if that is still the expected request. It returns false if
// there is a newer request, because the window was moved.
func (w *Window) ReplaceRequest(expected, replacement *RangeRequest) bool {
	return w.requested.CompareAndSwap(expected, replacement)
}

// Wake sends a value to the channel of WakeSignals, unless one is pending.
func (w *Window) Wake() {
	select {
	case w.wakeups <- time.Now():
	default:
	}
}

// WakeSignals returns a channel that receives a value when the window is moved, or after a call of Wake.
func (w *Window) WakeSignals() <-chan time.Time { return w.wakeups }
