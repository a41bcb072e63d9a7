package listen

import (
	"testing"
	"testing/synctest"
	"time"
)

// A write that takes longer than WriteTimeout is aborted exactly at the limit, regardless of earlier writes. Shorter
// writes and idle times do not abort the connection.
//
// Invariant: I7.
func TestWriteWatchdogEndsLateWrites(t *testing.T) {
	for name, elapsed := range map[string]time.Duration{
		"the first": 0, "behind others": 25 * time.Second, "behind silence": time.Minute,
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
					t.Fatal("cut while no write was late")
				}
				began := time.Now()
				l.Begin()
				if after := (<-aborted).Sub(began); after != WriteTimeout {
					t.Errorf("cut after %s, want %s", after, WriteTimeout)
				}
				l.End()
				l.Stop()
			})
		})
	}
}

// Invariant: I7.
func TestWriteWatchdogStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := WriteWatchdog{abort: func() { t.Error("cut when it had been stopped") }}
		l.Begin()
		l.Stop()
		<-time.After(2 * WriteTimeout)
	})
}
