package logsample_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/logsample"
)

type logBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logBuffer) drain() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.text.Reset()
	return l.text.String()
}

// newSampledLogger returns a logger. stop ends its Handler, which first logs the last numbers of suppressed records.
func newSampledLogger(t *testing.T) (log *slog.Logger, out *logBuffer, stop func()) {
	t.Helper()
	out = &logBuffer{}
	handler := logsample.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- handler.Run(ctx) }()
	return slog.New(handler), out, func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func checkCounts(t *testing.T, label, text string, counts map[string]int) {
	t.Helper()
	for word, n := range counts {
		if got := strings.Count(text, word); got != n {
			t.Errorf("%s: got %q %d times, want %d: %.600s", label, word, got, n, text)
		}
	}
}

func logFailure(log *slog.Logger, route string) {
	log.Error("request failed", "route", route, "error", errors.New("boom"))
}

// In each minute, the first ten records of a repeated error are logged. A later record contains the number of
// suppressed records.
func TestRepeatedErrorsAreSuppressed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, out, stop := newSampledLogger(t)
		for range 133 {
			logFailure(log, "/r")
		}
		logFailure(log, "/o")
		log.Error("request failed", "route", "/r") // a different line of code is counted separately
		checkCounts(t, "immediately", out.drain(), map[string]int{"\n": 12, "suppressed": 0})
		<-time.After(logsample.Period)
		synctest.Wait()
		checkCounts(
			t, "after a minute", out.drain(),
			map[string]int{"\n": 1, `level=ERROR msg="request failed" route=/r suppressed=123`: 1},
		)
		<-time.After(logsample.Period)
		synctest.Wait()
		checkCounts(t, "after two minutes", out.drain(), map[string]int{"\n": 0})
		for range 11 {
			logFailure(log, "/r")
		}
		checkCounts(t, "in a later minute", out.drain(), map[string]int{"\n": 10})
		stop()
		checkCounts(t, "after the handler is closed", out.drain(), map[string]int{"\n": 1, "suppressed=1\n": 1})
	})
}

// Loggers that are derived from one logger share its counts. Each resource is counted separately.
func TestDerivedLoggersShareCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, out, stop := newSampledLogger(t)
		for n := range 12 {
			for _, resource := range []string{"pods", "nodes"} {
				logFailure(log.With("resource", resource, "try", n).WithGroup("g"), "/r")
			}
		}
		stop()
		checkCounts(t, "total", out.drain(), map[string]int{"resource=pods": 11, "resource=nodes": 11, "g.suppressed=2": 2})
	})
}

func TestInfoAndDebugRecordsAreNotSampled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, out, stop := newSampledLogger(t)
		for range 100 {
			log.Info("opened")
			log.Debug("client disconnected")
		}
		stop()
		checkCounts(t, "total", out.drain(), map[string]int{"opened": 100, "disconnected": 100, "suppressed": 0})
	})
}

// After the first maxKinds kinds of records, further kinds are counted together. Each record is either logged or
// counted.
func TestKindsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, out, stop := newSampledLogger(t)
		const kinds = 2000
		var group sync.WaitGroup
		for n := range kinds {
			group.Go(func() { logFailure(log, fmt.Sprint("/", n)) })
		}
		group.Wait()
		logged := strings.Count(out.drain(), "\n")
		stop()
		summary := out.drain()
		checkCounts(
			t, "after the handler is closed", summary,
			map[string]int{
				"\n": 1, "repeated log records of many kinds were suppressed": 1,
				fmt.Sprintf("suppressed=%d\n", kinds-logged): 1,
			},
		)
		if logged < 500 || logged > 520 {
			t.Errorf("got %d of %d records in the log, want 500 to 520", logged, kinds)
		}
	})
}
