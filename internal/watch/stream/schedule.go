package stream

import (
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/query"
)

// schedule has the times at which a reader acts even if nothing changes. A zero time means never.
type schedule struct {
	recheckAt    time.Time // Next returns at this time, so that its caller can recheck permissions.
	waitingSince time.Time // When the wait for the next message started. The wait lasts at most Heartbeat.
	digestAt     time.Time // When the next digest (a hash of the rows) is due.
	summaryAt    time.Time // When to send a message that only summarizes the changes in a sorted list.

	timer   *time.Timer
	wakeups <-chan time.Time // Ends a wait for changes: the timer has fired, or the client has moved its window.
}

func newSchedule(w *query.Window) schedule {
	if w != nil {
		return schedule{timer: time.AfterFunc(Heartbeat, w.Wake), wakeups: w.WakeSignals()}
	}
	timer := time.NewTimer(Heartbeat)
	return schedule{timer: timer, wakeups: timer.C}
}

// start starts the timer once per message. It returns the channel that ends the wait for changes.
func (s *schedule) start() <-chan time.Time {
	if s.waitingSince.IsZero() {
		s.waitingSince = time.Now()
		s.reset()
	}
	return s.wakeups
}

// reset sets the timer to the earliest time of the schedule. It ignores a digest or summary that is already due.
func (s *schedule) reset() {
	delay := Heartbeat - time.Since(s.waitingSince)
	for _, at := range []time.Time{s.digestAt, s.summaryAt} {
		if due := time.Until(at); due > 0 {
			delay = min(delay, due)
		}
	}
	if !s.recheckAt.IsZero() {
		delay = min(delay, time.Until(s.recheckAt))
	}
	s.timer.Reset(max(0, delay))
}

func (s *schedule) isHeartbeatDue() bool {
	return !s.waitingSince.IsZero() && time.Since(s.waitingSince) >= Heartbeat
}

// isAnyDue reports whether one of the times of the schedule has been reached.
func (s *schedule) isAnyDue() bool {
	return s.isHeartbeatDue() || isDue(s.recheckAt) || isDue(s.digestAt) || isDue(s.summaryAt)
}

func isDue(at time.Time) bool { return !at.IsZero() && !time.Now().Before(at) }
