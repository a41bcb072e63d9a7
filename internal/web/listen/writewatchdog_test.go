package listen

import (
	"testing"
	"testing/synctest"
	"time"
)

// A write is aborted exactly after WriteTimeout, regardless of earlier writes and idle times.
//
// Invariant: I7.
func TestWriteWatchdogEndsLateWrites(t *testing.T) {
	for name, elapsed := range map[string]time.Duration{
		"first write": 0, "after other writes": 25 * time.Second, "after a pause": time.Minute,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				aborted := make(chan time.Time, 1)
				l := WriteWatchdog{abort: func() { aborted <- time.Now() }}
				for began := time.Now(); time.Since(began) < min(elapsed, 30*time.Second); {
					l.Begin()
					<-time.After(WriteTimeout - time.Second)
					l.End()
				}
				if elapsed > 30*time.Second {
					<-time.After(elapsed)
				}
				if len(aborted) > 0 {
					t.Fatal("connection was aborted although no write was late")
				}
				began := time.Now()
				l.Begin()
				if after := (<-aborted).Sub(began); after != WriteTimeout {
					t.Errorf("connection was aborted after %s, want %s", after, WriteTimeout)
				}
				l.End()
				l.Stop()
			})
		})
	}
}

// Invariant: I7.
func TestStoppedWriteWatchdogAbortsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := WriteWatchdog{abort: func() { t.Error("connection was aborted after the watchdog was stopped") }}
		l.Begin()
		l.Stop()
		<-time.After(2 * WriteTimeout)
	})
}
