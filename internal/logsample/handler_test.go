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

	"glasshouse/internal/logsample"
)

// lines is a log that may be written to and read at the same time.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// take returns what was logged since the last call.
func (l *lines) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.text.Reset()
	return l.text.String()
}

// sampled runs a logger until the returned function is called, which waits for its end.
func sampled(t *testing.T) (log *slog.Logger, out *lines, stop func()) {
	t.Helper()
	out = &lines{}
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

// want compares how often some words occur in a text.
func want(t *testing.T, what, text string, counts map[string]int) {
	t.Helper()
	for word, n := range counts {
		if got := strings.Count(text, word); got != n {
			t.Errorf("%s: %q is there %d times, want %d: %.600s", what, word, got, n, text)
		}
	}
}

func fail(log *slog.Logger, route string) {
	log.Error("request failed", "route", route, "error", errors.New("boom"))
}

// For repeated errors, the first ten in each minute are logged, and then the number of the others. Other calls,
// messages and routes are counted separately.
func TestRepeatedErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, out, stop := sampled(t)
		for range 133 {
			fail(log, "/r")
		}
		fail(log, "/o")
		log.Error("request failed", "route", "/r") // Another call.
		want(t, "at once", out.take(), map[string]int{"\n": 12, "suppressed": 0})
		<-time.After(logsample.Period)
		synctest.Wait()
		want(
			t, "after a minute", out.take(),
			map[string]int{"\n": 1, `level=ERROR msg="request failed" route=/r suppressed=123`: 1},
		)
		<-time.After(logsample.Period)
		synctest.Wait()
		want(t, "after two", out.take(), map[string]int{"\n": 0})
		for range 11 {
			fail(log, "/r")
		}
		want(t, "in another minute", out.take(), map[string]int{"\n": 10})
		stop()
		want(t, "at the end", out.take(), map[string]int{"\n": 1, "suppressed=1\n": 1})
	})
}

// A derived logger counts together with its parent. The record with the number has the attributes of the derived
// logger. A resource is counted separately.
func TestDerivedLoggers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, out, stop := sampled(t)
		for n := range 12 {
			for _, resource := range []string{"pods", "nodes"} {
				fail(log.With("resource", resource, "try", n).WithGroup("g"), "/r")
			}
		}
		stop()
		want(t, "in all", out.take(), map[string]int{"resource=pods": 11, "resource=nodes": 11, "g.suppressed=2": 2})
	})
}

// Records below warn always pass.
func TestInformationPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, out, stop := sampled(t)
		for range 100 {
			log.Info("opened")
			log.Debug("client disconnected")
		}
		stop()
		want(t, "in all", out.take(), map[string]int{"opened": 100, "disconnected": 100, "suppressed": 0})
	})
}

// The number of kinds that are counted is bounded, and each record is either logged or counted.
func TestKindsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, out, stop := sampled(t)
		const kinds = 2000
		var group sync.WaitGroup
		for n := range kinds {
			group.Go(func() { fail(log, fmt.Sprint("/", n)) })
		}
		group.Wait()
		logged := strings.Count(out.take(), "\n")
		stop()
		summary := out.take()
		want(
			t, "at the end", summary,
			map[string]int{
				"\n": 1, "records of many kinds were suppressed": 1,
				fmt.Sprintf("suppressed=%d\n", kinds-logged): 1,
			},
		)
		if logged < 500 || logged > 520 {
			t.Errorf("%d of %d records were logged", logged, kinds)
		}
	})
}
