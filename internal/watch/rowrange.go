package watch

import (
	"sync/atomic"
	"time"

	"glasshouse/internal/watch/status"
)

const (
	// maxWindow is the maximum number of rows in a window.
	maxWindow = 1000
	// maxOffset is the maximum offset of a window's first row.
	maxOffset = 1 << 30
)

// A Window is the range of a sorted list of rows that a web page shows, for the view Windowed. Any goroutine can move
// it at any time. Only one Subscription can use it.
type Window struct {
	order     string
	requested atomic.Pointer[rangeRequest]
	wakeups   chan time.Time
}

// rowRange is a range of rows in a sorted list.
type rowRange struct{ offset, count int }

// rangeRequest is a request for a range of rows. Requests are compared by address.
type rangeRequest struct {
	rowRange

	around string // The journal key of the row in the middle of the range, if it exists; else empty.
}

// NewWindow returns a window of count rows, beginning at offset. sort is the name of a column in lower case, or
// "namespace". A "-" before the name reverses the order. If sort is empty, rows are ordered by namespace and name.
func NewWindow(sort string, offset, count int) (*Window, error) {
	w := &Window{order: sort, wakeups: make(chan time.Time, 1)}
	return w, w.Move(offset, count, "", "")
}

// Move requests a range of rows. The Subscription then sends all rows of the range, even if the range is the same as
// before. After several calls of Move, it sends only the newest range.
//
// If name is set and the object's row exists, the range is centered on that row, and offset is ignored. Move returns
// a Problem if offset or count is out of range.
func (w *Window) Move(offset, count int, namespace, name string) error {
	if offset < 0 || offset > maxOffset || count < 1 || count > maxWindow {
		return status.Invalidf("Invalid window",
			"offset is %d and count %d; offset must be from 0 to %d, and count from 1 to %d.",
			offset, count, maxOffset, maxWindow)
	}
	request := &rangeRequest{rowRange: rowRange{offset, count}}
	if name != "" {
		request.around = namespace + "/" + name
	}
	w.requested.Store(request)
	w.wake()
	return nil
}

// sortBy returns the argument sort of NewWindow.
func (w *Window) sortBy() string { return w.order }

// request returns the newest request.
func (w *Window) request() *rangeRequest { return w.requested.Load() }

// replaceRequest replaces the request before by the request after. It reports false if before is not the newest request
// any more, because the window was moved.
func (w *Window) replaceRequest(before, after *rangeRequest) bool {
	return w.requested.CompareAndSwap(before, after)
}

// wake sends a value to wakeSignals, unless one is pending.
func (w *Window) wake() {
	select {
	case w.wakeups <- time.Now():
	default:
	}
}

// wakeSignals returns a channel that receives a value when the window is moved, or after a call of wake.
func (w *Window) wakeSignals() <-chan time.Time { return w.wakeups }
