package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/glasshouse-project/glasshouse/internal/livetest"
	"github.com/glasshouse-project/glasshouse/test/faults/viewer"
)

// tolerance is the number of goroutines or sockets that the measurement itself and a reopened watch can add.
const tolerance = 3

// Unsubscribing or disconnecting while a subscription starts leaks no goroutines or sockets. Other viewers still have
// the correct rows.
//
// Invariant: I45.
func TestSubscribeRacesLeakNothing(t *testing.T) {
	w := open(t, options{})
	check(t, w.Apply(t.Context(), w.namespace, "it", "1"))
	watching := w.startViewers(1, w.rows())
	waitForState(t, 20*time.Second, "live", watching...)
	stop := w.churn(100)
	race(t, w, 1) // Let the program do one-time work before the measurement.
	sleep(500 * time.Millisecond)
	sockets, goroutines := must(w.program.Sockets(t.Context()))(t), must(w.program.Goroutines(t.Context()))(t)
	var races sync.WaitGroup
	for i := range 20 {
		races.Go(func() { race(t, w, i) })
	}
	races.Wait()
	// Check for only 5 s, because later, failed heartbeats would end leaked subscriptions and hide the leak.
	elapsed, err := poll(5*time.Second, func() error {
		files, now := must(w.program.Sockets(t.Context()))(t), must(w.program.Goroutines(t.Context()))(t)
		if files > sockets+tolerance || now > goroutines+tolerance {
			return fmt.Errorf("got %d sockets and %d goroutines, before %d and %d", files, now, sockets, goroutines)
		}
		return nil
	})
	if err != nil {
		t.Errorf("sockets or goroutines leaked: %v\n%s", err, must(w.program.Stacks(t.Context()))(t))
	}
	t.Logf("%d goroutines before, %d after %v", goroutines, must(w.program.Goroutines(t.Context()))(t), elapsed)
	races.Go(func() { race(t, w, 20) })
	for range 10 {
		watching = append(watching, w.startViewers(1, w.rows())...)
		sleep(20 * time.Millisecond)
	}
	races.Wait()
	watching = append(watching, w.startViewers(1, w.rows())...)
	stop()
	t.Logf("converged after %v", w.converges(10*time.Second, watching...))
	checkNoFaults(t, watching...)
}

// race starts 50 subscriptions without waiting, ends most of them, and cuts the connection.
func race(t *testing.T, w *testbed, seed int) {
	t.Helper()
	random := rand.New(rand.NewPCG(uint64(seed), 1)) //nolint:gosec // A fixed seed makes the test reproducible.
	conn, err := livetest.Dial(t.Context(), w.url, livetest.Options{})
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var reading sync.WaitGroup
	reading.Go(func() {
		for err := error(nil); err == nil; {
			_, err = conn.ReadFrame(ctx)
		}
	})
	defer reading.Wait()
	defer cancel()
	send := func(frame string) {
		if err := conn.Write(ctx, frame); err != nil {
			t.Errorf("send: %v", err)
		}
	}
	for id := 1; id <= 50; id++ {
		frame := fmt.Sprintf(`{"op":"subscribe","id":%d,"resource":%q,"ns":[%q]}`, id, configMaps, w.namespace)
		if random.IntN(2) == 0 {
			frame = fmt.Sprintf(
				`{"op":"subscribe","id":%d,"resource":%q,"ns":[%q],"name":"it","view":"object"}`, id, configMaps,
				w.namespace,
			)
		}
		send(frame)
		if random.IntN(3) == 0 {
			sleep(time.Duration(random.IntN(3)) * time.Millisecond)
		}
		if random.IntN(5) > 0 {
			send(fmt.Sprintf(`{"op":"unsubscribe","id":%d}`, id))
		}
	}
}

// The close frame contains a delay for reconnecting. The program exits within 10 s of SIGTERM.
//
// Invariant: I45.
func TestStopWithThousandClients(t *testing.T) {
	w := open(t, options{})
	check(t, w.Apply(t.Context(), w.namespace, "it", "1"))
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	viewers := make([]*viewer.Viewer, 1000)
	for i := range viewers {
		viewers[i] = viewer.New(w.url, w.rows())
		running.Go(func() { viewers[i].Connect(ctx) })
	}
	t.Cleanup(func() { cancel(); running.Wait() })
	waitForState(t, 30*time.Second, "live", viewers...)
	stop := w.churn(20)
	sleep(time.Second) // By then, the program is sending changes.
	for range 20 {
		openUnread(t, w, fmt.Sprintf(`{"op":"subscribe","id":1,"resource":%q,"ns":[%q]}`, configMaps, w.namespace))
	}
	start := time.Now()
	if err := w.program.Stop(10 * time.Second); err != nil {
		t.Errorf("the program ended with error %v", err)
	}
	t.Logf("the program stopped after %v", time.Since(start))
	stop()
	running.Wait()
	reasons := make(map[string]int)
	for i, v := range viewers {
		closeError, ok := v.Closed()
		if !ok || closeError.Code != websocket.StatusGoingAway {
			t.Fatalf("viewer %d: connection ended with error %v, want 1001", i, closeError)
		}
		var milliseconds int
		if n, _ := fmt.Sscanf(closeError.Reason, "retry after %d ms:", &milliseconds); n != 1 {
			t.Fatalf("viewer %d: close reason without a retry delay: %q", i, closeError.Reason)
		}
		reasons[closeError.Reason]++
	}
	if len(reasons) < len(viewers)/4 {
		t.Errorf("got only %d different retry delays for a thousand viewers, want at least a quarter", len(reasons))
	}
	if sum := checkNoFaults(t, viewers...); sum.Events == 0 {
		t.Error("got no events before the stop, so the test is not valid")
	}
}
